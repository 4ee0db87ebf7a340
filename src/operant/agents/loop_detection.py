"""Detects loops that a greedy policy cannot escape."""

from __future__ import annotations

from collections.abc import Sequence

from operant.types import Action, ActionKind, PastAction

__all__ = ["is_looping"]

NEAR = 0.004  # of the screen: points that are the same place
LONGEST = 4  # actions of a loop
TIMES = 3  # rounds that make a loop
PATIENCE = 6  # waits in a row without an effect


def is_looping(history: Sequence[PastAction], action: Action) -> bool:
    """Whether an action would only repeat what had no effect.

    That is the action that has just changed nothing, or the third round of a loop of two to four actions. A wait counts
    only after ``PATIENCE`` waits, since programs take their time. One action over and over that changes the screen,
    such as a key, is no loop.
    """
    if not history:
        return False
    if action.kind is ActionKind.WAIT:
        waits = history[-PATIENCE:]
        return len(waits) == PATIENCE and all(
            one.action.kind is ActionKind.WAIT and not one.changed for one in waits
        )
    if not history[-1].changed and _alike(history[-1].action, action):
        return True
    done = [one.action for one in history[-TIMES * LONGEST :]] + [action]
    for length in range(2, LONGEST + 1):
        loop = done[-length:]
        if len(done) < TIMES * length or all(_alike(one, loop[0]) for one in loop):
            continue
        rounds = [done[-(turn + 1) * length : len(done) - turn * length] for turn in range(1, TIMES)]
        if all(_alike(one, other) for turn in rounds for one, other in zip(turn, loop, strict=True)):
            return True
    return False


def _alike(one: Action, other: Action) -> bool:
    if (one.kind, one.text, one.keys, one.button, one.clicks, one.modifiers) != (
        other.kind, other.text, other.keys, other.button, other.clicks, other.modifiers,
    ):  # fmt: skip
        return False
    places = [(action.point, *action.path) for action in (one, other)]
    if len(places[0]) != len(places[1]):
        return False
    return all(
        (a is None and b is None)
        or (a is not None and b is not None and abs(a.x - b.x) < NEAR and abs(a.y - b.y) < NEAR)
        for a, b in zip(*places, strict=True)
    )
