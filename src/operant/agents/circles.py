"""Noticing that one goes round in circles, which an agent that always takes the likeliest action never leaves."""

from __future__ import annotations

from collections.abc import Sequence

from operant.types import Action, ActionKind, Deed

__all__ = ["goes_in_circles"]

NEAR = 0.004  # of the screen: points that are the same place
LONGEST = 4  # actions of a circle
TIMES = 3  # so often it must have been gone round
PATIENCE = 6  # times that waiting for nothing is waiting


def goes_in_circles(history: Sequence[Deed], action: Action) -> bool:
    """Whether this would only repeat what has led nowhere.

    That is the action that has just changed nothing, or a circle of a few actions gone round for the third time.
    Waiting is only one after a while: whoever waits expects the world to change by itself. One action over and over
    that does change things, such as pressing a key, is none either.
    """
    if not history:
        return False
    if action.kind is ActionKind.WAIT:
        waits = history[-PATIENCE:]
        return len(waits) == PATIENCE and all(
            deed.action.kind is ActionKind.WAIT and not deed.changed for deed in waits
        )
    if not history[-1].changed and _alike(history[-1].action, action):
        return True
    done = [deed.action for deed in history[-TIMES * LONGEST :]] + [action]
    for length in range(2, LONGEST + 1):
        circle = done[-length:]
        if len(done) < TIMES * length or all(_alike(one, circle[0]) for one in circle):
            continue
        rounds = [done[-(turn + 1) * length : len(done) - turn * length] for turn in range(1, TIMES)]
        if all(_alike(one, other) for turn in rounds for one, other in zip(turn, circle, strict=True)):
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
