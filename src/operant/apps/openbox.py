"""Openbox, the window manager: how windows are handled by their frames, and what covers them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from operant.apps.base import App
from operant.apps.moves import Goal, Move, steps
from operant.apps.view import View
from operant.desktop import decorations
from operant.types import Action, Window

if TYPE_CHECKING:
    from operant.desktop.protocol import Desktop

__all__ = [
    "ALT_TAB",
    "APP",
    "ROUGHLY",
    "Control",
    "Openbox",
    "Place",
    "Stack",
    "Wanted",
    "at",
    "closed",
    "grow",
    "in_front",
    "maximized",
    "minimized",
    "moved",
    "press",
    "pull",
    "put_away",
    "raise_it",
    "tiled",
    "topmost",
    "widened",
]

Control = Literal["close", "maximize", "iconify"]
Place = tuple[int, int, int, int]  # x, y, width and height of a client area
Wanted = Callable[[Window], bool]
BAR = 10  # from the client area up to the middle of the title bar
#: From the right edge of the client area to the middle of each button of the title bar.
BUTTONS = {"close": 10, "maximize": 26, "iconify": 42}
GRIP = 6  # into the corner that resizes
ASIDE = 300
SHORT = 60  # a drag over fewer pixels may not be taken for one: go away first and come back
ROUGHLY = 24  # pixels that a window may be off where it was dragged
ALT_TAB = Action.key("alt", "tab")


@dataclass(frozen=True)
class Stack:
    """The windows of the desktop, from the bottom to the top."""

    windows: tuple[Window, ...]


class Openbox(App):
    name = "openbox"
    title = "window manager"
    packages = ("openbox",)
    command = ("openbox",)
    wm_class = ""
    part_of_desktop = True

    def window(self, view: View) -> Window | None:
        return None

    def is_ready(self, view: View) -> bool:
        return True

    def state(self, desktop: Desktop) -> Stack:
        return Stack(tuple(desktop.windows()))


# Moves.


def press(view: View, window: Window, which: Control) -> Action:
    """Click a button of the title bar, or what leads there."""
    x, y = window.x + window.width - BUTTONS[which], window.y - BAR
    return Action.click(view.point(x, y)) if at(view, x, y) == window else raise_it(view, window)


def pull(view: View, window: Window, x: int, y: int) -> Action:
    """Drag the title bar so that the client area comes to (x, y)."""
    grip = _grip(view, window)
    if grip is None:
        return raise_it(view, window)
    if 0 < max(abs(x - window.x), abs(y - window.y)) < SHORT:
        x = window.x + (ASIDE if window.x + window.width / 2 < view.size.width / 2 else -ASIDE)
    u, v = grip
    return Action.drag(view.point(u, v), view.point(u + x - window.x, v + y - window.y))


def grow(view: View, window: Window, width: int, height: int) -> Action:
    """Drag the lower right corner so that the client area gets that size."""
    x, y = window.x + window.width - GRIP, window.y + window.height + decorations.BELOW // 2
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
        across = window.x - decorations.BESIDE <= x < window.x + window.width + decorations.BESIDE
        if (
            across
            and window.y - decorations.ABOVE <= y < window.y + window.height + decorations.BELOW
            and not window.minimized
        ):
            return window
    return None


def topmost(view: View, wanted: Wanted) -> Window | None:
    """The uppermost window that is wanted; its buttons are the least covered."""
    return next((window for window in reversed(view.windows) if wanted(window)), None)


def _grip(view: View, window: Window) -> tuple[int, int] | None:
    """Where the title bar shows."""
    return next(((x, y) for x, y in _bar(window) if at(view, x, y) == window), None)


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


# Goals.


def _on(wanted: Wanted, act: Callable[[View, Window], Action]) -> Callable[[View], Action]:
    """Do that with the window that is wanted; wait while it is not there."""

    def attempt(view: View) -> Action:
        window = topmost(view, wanted)
        return Action.wait() if window is None else act(view, window)

    return attempt


def _is(wanted: Wanted, how: Callable[[Window], bool]) -> Callable[[View], bool]:
    def holds(view: View) -> bool:
        window = topmost(view, wanted)
        return window is not None and how(window)

    return holds


def _button(which: Control) -> Callable[[View, Window], Action]:
    return lambda view, window: ALT_TAB if window.minimized else press(view, window, which)


def closed(wanted: Wanted) -> Goal:
    return Goal(lambda view: topmost(view, wanted) is None, _on(wanted, _button("close")))


def minimized(wanted: Wanted) -> Goal:
    return Goal(_is(wanted, lambda window: window.minimized), _on(wanted, _button("iconify")))


def maximized(wanted: Wanted) -> Goal:
    return Goal(_is(wanted, lambda window: window.maximized), _on(wanted, _button("maximize")))


def in_front(wanted: Wanted) -> Goal:
    return Goal(_is(wanted, lambda window: window.focused), _on(wanted, raise_it))


def moved(wanted: Wanted, place: Place) -> Goal:
    """A window was dragged to a place by its title bar."""
    x, y = place[:2]
    return Goal(
        _is(wanted, lambda window: _stands(window, place)),
        _on(wanted, lambda view, window: pull(view, window, x, y)),
    )


def widened(wanted: Wanted, width: int) -> Goal:
    """A window got that width by a drag of its right edge."""

    def act(view: View, window: Window) -> Action:
        x, y = window.x + window.width, window.y + window.height // 2
        if at(view, x, y) != window:
            return raise_it(view, window)
        return Action.drag(view.point(x, y), view.point(x + width - window.width, y))

    return Goal(_is(wanted, lambda window: abs(window.width - width) <= ROUGHLY // 2 - 2), _on(wanted, act))


def put_away(closing: Wanted, hiding: Wanted, question: Move) -> Goal:
    """Some windows are closed and others minimized, from the top of the stack down; ``question`` answers dialogs."""

    def left(view: View) -> list[Window]:
        return [
            window
            for window in reversed(view.windows)
            if closing(window) or (hiding(window) and not window.minimized)
        ]

    def click(view: View) -> Action | None:
        for window in left(view):
            if window.minimized:
                return ALT_TAB
            action = press(view, window, "close" if closing(window) else "iconify")
            # That a program was told to close its window cannot be seen: it takes a moment, so do the next one.
            if action != view.last:
                return action
        return None

    return Goal(lambda view: not left(view) and question(view) is None, steps(question, click))


def tiled(tiles: Sequence[tuple[Wanted, Place]]) -> Goal:
    """Windows fill their places.

    The lowest goes first, or what was moved aside to get at it would be put back first. But a window that lies over its
    title bar and has to move anyway goes before it: to raise one after the other would never end. All are moved while
    they are small, so that none covers another for good.
    """

    def next_drag(view: View) -> Action | None:
        found = [(window, place) for wanted, place in tiles if (window := topmost(view, wanted)) is not None]
        found.sort(key=lambda one: view.windows.index(one[0]))
        astray = {window.id: (window, place) for window, place in found if not _stands(window, place)}
        for window, place in astray.values():
            if _grip(view, window) is None:
                cover = at(view, window.x + window.width / 2, window.y - BAR)
                if cover is not None and cover.id in astray:
                    window, place = astray[cover.id]
            return pull(view, window, *place[:2])
        for window, place in found:
            if not _fits(window, place):
                return grow(view, window, *place[2:])
        return None

    return Goal(lambda view: next_drag(view) is None, steps(next_drag))


def _stands(window: Window, place: Place) -> bool:
    return max(abs(window.x - place[0]), abs(window.y - place[1])) <= ROUGHLY - 2


def _fits(window: Window, place: Place) -> bool:
    return max(abs(window.width - place[2]), abs(window.height - place[3])) <= ROUGHLY - 2


APP = Openbox()
