"""The top-level windows of a display, as its window manager lists them."""

from __future__ import annotations

import time

import xcffib.xproto as xproto

from operant.desktop.display import Display
from operant.types import Window

__all__ = ["activate_window", "active_window", "all_windows", "close_window", "list_windows", "place_window",
           "window_manager_answers", "window_manager_name", "window_pid"]  # fmt: skip

ANSWER_STEP_S = 0.001  # between two looks for the window manager's answer
SHELL_TYPES = {"dock": "_NET_WM_WINDOW_TYPE_DOCK", "desktop": "_NET_WM_WINDOW_TYPE_DESKTOP"}
PAGER = 2  # the source of a request that the window manager obeys without second thoughts


def list_windows(display: Display) -> list[Window]:
    """The windows of applications, from the bottom of the stack to the top, in two round trips."""
    return all_windows(display)[0]


def all_windows(display: Display) -> tuple[list[Window], dict[str, Window]]:
    """The windows of applications, and by type those of the desktop itself: panel (``dock``), icons (``desktop``)."""
    names = ("_NET_CLIENT_LIST_STACKING", "_NET_ACTIVE_WINDOW", "_NET_WM_NAME", "WM_NAME", "WM_CLASS",
             "_NET_WM_PID", "_NET_WM_STATE", "_NET_WM_WINDOW_TYPE")  # fmt: skip
    maximized = ("_NET_WM_STATE_MAXIMIZED_HORZ", "_NET_WM_STATE_MAXIMIZED_VERT")
    display.atoms(*names, "_NET_WM_STATE_HIDDEN", *maximized, *SHELL_TYPES.values())
    with display.limited():
        listed, active = (display.ask_property(display.root, name) for name in names[:2])
        identifiers = display.words(listed.reply())
        focused = (display.words(active.reply()) or (0,))[0]
        asked = [
            (
                identifier,
                [display.ask_property(identifier, name) for name in names[2:]],
                display.core.GetGeometry(identifier),
                display.core.TranslateCoordinates(identifier, display.root, 0, 0),
            )
            for identifier in identifiers
        ]
        windows: list[Window] = []
        shell: dict[str, Window] = {}
        kinds = {display.atom(atom): kind for kind, atom in SHELL_TYPES.items()}
        for identifier, properties, geometry, translated in asked:
            try:
                name, old_name, wm_class, pid, state, types = (cookie.reply() for cookie in properties)
                size, place = geometry.reply(), translated.reply()
            except (xproto.WindowError, xproto.DrawableError):
                continue  # closed since it was listed
            states = display.words(state)
            instance, _, kind_of_application = display.text(wm_class).rstrip("\0").rpartition("\0")
            window = Window(
                id=identifier,
                title=display.text(name) or display.text(old_name),
                wm_class=kind_of_application,
                pid=(display.words(pid) or (None,))[0],
                x=place.dst_x,
                y=place.dst_y,
                width=size.width,
                height=size.height,
                focused=identifier == focused,
                minimized=display.atom("_NET_WM_STATE_HIDDEN") in states,
                maximized=all(display.atom(name) in states for name in maximized),
                instance=instance,
            )
            kind = next((kinds[one] for one in display.words(types) if one in kinds), None)
            if kind is None:
                windows.append(window)
            else:
                shell[kind] = window
    return windows, shell


def active_window(display: Display) -> int:
    with display.limited():
        return (display.words(display.ask_property(display.root, "_NET_ACTIVE_WINDOW").reply()) or (0,))[0]


def window_pid(display: Display, window: int) -> int | None:
    """The process behind a window, by its own account."""
    with display.limited():
        try:
            return (display.words(display.ask_property(window, "_NET_WM_PID").reply()) or (None,))[0]
        except xproto.WindowError:
            return None


def place_window(display: Display, window: int, x: int, y: int, width: int, height: int) -> None:
    """Ask the window manager to put a window's client area there; one that was maximized is so no longer."""
    remove = 0
    maximized = [display.atom(f"_NET_WM_STATE_MAXIMIZED_{side}") for side in ("VERT", "HORZ")]
    _ask(display, window, "_NET_WM_STATE", [remove, *maximized, PAGER, 0])
    static_gravity, all_four = 10, 0b1111
    flags = static_gravity | all_four << 8 | PAGER << 12
    _ask(display, window, "_NET_MOVERESIZE_WINDOW", [flags, x, y, width, height])


def activate_window(display: Display, window: int) -> None:
    """Raise a window and give it the focus."""
    _ask(display, window, "_NET_ACTIVE_WINDOW", [PAGER, 0, 0, 0, 0])


def close_window(display: Display, window: int) -> None:
    """Close a window as its close button would."""
    _ask(display, window, "_NET_CLOSE_WINDOW", [0, PAGER, 0, 0, 0])


def _ask(display: Display, window: int, what: str, data: list[int]) -> None:
    message = xproto.ClientMessageEvent.synthetic(
        32, window, display.atom(what), xproto.ClientMessageData.synthetic(data, "I" * 5)
    )
    mask = xproto.EventMask.SubstructureRedirect | xproto.EventMask.SubstructureNotify
    with display.limited():
        display.core.SendEvent(False, display.root, mask, message.pack())
    display.sync()


def window_manager_answers(display: Display, window: int, seconds: float) -> bool:
    """Whether the window manager does what it is asked: here to say what frame it would give that window."""
    answer = "_NET_FRAME_EXTENTS"
    with display.limited():
        display.core.DeleteProperty(window, display.atom(answer))
    _ask(display, window, "_NET_REQUEST_FRAME_EXTENTS", [0] * 5)
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        with display.limited():
            if display.words(display.ask_property(window, answer).reply()):
                return True
        display.wait_events(ANSWER_STEP_S)
    return False


def window_manager_name(display: Display) -> str | None:
    """The name of the window manager that runs, or None: its check window must exist and name itself."""
    check = "_NET_SUPPORTING_WM_CHECK"
    with display.limited():
        window = (display.words(display.ask_property(display.root, check).reply()) or (0,))[0]
        if not window:
            return None
        try:
            own, name = (display.ask_property(window, item) for item in (check, "_NET_WM_NAME"))
            return display.text(name.reply()) if display.words(own.reply()) == (window,) else None
        except xproto.WindowError:
            return None
