"""What a dialect says for an action that it has no words for, and what to call the difference in a table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableSet
from dataclasses import replace
from typing import TypeVar

from operant.actions.scrolling import as_notches, as_pixels
from operant.errors import ActionNotExpressible
from operant.types import Action, ActionKind, Button

__all__ = ["UNSURE", "spoken"]

_TWO_CLICKS = "double click as two clicks"
_SHIFT_F10 = "right click as click and Shift+F10"
#: Two clicks are a double click only on a quick machine; Shift+F10 opens no menu where nothing is selected.
UNSURE = frozenset({_TWO_CLICKS, _SHIFT_F10})
_NAMED = {" ": "space", "\n": "enter", "\t": "tab"}
#: How long dialects wait whose ``wait`` has no duration.
_WAITS_S = (2.0, 1.0, 5.0)
P = TypeVar("P")


def spoken(
    action: Action, render: Callable[[Action], P], differences: MutableSet[str] | None = None
) -> list[P]:
    """The action in a dialect's words: one payload, or those of actions that do the same together."""
    try:
        return [render(action)]
    except ActionNotExpressible as error:
        for name, others in _alternatives(action):
            try:
                payloads = [render(other) for other in others]
            except ActionNotExpressible:
                continue
            if differences is not None and name:
                differences.add(name)
            return payloads
        raise error


def _alternatives(action: Action) -> Iterator[tuple[str, list[Action]]]:
    if action.kind is ActionKind.WAIT:
        yield from ((f"waits {wait:g} s", [Action.wait(wait)]) for wait in _WAITS_S)
    if action.kind is ActionKind.SCROLL:
        # The same scroll in another unit is no difference; a longer way in several parts is one.
        for other in (as_pixels(action), as_notches(action)):
            yield "", [other]
            yield "long scroll in parts", _in_parts(other)
    if action.kind is ActionKind.TYPE:
        yield "text as single keys", [_pressed(letter) for letter in action.text]
    if action.kind is ActionKind.DRAG and len(action.path) == 2:
        begin, end = action.path
        yield "drag as move and drag", [Action.move(begin), Action.drag(end)]
        down, up = Action(ActionKind.MOUSE_DOWN, point=begin), Action(ActionKind.MOUSE_UP, point=end)
        yield "drag as press, move and release", [down, Action.move(end), up]
    if action.kind is not ActionKind.CLICK:
        return
    if action.modifiers:
        keys, bare = action.modifiers, replace(action, modifiers=())
        held = [Action(ActionKind.KEY_DOWN, keys=keys), bare, Action(ActionKind.KEY_UP, keys=keys)]
        yield "click with modifiers as key down, click, key up", held
    single = replace(action, clicks=1)
    if action.clicks == 3:
        # Clicks of several turns are too far apart to be one triple click.
        line = [single, Action.key("home"), Action.key("shift", "end")]
        yield "triple click as click, Home, Shift+End", line
        yield "triple click as double click and click", [replace(action, clicks=2), single]
    if action.clicks == 2:
        yield _TWO_CLICKS, [single] * 2
    if action.button is Button.RIGHT:
        left = replace(action, button=Button.LEFT)
        yield _SHIFT_F10, [left, Action.key("shift", "f10")]


def _pressed(letter: str) -> Action:
    if letter.isupper():
        return Action.key("shift", letter.lower())
    return Action.key(_NAMED.get(letter, letter))


def _in_parts(action: Action, most: float = 5.0) -> list[Action]:
    """A scroll in pieces of at most so many notches."""
    notches = as_notches(action)
    count = max(1, -(-int(max(abs(notches.dx), abs(notches.dy))) // int(most)))
    return [replace(action, dx=action.dx / count, dy=action.dy / count)] * count
