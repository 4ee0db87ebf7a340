"""Reward terms by name, for settings: those that come with Operant, and ``module:Term`` of the user's own.

All of them are off unless they are asked for. Those here can be gamed, as any bonus that is no potential can: they are
logged apart from success, and ``RewardHackAlarm`` watches them. To add one, write it and one line in ``TERMS``.
"""

from __future__ import annotations

import difflib
import math

from operant.apps.view import View
from operant.config.imported import imported
from operant.envs.rewards import Moment, Potential, RewardTerm
from operant.errors import ConfigError, TaskError
from operant.types import ActionKind, Observation, Point

__all__ = ["TERMS", "ActionEffect", "PointerNearer", "Weighted", "make_term"]


class ActionEffect(RewardTerm):
    """1 for an action that was performed and changed the screen. Waiting and ending change nothing."""

    name = "action_effect"

    def score(self, moment: Moment) -> float:
        action = moment.observation.last_action
        if action is None or action.kind.terminal or action.kind is ActionKind.WAIT:
            return 0.0
        return float(moment.changed and moment.observation.error is None)


class PointerNearer(RewardTerm):
    """How much nearer the pointer came to where the task's oracle would act next, in diagonals of the screen.

    Going away costs what coming back pays. Asks the oracle at every step, which reads the widgets and costs time.
    A task without an oracle, or a next action without a place, pays nothing.
    """

    name = "pointer_nearer"

    def __init__(self) -> None:
        self._target: Point | None = None
        self._before = 0.0

    def begin(self, moment: Moment) -> None:
        self._aim(moment)

    def score(self, moment: Moment) -> float:
        nearer = 0.0
        if self._target is not None:
            nearer = self._before - _distance(moment.observation, self._target)
        if moment.outcome is None:
            self._aim(moment)
        return nearer

    def _aim(self, moment: Moment) -> None:
        oracle, observation = moment.environment.task.oracle, moment.observation
        self._target = None
        if oracle is None:
            return
        try:
            action = oracle.act(View(moment.environment.desktop, observation.last_action))
        except TaskError:  # the oracle sees no way from here
            return
        self._target = action.point or (action.path[0] if action.path else None)
        if self._target is not None:
            self._before = _distance(observation, self._target)


def _distance(observation: Observation, target: Point) -> float:
    height, width = observation.screen.shape[:2]
    here = observation.pointer
    across, down = (here.x - target.x) * width, (here.y - target.y) * height
    return math.hypot(across, down) / math.hypot(width, height)


class Weighted(RewardTerm):
    """Another term, times a weight."""

    def __init__(self, term: RewardTerm, weight: float) -> None:
        self.term, self.weight, self.name = term, weight, term.name

    def begin(self, moment: Moment) -> None:
        self.term.begin(moment)

    def score(self, moment: Moment) -> float:
        return self.weight * self.term.score(moment)


#: name -> a term of Operant's own
TERMS: dict[str, type[RewardTerm]] = {term.name: term for term in (ActionEffect, PointerNearer)}


def make_term(use: str, weight: float = 1.0, *, gamma: float = 0.99) -> RewardTerm:
    """A term by its name in ``TERMS`` or as ``module:Term``; potentials get the learner's ``gamma``."""
    if ":" in use:
        found = imported(use, form="module:Term", example="my_rewards:CalmHands", here=True)
    elif use in TERMS:
        found = TERMS[use]
    else:
        near = difflib.get_close_matches(use, TERMS, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"terms: {', '.join(TERMS)}, or module:Term"
        raise ConfigError(f"there is no reward term {use!r}", hint=hint)
    if not (isinstance(found, type) and issubclass(found, RewardTerm)):
        raise ConfigError(
            f"{use!r} is no reward term", hint="a subclass of operant.envs.rewards.RewardTerm, not an object"
        )
    try:
        term = found(gamma=gamma) if issubclass(found, Potential) else found()
    except Exception as error:  # foreign code may raise anything
        raise ConfigError(
            f"reward term {use!r} can't be made: {type(error).__name__}: {error}",
            hint="it is made without arguments; a Potential is given gamma",
        ) from error
    if not isinstance(getattr(term, "name", None), str):
        raise ConfigError(f"reward term {use!r} has no name", hint="name = 'calm_hands' in its class")
    return Weighted(term, weight)
