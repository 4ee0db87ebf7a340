"""Demonstrations: episodes in which each step says what the oracle would have done there.

A ``DaggerAgent`` plays in the one loop. By itself it does what the oracle says; with a learner in the driving seat the
oracle only labels the states that the learner gets into (DAgger). The labels are canonical actions in the steps'
records, so an episode serves every learner; ``lessons`` makes of it what one learner perceives.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import random
import shutil
import uuid
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from operant.actions.json_actions import from_json, to_json
from operant.agents.base import Decision, PrivilegedAgent, TaskView
from operant.agents.loop_detection import is_looping
from operant.errors import AgentError, NoResults, OperantError, ResultsError
from operant.rollout import layout
from operant.rollout.episode import Episode, EpisodeResult, Step
from operant.rollout.store import EpisodeWriter, find_episodes
from operant.tasks.criteria.answers import Answer
from operant.tasks.criteria.combine import leaves
from operant.tasks.oracle import next_action
from operant.types import Action, ActionKind, Observation, Outcome

if TYPE_CHECKING:
    from operant.desktop.protocol import Desktop
    from operant.tasks.task import Task

__all__ = [
    "ActionLabeler",
    "Arrays",
    "DaggerAgent",
    "DemonstrationWriter",
    "find_demonstrations",
    "is_demonstration",
    "label_of",
    "next_seed",
    "recorded_at",
]

Arrays = dict[str, npt.NDArray[Any]]
ENDLESS = 6  # labels in a row that change nothing: the oracle is lost
LABEL, BY_LEARNER = "oracle", "by_learner"
ASIDE = ".playing"  # where episodes are until they are kept


class ActionLabeler(Protocol):
    """How a learner perceives, and how it would say an action."""

    @property
    def fingerprint(self) -> str:
        """Changes when the same episode would give other lessons."""
        ...

    def perceive(self, observation: Observation) -> Arrays: ...

    def label(self, action: Action, seen: Arrays) -> Arrays:
        """``ActionNotExpressible`` if it has no way to say it."""
        ...

    def same(self, one: Action, other: Action, seen: Arrays) -> bool:
        """Whether it would say both in the same way, or nearly."""
        ...

    def patch(self, observation: Observation, action: Action) -> npt.NDArray[np.uint8]:
        """The screen around the action's point at full resolution."""
        ...


class DaggerAgent(PrivilegedAgent):
    """Plays while the oracle says what it would do.

    ``learner`` says the learner's action; ``beta`` is the share of steps in which the oracle acts instead. The oracle
    also acts when the learner repeats itself. ``labeler`` tells whether both mean the same.
    """

    observation_type = "screenshot_a11y_tree"

    def __init__(
        self,
        labeler: ActionLabeler,
        learner: Callable[[Observation], Action] | None = None,
        beta: float = 0.0,
    ) -> None:
        self.labeler = labeler
        self.learner = learner
        self.beta = beta
        self._desktop: Desktop | None = None
        self._task: Task | None = None
        self._random = random.Random(0)
        self._said: list[Action] = []
        self._taken_for: Action | None = None

    def attach(self, desktop: Desktop, task: Task) -> None:
        if task.oracle is None:
            raise AgentError(f"{task.id} has no oracle", hint="tasks of a suite have one")
        self._desktop, self._task = desktop, task
        self._said, self._taken_for = [], None

    def begin(self, task: TaskView) -> None:
        self._random.seed(task.seed)

    def act(self, observation: Observation) -> Action | Decision:
        assert self._desktop is not None
        assert self._task is not None
        assert self._task.oracle is not None
        try:
            last = self._taken_for or observation.last_action
            wanted = next_action(self._task.oracle, self._desktop, last)
        except OperantError:
            if self.learner is None:
                raise
            return Action.fail("the oracle does not know how to go on from here")
        self._said.append(wanted)
        driven = self.learner is not None and self._random.random() >= self.beta
        self._taken_for = None
        if len(self._said) > ENDLESS and all(one == wanted for one in self._said[-ENDLESS:]):
            chosen = Action.fail("the oracle keeps saying the same")
        else:
            chosen = self._choose(observation, wanted, driven)
        return Decision((chosen,), record={LABEL: to_json(wanted), BY_LEARNER: driven})

    def _choose(self, observation: Observation, wanted: Action, driven: bool) -> Action:
        if not driven or self.learner is None:
            return wanted
        chosen = self.learner(observation)
        # The same state twice teaches nothing: the oracle leads out of a loop.
        if is_looping(observation.history, chosen):
            return wanted
        # Oracles tell by the last action where they are, and know their own, to the pixel.
        if self.labeler.same(wanted, chosen, self.labeler.perceive(observation)):
            self._taken_for = wanted
        return chosen


def label_of(step: Step) -> tuple[Action, bool] | None:
    """What the oracle would have done in place of a step, and whether the learner acted; None if it was not asked."""
    label = step.record.get(LABEL)
    return None if label is None else (from_json(label), bool(step.record.get(BY_LEARNER)))


def is_demonstration(episode: Episode) -> bool:
    """Whether there is something to learn from: failures teach only where a learner acted.

    Not an episode on several desktops: what is seen after one step is not what is seen before the next.
    """
    if any(step.desktop for step in episode.steps):
        return False
    if episode.outcome is Outcome.SUCCESS:
        return any(LABEL in step.record for step in episode.steps)
    experience = episode.outcome is not None and episode.outcome.is_experience
    return experience and any(step.record.get(BY_LEARNER) for step in episode.steps)


# Where they are.


class DemonstrationWriter(EpisodeWriter):
    """Keeps an episode in a collection if it teaches something, under a name that it gets when it has ended.

    A success is kept, and a failure if a learner acted. An oracle's episode replaces that of the same instance, a
    learner's replaces none. Nothing is left of episodes that are not kept. With ``agent``, that one demonstrates and
    not the oracle: each step that it performed is labelled with its own action.
    """

    def __init__(self, root: Path, *, by_learner: bool, agent: str | None = None) -> None:
        self._root = root
        self._by_learner = by_learner
        self._by_agent = agent is not None
        self._name = ""
        self._asks = False
        self.kept: Path | None = None
        """Where the episode is, once it was kept."""
        about = {"agent": agent or ("dagger" if by_learner else "oracle"), "privileged": agent is None}
        super().__init__(root / ASIDE / uuid.uuid4().hex, about, pictures=False)

    def begin(self, task: Task) -> None:
        self._name = recorded_at(self._root, task).name
        self._asks = any(isinstance(one, Answer) for one in leaves(task.success))
        super().begin(task)

    def step(self, step: Step, observation: Observation) -> None:
        action = step.action
        if self._by_agent and action is not None and step.invalid is None and not step.looked:
            if action.kind is ActionKind.ANSWER and not self._asks:
                action = Action.done()  # models end with a sentence, also where nothing was asked
            record = {**step.record, LABEL: to_json(action), BY_LEARNER: False}
            step = replace(step, record=record)
        super().step(step, observation)

    def end(self, result: EpisodeResult) -> None:
        super().end(result)
        if result.success or (self._by_learner and result.outcome.is_experience):
            with self._writing():
                self.kept = self.directory = self._named()
        else:
            self.remove()
        self._tidy()

    def abandon(self) -> None:
        super().abandon()
        with contextlib.suppress(ResultsError):
            self.remove()
        self._tidy()

    def _named(self) -> Path:
        if self._by_learner:
            return _move_to_free_name(self.directory, self._root, f"{self._name}.learner")
        target = self._root / self._name
        shutil.rmtree(target, ignore_errors=True)
        return self.directory.rename(target)

    def _tidy(self) -> None:
        with contextlib.suppress(OSError):  # others are being written
            (self._root / ASIDE).rmdir()


def _move_to_free_name(directory: Path, root: Path, name: str) -> Path:
    for number in itertools.count(1):
        try:
            return directory.rename(root / f"{name}-{number}")
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
    raise AssertionError("unreachable")


def recorded_at(root: Path, task: Task) -> Path:
    """Where a collection has the demonstration of an instance, if it has one."""
    return root / layout.episode_name(task.id, task.split, task.seed)


def next_seed(root: Path, first: int) -> int:
    """The first seed from there on that is above all seeds of episodes in a directory."""
    if not root.is_dir():
        return first
    seeds = [part for path in root.iterdir() for part in path.name.split(".") if part.isdigit()]
    return max([first, *(int(seed) + 1 for seed in seeds)])


def find_demonstrations(roots: Iterable[Path], known: Collection[Path] = ()) -> list[Path]:
    """Episodes below the directories, each once, in a fixed order; ``known`` ones are left out."""
    found: dict[Path, None] = {}
    for root in roots:
        if not root.is_dir():
            raise NoResults(f"there are no demonstrations in {root}", hint="run operant demos collect")
        below = find_episodes(root)
        if not below and any(root.glob("*.npz")):
            raise ResultsError(
                f"{root} holds lessons of an older version of Operant, which can't be read any more",
                hint="run operant demos collect again: episodes stay readable",
            )
        found |= dict.fromkeys(path.resolve() for path in below if path.parent.name != ASIDE)
    return [path for path in found if path not in known]
