"""Rewards: 1 for success and nothing else, unless shaping is added by name; and an alarm against its misuse.

Every term is logged apart, so shaped return is never taken for progress. Terms made of a potential add
``gamma * phi(next) - phi(now)`` with ``phi = 0`` at the end, which changes no optimal policy (Ng et al.,
1999); the others can be gamed, and ``RewardHackAlarm`` watches for it: shaped return up, success flat.
"""

from __future__ import annotations

import copy
import math
from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from loguru import logger

from operant.errors import ConfigError, OperantError, RewardError
from operant.tasks.criteria.base import Criterion, World
from operant.tasks.criteria.combine import AllOf, AnyOf
from operant.types import Observation, Outcome

if TYPE_CHECKING:
    from operant.envs.task_environment import TaskEnvironment

__all__ = [
    "CriteriaProgress",
    "HackAlert",
    "InvalidPenalty",
    "Moment",
    "Potential",
    "Reward",
    "RewardHackAlarm",
    "RewardTerm",
    "ScreenChange",
    "StepCost",
    "progress_of",
]  # fmt: skip

SUCCESS = "success"
SHAPING, SOLVED = "", " "  # beside the terms, whose names are words


@dataclass(frozen=True)
class Moment:
    """What a term may look at: where an action led."""

    environment: TaskEnvironment
    observation: Observation
    changed: bool
    """Whether the screen changed under the action."""
    outcome: Outcome | None = None
    """How the episode ended; None while it goes on."""


class RewardTerm(ABC):
    """One named part of the shaping."""

    name: str

    def begin(self, moment: Moment) -> None:  # noqa: B027 - most terms have nothing to remember
        """An episode begins."""

    @abstractmethod
    def score(self, moment: Moment) -> float:
        """What one action is worth."""


class StepCost(RewardTerm):
    """Every action costs a little, so that shorter is better."""

    name = "step_cost"

    def __init__(self, cost: float = 0.01) -> None:
        self.cost = cost

    def score(self, moment: Moment) -> float:
        return -self.cost


class InvalidPenalty(RewardTerm):
    """An action that could not be performed costs."""

    name = "invalid"

    def __init__(self, penalty: float = 0.05) -> None:
        self.penalty = penalty

    def score(self, moment: Moment) -> float:
        return -self.penalty if moment.observation.error else 0.0


class ScreenChange(RewardTerm):
    """A bonus for any change of the screen: the classic mistake.

    It pays for toggling a menu forever, and agents find that out. It is here because published systems have
    it, and for the test that shows the alarm.
    """

    name = "screen_change"

    def __init__(self, bonus: float = 0.1) -> None:
        self.bonus = bonus

    def score(self, moment: Moment) -> float:
        return self.bonus if moment.changed else 0.0


class Potential(RewardTerm):
    """``weight * (gamma * phi(next) - phi(now))``; use the learner's own gamma."""

    def __init__(self, weight: float = 1.0, gamma: float = 0.99) -> None:
        self.weight = weight
        self.gamma = gamma
        self._before = 0.0

    @abstractmethod
    def potential(self, moment: Moment) -> float:
        """How good a state is."""

    def begin(self, moment: Moment) -> None:
        self._before = self.potential(moment)

    def score(self, moment: Moment) -> float:
        now = 0.0 if moment.outcome is not None else self.potential(moment)
        before, self._before = self._before, now
        return self.weight * (self.gamma * now - before)


class CriteriaProgress(Potential):
    """The share of the task's criteria that hold. Asks all of them at every step, which costs time."""

    name = "progress"

    def potential(self, moment: Moment) -> float:
        return progress_of(moment.environment.task.success, World(moment.environment.desktop))


def progress_of(criterion: Criterion, world: World) -> float:
    """How much of a criterion holds, from 0 to 1; what can't be told does not."""
    if isinstance(criterion, AllOf):
        return sum(progress_of(part, world) for part in criterion.of) / len(criterion.of)
    if isinstance(criterion, AnyOf):
        return max(progress_of(part, world) for part in criterion.of)
    try:
        return float(bool(criterion.check(world)))
    except (OperantError, OSError):
        return 0.0


class Reward:
    """Success, and the terms that were added to it. Give every environment its own copy (``fresh``)."""

    def __init__(self, terms: Sequence[RewardTerm] = (), success: float = 1.0) -> None:
        twice = [
            name for name, count in Counter([SUCCESS, *(term.name for term in terms)]).items() if count > 1
        ]
        if twice:
            raise ConfigError(
                f"two parts of the reward are called {twice[0]!r}", hint="each is logged by its name"
            )
        self.terms = tuple(terms)
        self.success = success

    def fresh(self) -> Reward:
        return copy.deepcopy(self)

    def begin(self, moment: Moment) -> None:
        for term in self.terms:
            _ask(term, term.begin, moment)

    def score(self, moment: Moment) -> tuple[float, dict[str, float]]:
        """The reward of one action, and what each term gave to it."""
        parts = {SUCCESS: self.success if moment.outcome is Outcome.SUCCESS else 0.0}
        for term in self.terms:
            parts[term.name] = _number(term, _ask(term, term.score, moment))
        return sum(parts.values()), parts


def _ask(term: RewardTerm, call: Callable[[Moment], Any], moment: Moment) -> Any:
    try:
        return call(moment)
    except OperantError:
        raise  # a desktop that died under it is no fault of the term
    except Exception as error:  # a user's code may raise anything
        raise RewardError(
            f"reward term {term.name!r} raised {type(error).__name__}: {error}",
            hint="a term must score every moment, the first and the last of an episode included",
        ) from error


def _number(term: RewardTerm, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise RewardError(
            f"reward term {term.name!r} gave {value!r:.60}", hint="score() returns a finite number"
        )
    return number


@dataclass(frozen=True)
class HackAlert:
    """What the shaping pays went up while success did not."""

    term: str
    """The term that rose most."""
    return_before: float
    return_now: float
    success_before: float
    success_now: float
    episodes: int

    def __str__(self) -> str:
        return (
            f"reward hacking? after {self.episodes} episodes shaping pays {self.return_now:.2f} instead of "
            f"{self.return_before:.2f}, most of it by {self.term!r}, while success went from "
            f"{self.success_before:.0%} to {self.success_now:.0%}"
        )


class RewardHackAlarm:
    """Compares the last ``window`` episodes with a reference: the first ones, or the last time success rose.

    It fires when what the shaping pays rose by more than ``rise`` and three standard errors, and success
    neither rose by more than ``flat`` and two standard errors nor is high already. ``record`` gives the alert
    each time it holds; it is logged once per reference.
    """

    def __init__(
        self, window: int = 50, *, rise: float = 0.2, flat: float = 0.05, solved: float = 0.9
    ) -> None:
        self.window = window
        self.rise = rise
        self.flat = flat
        self.solved = solved
        self.episodes = 0
        self.alerts: list[HackAlert] = []
        self._reference: list[Mapping[str, float]] = []
        self._recent: deque[Mapping[str, float]] = deque(maxlen=window)
        self._told = False

    @property
    def fired(self) -> bool:
        return bool(self.alerts)

    def record(self, terms: Mapping[str, float], *, success: bool) -> HackAlert | None:
        """One episode: what each term summed up to, and whether the task was done."""
        self.episodes += 1
        shaping = sum(value for name, value in terms.items() if name != SUCCESS)
        episode = {**terms, SHAPING: shaping, SOLVED: float(success)}
        if len(self._reference) < self.window:
            self._reference.append(episode)
            return None
        self._recent.append(episode)
        if len(self._recent) < self.window:
            return None
        before, now, doubt = self._compare(SOLVED)
        if now >= self.solved or now - before > max(self.flat, 2 * doubt):
            # Honest progress; from here on nothing less will do.
            self._reference, self._told = list(self._recent), False
            self._recent.clear()
            return None
        was, has, unsure = self._compare(SHAPING)
        if has - was <= max(self.rise, 3 * unsure):
            return None
        alert = HackAlert(self._most_risen(), was, has, before, now, self.episodes)
        self.alerts.append(alert)
        if not self._told:
            logger.warning(str(alert))
            self._told = True
        return alert

    def _compare(self, key: str) -> tuple[float, float, float]:
        """The mean in the reference, the mean now, and the standard error of their difference."""
        first, spread = _mean([episode.get(key, 0.0) for episode in self._reference])
        second, other = _mean([episode.get(key, 0.0) for episode in self._recent])
        return first, second, math.sqrt((spread + other) / self.window)

    def _most_risen(self) -> str:
        names = {name for episode in self._recent for name in episode} - {SHAPING, SOLVED, SUCCESS}

        def risen(name: str) -> float:
            before, now, _ = self._compare(name)
            return now - before

        return max(sorted(names), key=risen, default=SUCCESS)


def _mean(values: Sequence[float]) -> tuple[float, float]:
    mean = sum(values) / len(values)
    return mean, sum((value - mean) ** 2 for value in values) / max(1, len(values) - 1)
