"""Gestures as the single movements that they are made of, and back.

A click with keys held, a key held for a while, a drag along a path and a scroll along both axes are one
action each here, but several calls in a format that only knows single movements. ``unfold`` takes such
an action apart; ``fold`` finds the same movements in a sequence and puts them together, so that
``fold(unfold(action)) == [action]``. Knows nothing of any format.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

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
    # In this order: what keys are held around has to be whole before they are looked at.
    for rule in (_keys_together, _drag_along_path, _drag_from_start, _scroll_on_both_axes, _while_held):
        movements = _rewrite(movements, rule)
    return [movement.action for movement in movements]


#: Given the movements and a place in them: where the gesture that begins there ends, and what it is.
Rule: TypeAlias = Callable[[Sequence[Movement], int], "tuple[int, Action] | None"]


def _rewrite(movements: Sequence[Movement], rule: Rule) -> list[Movement]:
    written: list[Movement] = []
    place = 0
    while place < len(movements):
        found = rule(movements, place)
        end, movement = (found[0], Movement(found[1])) if found else (place + 1, movements[place])
        written.append(movement)
        place = end
    return written


def _kinds(movements: Sequence[Movement], place: int, *kinds: ActionKind) -> bool:
    """Whether movements of exactly these kinds begin at a place."""
    return [m.action.kind for m in movements[place : place + len(kinds)]] == list(kinds)


def _run(movements: Sequence[Movement], place: int, kind: ActionKind) -> int:
    """Where the movements of one kind that begin at a place end."""
    while place < len(movements) and movements[place].action.kind is kind:
        place += 1
    return place


def _keys_together(movements: Sequence[Movement], place: int) -> tuple[int, Action] | None:
    first = movements[place].action
    if first.kind not in (ActionKind.KEY_DOWN, ActionKind.KEY_UP):
        return None
    end = _run(movements, place, first.kind)
    keys = tuple(key for movement in movements[place:end] for key in movement.action.keys)
    return end, replace(first, keys=keys)


def _drag_along_path(movements: Sequence[Movement], place: int) -> tuple[int, Action] | None:
    if not _kinds(movements, place, ActionKind.MOVE, ActionKind.MOUSE_DOWN, ActionKind.MOVE):
        return None
    press = movements[place + 1].action
    end = _run(movements, place + 2, ActionKind.MOVE)
    if (
        end == len(movements)
        or movements[end].action != replace(press, kind=ActionKind.MOUSE_UP)
        or press.point
    ):
        return None
    legs = movements[place + 2 : end]
    path = tuple(m.action.point for m in (movements[place], *legs) if m.action.point is not None)
    seconds = sum(leg.seconds for leg in legs)
    return end + 1, Action.drag(*path, button=press.button, duration=seconds, screen=press.screen)


def _drag_from_start(movements: Sequence[Movement], place: int) -> tuple[int, Action] | None:
    if not _kinds(movements, place, ActionKind.MOVE, ActionKind.DRAG):
        return None
    start, drag = movements[place].action.point, movements[place + 1].action
    if start is None or len(drag.path) > 1:
        return None
    return place + 2, replace(drag, path=(start, *drag.path))


def _scroll_on_both_axes(movements: Sequence[Movement], place: int) -> tuple[int, Action] | None:
    if not _kinds(movements, place, ActionKind.SCROLL, ActionKind.SCROLL):
        return None
    across, along = movements[place].action, movements[place + 1].action
    if not (across.dx and along.dy) or across.dy or replace(along, dx=across.dx, dy=0.0) != across:
        return None
    return place + 2, replace(across, dy=along.dy)


def _while_held(movements: Sequence[Movement], place: int) -> tuple[int, Action] | None:
    if not (
        _kinds(movements, place, ActionKind.KEY_DOWN) and _kinds(movements, place + 2, ActionKind.KEY_UP)
    ):
        return None
    down, inside, up = (movement.action for movement in movements[place : place + 3])
    if up.keys != down.keys[::-1]:
        return None
    if inside.kind in _HOLDS_MODIFIERS:
        return place + 3, replace(inside, modifiers=down.keys)
    if inside.kind is ActionKind.WAIT and inside.duration:
        return place + 3, Action(ActionKind.HOLD, keys=down.keys, duration=inside.duration)
    return None
