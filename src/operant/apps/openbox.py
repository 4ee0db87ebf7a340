"""How oracles handle windows by their frames: buttons, title bars and corners, and what covers them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal

from operant.apps.view import View
from operant.types import Action, Window

__all__ = [
    "ALT_TAB",
    "BORDER",
    "FOOT",
    "HEAD",
    "Control",
    "at",
    "grow",
    "press",
    "pull",
    "raise_it",
    "topmost",
]

Control = Literal["close", "maximize", "iconify"]
HEAD, BORDER, FOOT = 20, 1, 5  # pixels of the frame above, beside and below the client area
BAR = 10  # from the client area up to the middle of the title bar
#: From the right edge of the client area to the middle of each button of the title bar.
BUTTONS = {"close": 10, "maximize": 26, "iconify": 42}
GRIP = 6  # into the corner that resizes
ASIDE = 300
SHORT = 60  # a drag over fewer pixels may not be taken for one: go away first and come back
ALT_TAB = Action.key("alt", "tab")


def press(view: View, window: Window, which: Control) -> Action:
    """Click a button of the title bar, or what leads there."""
    x, y = window.x + window.width - BUTTONS[which], window.y - BAR
    return Action.click(view.point(x, y)) if at(view, x, y) == window else raise_it(view, window)


def pull(view: View, window: Window, x: int, y: int) -> Action:
    """Drag the title bar so that the client area comes to (x, y)."""
    grip = next(((u, v) for u, v in _bar(window) if at(view, u, v) == window), None)
    if grip is None:
        return raise_it(view, window)
    if 0 < max(abs(x - window.x), abs(y - window.y)) < SHORT:
        x = window.x + (ASIDE if window.x + window.width / 2 < view.size.width / 2 else -ASIDE)
    u, v = grip
    return Action.drag(view.point(u, v), view.point(u + x - window.x, v + y - window.y))


def grow(view: View, window: Window, width: int, height: int) -> Action:
    """Drag the lower right corner so that the client area gets that size."""
    x, y = window.x + window.width - GRIP, window.y + window.height + FOOT // 2
    if at(view, x, y) != window:
        return raise_it(view, window)
    return Action.drag(view.point(x, y), view.point(x + width - window.width, y + height - window.height))


def raise_it(view: View, window: Window) -> Action:
    """Click where the window shows, on its title bar if possible; uncover one that shows nowhere."""
    for u, v in (*_bar(window), *_client(window)):
        if at(view, u, v) == window:
            return Action.click(view.point(u, v))
    cover = at(view, window.x + window.width / 2, window.y - BAR)
    if cover is None or len(view.windows) == 2:
        return ALT_TAB
    # The keyboard goes back and forth between the last two; a third one is found by moving what covers it.
    aside = cover.x + (ASIDE if cover.x + cover.width / 2 < view.size.width / 2 else -ASIDE)
    return pull(view, cover, aside, cover.y)


def at(view: View, x: float, y: float) -> Window | None:
    """Which window is seen there."""
    if not (0 <= x < view.size.width and 0 <= y < view.size.height):
        return None
    for window in reversed(view.windows):
        across = window.x - BORDER <= x < window.x + window.width + BORDER
        if across and window.y - HEAD <= y < window.y + window.height + FOOT and not window.minimized:
            return window
    return None


def topmost(view: View, wanted: Callable[[Window], bool]) -> Window | None:
    """The uppermost window that is wanted; its buttons are the least covered."""
    return next((window for window in reversed(view.windows) if wanted(window)), None)


def _bar(window: Window) -> Iterator[tuple[int, int]]:
    """Points of the title bar between its icon and its buttons, from the middle outwards."""
    middle = window.x + window.width // 2
    for step in range(0, window.width // 2 - 60, 24):
        yield middle + step, window.y - BAR
        yield middle - step, window.y - BAR


def _client(window: Window) -> Iterator[tuple[int, int]]:
    for down in range(window.height - 8, 0, -40):
        for across in range(8, window.width, 40):
            yield window.x + across, window.y + down
