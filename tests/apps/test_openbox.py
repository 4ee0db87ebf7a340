"""Moves on windows, played on a model of a screen: what is clicked comes to the front, what is dragged moves or grows."""

from __future__ import annotations

import random
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from operant.apps import openbox
from operant.apps.view import View
from operant.desktop import decorations
from operant.types import Action, ActionKind, Size, Window

SCREEN = Size(1280, 800)
HALF = (1280 // 2 - 2 * decorations.BESIDE, 800 - decorations.ABOVE - decorations.BELOW)


class Screen:
    """Windows from the bottom to the top, and what actions do to them."""

    size = SCREEN

    def __init__(self, *places: openbox.Place) -> None:
        self.stack = [
            Window(number, f"w{number}", "Note", None, *place, number == len(places) - 1, False, False)
            for number, place in enumerate(places)
        ]

    def windows(self) -> list[Window]:
        return list(self.stack)

    def act(self, action: Action) -> None:
        if action == openbox.ALT_TAB:
            self._raise(self.stack[-2])
            return
        point = action.path[0] if action.kind is ActionKind.DRAG else action.point
        assert point is not None
        x, y = point.to_pixel(SCREEN)
        hit = openbox.at(View(self), x, y)  # type: ignore[arg-type]
        assert hit is not None, "a click on the background"
        self._raise(hit)
        if action.kind is ActionKind.DRAG:
            u, v = action.path[-1].to_pixel(SCREEN)
            window = self.stack[-1]
            moved = (
                replace(window, x=window.x + u - x, y=window.y + v - y)
                if y < window.y
                else replace(window, width=window.width + u - x, height=window.height + v - y)
            )
            self.stack[-1] = moved

    def _raise(self, hit: Window) -> None:
        others = [replace(one, focused=False) for one in self.stack if one.id != hit.id]
        self.stack = [*others, replace(hit, focused=True)]


def is_numbered(number: int) -> openbox.Wanted:
    return lambda window: window.id == number


def play(screen: Screen, goal: Any, most: int) -> int:
    for step in range(most):
        view = View(screen)  # type: ignore[arg-type]
        if goal.done(view):
            return step
        screen.act(goal.act(view))
    raise AssertionError(f"not done after {most} steps: {screen.stack}")


def halves(left: int, right: int) -> Any:
    places = [
        (decorations.BESIDE, decorations.ABOVE, *HALF),
        (640 + decorations.BESIDE, decorations.ABOVE, *HALF),
    ]
    return openbox.tiled([(is_numbered(left), places[0]), (is_numbered(right), places[1])])


def test_two_windows_that_cover_each_others_title_bars_are_not_raised_in_turn() -> None:
    """The lower one shows, but not its title bar; once raised, it covers that of the other one."""
    screen = Screen((480, 140, 460, 300), (470, 131, 490, 270))
    assert play(screen, halves(1, 0), 8) == 4


@pytest.mark.parametrize("seed", range(200))
def test_windows_are_tiled_wherever_they_stand(seed: int) -> None:
    draw = random.Random(seed)
    places = [(draw.randint(4, 800), draw.randint(28, 480), 460, 300) for _ in range(4)]
    corners = [(1, 20), (641, 20), (1, 420), (641, 420)]
    tiles = [(is_numbered(number), (*corner, 638, 375)) for number, corner in enumerate(corners)]
    assert play(Screen(*places), openbox.tiled(tiles), 25) >= 4


def test_a_window_is_closed_minimized_and_moved_by_its_title_bar() -> None:
    screen = Screen((300, 200, 400, 300))
    view = View(screen)  # type: ignore[arg-type]
    (window,) = screen.stack
    bar = window.y - openbox.BAR
    assert openbox.closed(is_numbered(0)).act(view) == Action.click(view.point(690, bar))
    assert openbox.minimized(is_numbered(0)).act(view) == Action.click(view.point(658, bar))
    assert play(screen, openbox.moved(is_numbered(0), (800, 400, 400, 300)), 2) == 1


def test_a_window_that_is_not_there_is_waited_for() -> None:
    view = View(SimpleNamespace(size=SCREEN, windows=list))  # type: ignore[arg-type]
    assert openbox.in_front(is_numbered(0)).act(view) == Action.wait()
