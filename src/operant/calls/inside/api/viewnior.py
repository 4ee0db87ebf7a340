"""Viewnior, the picture viewer: show a picture, go to the next one, turn it."""

from __future__ import annotations

import os
import re

from display import TopWindow, XDisplay, wait_until
from opening import open_program
from programs import path_of, shown
from refusal import Refused

WM_CLASS = "Viewnior"
TIME_LIMITS = {"open_picture": 30}
TITLE = re.compile(r"(\*?)(.+) - (\d+)/(\d+) - (\d+)%")
LEFT, RIGHT = 0xFF51, 0xFF53  # keys
DONE_S = 3.0


def open_picture(path: str) -> str:
    """Show a picture."""
    place = path_of(path)
    if not os.path.isfile(place):
        raise Refused("there is no file %s" % shown(place))
    return open_program(["viewnior", place])


def get_info() -> dict[str, object]:
    """Tell which picture is shown, its place among those of the folder, the zoom, and whether it was changed."""
    with XDisplay() as display:
        return _described(_window(display))


def next_picture() -> dict[str, object]:
    """Show the next picture of the folder."""
    return _go(RIGHT)


def previous_picture() -> dict[str, object]:
    """Show the picture before this one in the folder."""
    return _go(LEFT)


def _go(key: int) -> dict[str, object]:
    with XDisplay() as display:
        window = _window(display)
        if _described(window)["pictures"] == 1:
            raise Refused("there is only one picture in the folder")
        display.activate(window.id)
        if not wait_until(lambda: _window(display).focused, DONE_S):
            raise Refused("the picture viewer did not take the focus")
        display.press(key)
        if not wait_until(lambda: _window(display).title != window.title, DONE_S):
            raise Refused("the viewer shows the same picture as before")
        return _described(_window(display))


def _window(display: XDisplay) -> TopWindow:
    found = [one for one in display.windows() if one.wm_class == WM_CLASS]
    if not found:
        raise Refused("viewnior is not running: open_picture starts it")
    dialogs = [one.title for one in found if one.modal]
    if dialogs:
        raise Refused("the dialog %r of viewnior is open: close it first" % dialogs[-1])
    return found[-1]


def _described(window: TopWindow) -> dict[str, object]:
    match = TITLE.fullmatch(window.title)
    if match is None:
        raise Refused("the viewer shows no picture")
    changed, name, index, count, zoom = match.groups()
    return {
        "picture": name,
        "number": int(index),
        "pictures": int(count),
        "zoom": int(zoom),
        "changed": bool(changed),
    }
