"""Windows of a Linux machine, asked for with the programs that OSWorld's images have: xprop and xwininfo."""

from __future__ import annotations

import re
from collections.abc import Mapping

from operant.types import Window

__all__ = ["WINDOWS_SCRIPT", "read_windows"]

_MARK = "window "
#: For a shell: the order of the windows, the active one, and of each its properties and its place.
WINDOWS_SCRIPT = """
xprop -root _NET_CLIENT_LIST_STACKING _NET_ACTIVE_WINDOW
for id in $(xprop -root _NET_CLIENT_LIST_STACKING | grep -o '0x[0-9a-f]*'); do
    echo "window $id"
    xprop -id "$id" _NET_WM_NAME WM_NAME WM_CLASS _NET_WM_PID _NET_WM_STATE _NET_WM_WINDOW_TYPE 2>/dev/null
    xwininfo -id "$id" 2>/dev/null | grep -E 'Absolute|Width|Height'
done
"""
_ACTIVE = re.compile(r"_NET_ACTIVE_WINDOW\(WINDOW\).*?(0x[0-9a-f]+)")
_LINE = re.compile(r"^(\w+)\(\w+\) = (.*?)(?=^\w+\(\w+\)|^\w+:|^ *(?:Absolute|Width|Height)|\Z)", re.M | re.S)
_NUMBER = re.compile(r"(Absolute upper-left [XY]|Width|Height): +(-?\d+)")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"', re.S)
_SHELL = ("_NET_WM_WINDOW_TYPE_DOCK", "_NET_WM_WINDOW_TYPE_DESKTOP")


def read_windows(said: str) -> list[Window]:
    """What the script printed; windows that were closed meanwhile are left out."""
    head, *parts = re.split(rf"^{_MARK}(0x[0-9a-f]+)\n", said, flags=re.M)
    active = _ACTIVE.search(head)
    focused = int(active[1], 16) if active else 0
    windows = []
    for id, text in zip(parts[::2], parts[1::2], strict=True):
        properties = {name: value.strip() for name, value in _LINE.findall(text)}
        place = {name.rpartition(" ")[2]: int(number) for name, number in _NUMBER.findall(text)}
        if place.keys() >= {"X", "Y", "Width", "Height"} and not any(
            kind in properties.get("_NET_WM_WINDOW_TYPE", "") for kind in _SHELL
        ):
            windows.append(_window(int(id, 16), properties, place, focused))
    return windows


def _window(id: int, properties: Mapping[str, str], place: Mapping[str, int], focused: int) -> Window:
    title = _texts(properties.get("_NET_WM_NAME", "")) or _texts(properties.get("WM_NAME", ""))
    classes = _texts(properties.get("WM_CLASS", ""))
    pid, states = properties.get("_NET_WM_PID", ""), properties.get("_NET_WM_STATE", "")
    return Window(
        id=id,
        title=title[0] if title else "",
        wm_class=classes[-1] if classes else "",
        pid=int(pid) if pid.isdigit() else None,
        x=place["X"],
        y=place["Y"],
        width=place["Width"],
        height=place["Height"],
        focused=id == focused,
        minimized="_NET_WM_STATE_HIDDEN" in states,
        maximized="MAXIMIZED_HORZ" in states and "MAXIMIZED_VERT" in states,
        instance=classes[0] if len(classes) > 1 else "",
    )


def _texts(value: str) -> list[str]:
    return [re.sub(r"\\(.)", r"\1", text) for text in _QUOTED.findall(value)]
