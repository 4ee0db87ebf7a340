"""What a client can change in an X server and leave behind, read in a few round trips to be compared.

A reset keeps the server and the window manager when all of this is as it was at the start, and starts new
ones when it is not. Together with the pixels of the screen this covers connections that outlive their
programs, keyboard maps and locks, input devices, pointer settings, root properties (desktops, resources, cut
buffers), windows, access lists, fonts, screen savers, modes and monitors.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import xcffib.randr
import xcffib.res
import xcffib.xinput
import xcffib.xproto as xproto

from operant.desktop.display import ALL_PARTS, CORE_KEYBOARD, Display
from operant.desktop.layout import read_used_keys

__all__ = ["ServerState", "differences", "is_lasting", "read_server_state", "remove_strangers"]

ServerState = Mapping[str, object]

ALL_DEVICES = 0
#: Parts of a keyboard map in which keys that we bind leave traces: symbols, which are compared by themselves,
#: and marks of what was set explicitly.
OURS = 0x02 | 0x08
LONGEST_PROPERTY = 4096  # words of a root property that are compared
#: What the window manager and the server put right by themselves once the programs are gone, given a moment.
PASSING = ("connections", "focus", "pixels", "root ", "shown windows")


def read_server_state(display: Display) -> ServerState:
    """Everything that can be asked, by name."""
    core, root, randr, xkb = display.core, display.root, display.randr, display.xkb
    xinput = display.connection(xcffib.xinput.key)
    with display.limited():
        asked = {
            "access list": core.ListHosts(),
            "focus": core.GetInputFocus(),
            "font path": core.GetFontPath(),
            "keyboard control": core.GetKeyboardControl(),
            "keyboard features": xkb.GetControls(CORE_KEYBOARD),
            "keyboard compatibility": xkb.GetCompatMap(CORE_KEYBOARD, ALL_PARTS, True, 0, 0),
            "keyboard lights": xkb.GetIndicatorMap(CORE_KEYBOARD, 0xFFFFFFFF),
            "keyboard locks": xkb.GetState(CORE_KEYBOARD),
            "keyboard map": xkb.GetMap(CORE_KEYBOARD, ALL_PARTS & ~OURS, *[0] * 16),
            "modes": randr.GetScreenResourcesCurrent(root),
            "modifier map": core.GetModifierMapping(),
            "monitors": randr.GetMonitors(root, True),
            "pointer control": core.GetPointerControl(),
            "pointer map": core.GetPointerMapping(),
            "root attributes": core.GetWindowAttributes(root),
            "root geometry": core.GetGeometry(root),
            "screen saver": core.GetScreenSaver(),
        }
        listed = {
            "devices": xinput.XIQueryDevice(ALL_DEVICES),
            "tree": core.QueryTree(root),
            "properties": core.ListProperties(root),
            "clients": display.connection(xcffib.res.key).QueryClients(),
        }
        state: dict[str, object] = {name: display.raw(cookie) for name, cookie in asked.items()}
        devices = listed["devices"].reply().infos
        # Not the axes, which tell where the pointer is.
        state["devices"] = [(one.deviceid, one.type, one.attachment, one.enabled) for one in devices]
        state["connections"] = tuple(sorted(one.resource_base for one in listed["clients"].reply().clients))
        details: dict[str, Any] = {
            f"properties of device {one.deviceid}": xinput.XIListProperties(one.deviceid) for one in devices
        }
        atoms = list(listed["properties"].reply().atoms)
        for atom in atoms:
            details[f"root property {atom}"] = core.GetProperty(False, root, atom, 0, 0, LONGEST_PROPERTY)
        children = list(listed["tree"].reply().children)
        attributes = [(child, core.GetWindowAttributes(child)) for child in children]
        state |= {name: display.raw(cookie) for name, cookie in details.items()}
        shown = []
        for child, cookie in attributes:
            try:
                if cookie.reply().map_state != xproto.MapState.Unmapped:
                    shown.append(child)
            except xproto.WindowError:
                continue
        state["shown windows"] = tuple(sorted(shown))
        state["keyboard symbols"] = read_used_keys(display)
    return state


def differences(before: ServerState, now: ServerState) -> list[str]:
    return sorted(name for name in before.keys() | now.keys() if before.get(name) != now.get(name))


def is_lasting(difference: str) -> bool:
    """Whether it will not go away by itself."""
    return not difference.startswith(PASSING)


def remove_strangers(display: Display, before: ServerState, now: ServerState) -> None:
    """Delete root properties that were not there before, and connections that outlived their programs."""
    with display.limited():
        for name in now.keys() - before.keys():
            if name.startswith("root property "):
                display.core.DeleteProperty(display.root, int(name.rpartition(" ")[2]))
        for base in set(now["connections"]) - set(before["connections"]):  # type: ignore[call-overload]
            display.core.KillClient(base)
    display.sync()
