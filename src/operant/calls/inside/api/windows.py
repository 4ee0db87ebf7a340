"""Windows of the desktop: open applications, list, focus, move, resize, tile and close windows.

A window is named by its title, a part of it, its application, or its number in ``list_windows``.
"""

from __future__ import annotations

import os
from typing import Literal

import programs
from display import TopWindow, XDisplay, wait_until
from opening import open_program
from refusal import Refused

TIME_LIMITS = {"open_application": 30}
DONE_S = 1.5  # how long the window manager may take


def list_windows() -> list[dict[str, object]]:
    """List the open windows from the bottom of the stack to the top, with place and size in pixels."""
    with XDisplay() as display:
        return [_described(window) for window in display.windows()]


def open_application(application: str, document: str = "") -> str:
    """Start an application by its program's name, such as mousepad, and open a document in it if one is given."""
    if not application or "/" in application or application.startswith("-"):
        raise Refused("%r is not the name of a program" % application)
    argv = [application]
    if document:
        path = programs.path_of(document)
        if not os.path.exists(path):
            raise Refused("there is no file %s" % programs.shown(path))
        argv.append(path)
    return open_program(argv)


def focus(window: str) -> str:
    """Raise a window and give it the keyboard focus."""
    with XDisplay() as display:
        found = _find(display, window)
        display.activate(found.id)
        if not wait_until(lambda: _now(display, found).focused, DONE_S):
            raise Refused(_unmoved(display, found, "did not take the focus"))
        return "the window %r has the focus" % found.title


def move(window: str, x: int, y: int) -> str:
    """Move a window so that its upper left corner, frame included, is at that pixel."""
    with XDisplay() as display:
        found = _find(display, window)
        left, _right, top, _bottom = display.borders(found.id)
        return _placed(display, found, x + left, y + top, found.width, found.height)


def resize(window: str, width: int, height: int) -> str:
    """Give the inside of a window that width and height in pixels."""
    if not (0 < width <= 20000 and 0 < height <= 20000):
        raise Refused("a window can't have %d x %d pixels" % (width, height))
    with XDisplay() as display:
        found = _find(display, window)
        return _placed(display, found, found.x, found.y, width, height)


def minimize(window: str) -> str:
    """Hide a window in the task bar."""
    with XDisplay() as display:
        found = _find(display, window)
        display.minimize(found.id)
        if not wait_until(lambda: _now(display, found).minimized, DONE_S):
            raise Refused(_unmoved(display, found, "can't be minimized"))
        return "the window %r is minimized" % found.title


def maximize(window: str, maximized: bool = True) -> str:
    """Let a window fill the screen, or with maximized=False give it back its former size."""
    with XDisplay() as display:
        found = _find(display, window)
        display.maximize(found.id, maximized)
        display.sync()
        return "the window %r is %s" % (found.title, "maximized" if maximized else "as it was before")


def close(window: str) -> str:
    """Close a window as its close button does. An application may ask first whether to save."""
    with XDisplay() as display:
        found = _find(display, window)
        display.close_window(found.id)
        if not wait_until(lambda: all(one.id != found.id for one in display.windows()), DONE_S):
            raise Refused(_unmoved(display, found, "is still open"))
        return "closed the window %r" % found.title


def tile(layout: Literal["columns", "rows", "grid"] = "columns", windows: list[str] | None = None) -> str:
    """Place windows side by side so that none covers another: all windows that are not minimized, or those named."""
    with XDisplay() as display:
        chosen = [_find(display, one) for one in windows or []]
        chosen = chosen or [one for one in display.windows() if not one.minimized]
        if not chosen:
            raise Refused("there is no window to tile")
        count = len(chosen)
        columns = {"columns": count, "rows": 1}.get(layout) or next(
            n for n in range(1, count + 1) if n * n >= count
        )
        rows = -(-count // columns)
        left, top, width, height = display.work_area()
        for index, one in enumerate(chosen):
            column, row = index % columns, index // columns
            across = columns if row < rows - 1 else count - columns * (rows - 1)
            display.maximize(one.id, False)
            west, east, north, south = display.borders(one.id)
            x, right = left + width * column // across, left + width * (column + 1) // across
            y, bottom = top + height * row // rows, top + height * (row + 1) // rows
            display.place(
                one.id,
                x + west,
                y + north,
                max(1, right - x - west - east),
                max(1, bottom - y - north - south),
            )
        return "tiled %d windows in %s" % (count, layout)


def _described(window: TopWindow) -> dict[str, object]:
    form: dict[str, object] = {
        "window": window.id,
        "title": window.title,
        "application": window.wm_class,
        "box": [window.x, window.y, window.width, window.height],
    }
    for name in ("focused", "minimized", "modal"):
        if getattr(window, name):
            form[name] = True
    return form


def _find(display: XDisplay, wanted: str) -> TopWindow:
    """The window that is meant: by number, title, application or a part of the title; of several the topmost."""
    there = display.windows()[::-1]
    low = wanted.strip().lower()
    if low:
        for fits in (
            lambda one: str(one.id) == low,
            lambda one: one.title.lower() == low,
            lambda one: one.wm_class.lower() == low,
            lambda one: low in one.title.lower(),
        ):
            for one in there:
                if fits(one):
                    return one
    names = ", ".join(repr(one.title) for one in there[:20]) or "none"
    raise Refused("there is no window %r; open windows: %s" % (wanted[:80], names))


def _now(display: XDisplay, window: TopWindow) -> TopWindow:
    for one in display.windows():
        if one.id == window.id:
            return one
    raise Refused("the window %r was closed meanwhile" % window.title)


def _placed(display: XDisplay, window: TopWindow, x: int, y: int, width: int, height: int) -> str:
    if not (-30000 <= x <= 30000 and -30000 <= y <= 30000):
        raise Refused("(%d, %d) is nowhere near the screen" % (x, y))
    display.maximize(window.id, False)
    display.place(window.id, x, y, width, height)
    wait_until(lambda: _box(_now(display, window)) == (x, y, width, height), 0.3)
    now = _now(display, window)
    return "the inside of the window %r is at (%d, %d) and has %d x %d pixels" % (
        now.title, now.x, now.y, now.width, now.height,
    )  # fmt: skip


def _box(window: TopWindow) -> tuple[int, int, int, int]:
    return (window.x, window.y, window.width, window.height)


def _unmoved(display: XDisplay, window: TopWindow, what: str) -> str:
    dialogs = [one.title for one in display.windows() if one.modal]
    behind = ": the dialog %r is open" % dialogs[-1] if dialogs else ""
    return "the window %r %s%s" % (window.title, what, behind)
