"""What a client can change in an X server and leave behind, read in a few round trips to be compared.

A reset keeps the server and the window manager when all of this is as it was at the start, and starts new
ones when it is not. Together with the pixels of the screen this covers keyboard maps and locks, pointer
settings, root properties (desktops, resources, cut buffers), windows that outlive their makers, access
lists, fonts, screen savers and monitors.
"""

from __future__ import annotations

from collections.abc import Mapping

import xcffib.xproto as xproto

from operant.desktop.display import CORE_KEYBOARD, Display

__all__ = ["ServerState", "read_server_state", "remove_strangers"]

ServerState = Mapping[str, object]


def read_server_state(display: Display) -> ServerState:
    """Everything that can be asked, by name."""
    core, root = display.core, display.root
    setup = display.connection.get_setup()
    first, count = setup.min_keycode, setup.max_keycode - setup.min_keycode + 1
    with display.limited():
        asked = {
            "keyboard map": core.GetKeyboardMapping(first, count),
            "modifier map": core.GetModifierMapping(),
            "keyboard control": core.GetKeyboardControl(),
            "keyboard locks": display.xkb.GetState(CORE_KEYBOARD),
            "keyboard features": display.xkb.GetControls(CORE_KEYBOARD),
            "pointer control": core.GetPointerControl(),
            "pointer map": core.GetPointerMapping(),
            "screen saver": core.GetScreenSaver(),
            "access list": core.ListHosts(),
            "font path": core.GetFontPath(),
            "monitors": display.randr.GetMonitors(root, True),
            "root geometry": core.GetGeometry(root),
            "root tree": core.QueryTree(root),
            "root properties": core.ListProperties(root),
        }
        replies = {name: cookie.reply() for name, cookie in asked.items()}
        state: dict[str, object] = {
            name: bytes(_body(reply)) for name, reply in replies.items() if not name.startswith("root ")
        }
        geometry = replies["root geometry"]
        state["root geometry"] = (geometry.width, geometry.height)
        children = list(replies["root tree"].children)
        attributes = [(child, core.GetWindowAttributes(child)) for child in children]
        shown = []
        for child, cookie in attributes:
            try:
                if cookie.reply().map_state != xproto.MapState.Unmapped:
                    shown.append(child)
            except xproto.WindowError:
                continue
        state["shown windows"] = tuple(sorted(shown))
        atoms = list(replies["root properties"].atoms)
        values = [(atom, core.GetProperty(False, root, atom, 0, 0, 4096)) for atom in atoms]
        for atom, cookie in values:
            reply = cookie.reply()
            state[f"root property {atom}"] = (reply.type, reply.value.buf())
    return state


def remove_strangers(display: Display, before: ServerState, now: ServerState) -> None:
    """Delete root properties that were not there before: harmless to delete, and nobody owns them any more."""
    with display.limited():
        for name in now.keys() - before.keys():
            if name.startswith("root property "):
                display.core.DeleteProperty(display.root, int(name.rpartition(" ")[2]))
    display.sync()


def _body(reply: object) -> bytes:
    """A reply's bytes without its sequence number, which is different every time."""
    data: bytes = reply.unpacker.buf if hasattr(reply, "unpacker") else repr(_plain(reply)).encode()  # type: ignore[attr-defined]
    return data


def _plain(value: object) -> object:
    """A reply as nested tuples, leaving out what belongs to the exchange and not to the state."""
    skipped = {"sequence", "unpacker", "bufsize", "conn", "timestamp"}
    if hasattr(value, "__dict__"):
        return tuple(
            (name, _plain(item)) for name, item in sorted(vars(value).items()) if name not in skipped
        )
    if isinstance(value, (list, tuple)):
        return tuple(_plain(item) for item in value)
    return value
