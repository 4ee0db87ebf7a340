"""Demonstrations: what was perceived, and what the oracle would do there.

An ``Apprentice`` plays episodes in the one loop. By itself it does what the oracle says; with a learner in the
driving seat the oracle only labels the states that the learner gets into (DAgger). Each episode becomes one
compressed file, written as a whole, so that a collection can be cut off, continued and added to.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from operant.agents.base import PrivilegedAgent, TaskView
from operant.agents.circles import goes_in_circles
from operant.apps.view import View
from operant.errors import ActionNotExpressible, AgentError, OperantError, ResultsError
from operant.types import Action, Observation

if TYPE_CHECKING:
    from operant.desktop.sandbox import SandboxDesktop
    from operant.tasks.task import Task

__all__ = ["Apprentice", "Lesson", "Recording", "Viewpoint", "list_demonstrations", "read_demonstration"]

Arrays = dict[str, npt.NDArray[Any]]
ENDLESS = 6  # labels in a row that change nothing: the oracle is lost


class Viewpoint(Protocol):
    """How a learner perceives, and how it would say an action."""

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


@dataclass
class Lesson:
    """One state: what was perceived, what the oracle would do, and who acted."""

    seen: Arrays
    label: Arrays
    patch: npt.NDArray[np.uint8]
    by_learner: bool


@dataclass
class Recording:
    """The lessons of one episode."""

    task: str
    seed: int
    split: str
    lessons: list[Lesson] = field(default_factory=list)
    inexpressible: list[str] = field(default_factory=list)
    success: bool = False

    def arrays(self) -> Arrays:
        """The lessons one below the other."""
        if not self.lessons:
            return {}
        first = self.lessons[0]
        seen = {f"seen.{key}": np.stack([one.seen[key] for one in self.lessons]) for key in first.seen}
        label = {f"label.{key}": np.stack([one.label[key] for one in self.lessons]) for key in first.label}
        patch = np.stack([one.patch for one in self.lessons])
        return {
            **seen,
            **label,
            "patch": patch,
            "by_learner": np.array([one.by_learner for one in self.lessons]),
        }

    def write(self, directory: Path) -> Path:
        """One file; nobody ever sees half of it."""
        directory.mkdir(parents=True, exist_ok=True)
        name = f"{self.task.replace('/', '--')}--{self.split}-{self.seed}"
        name += "-learner" if any(one.by_learner for one in self.lessons) else ""
        path = directory / f"{name}.npz"
        part = directory / f".{path.name}.{os.getpid()}.part"
        about = {
            "task": self.task,
            "seed": self.seed,
            "split": self.split,
            "success": self.success,
            "inexpressible": self.inexpressible,
        }
        arrays = {"about": np.frombuffer(json.dumps(about).encode(), np.uint8), **self.arrays()}
        try:
            with part.open("wb") as file:
                np.savez_compressed(file, **arrays)  # type: ignore[arg-type]
            os.replace(part, path)
        finally:
            part.unlink(missing_ok=True)
        return path


class Apprentice(PrivilegedAgent):
    """Plays while the oracle says what it would do.

    ``learner`` says the learner's action; ``beta`` is the share of steps in which the oracle acts instead. It also
    does when the learner goes round in circles.
    """

    observation_type = "screenshot_a11y_tree"

    def __init__(
        self,
        viewpoint: Viewpoint,
        learner: Callable[[Observation], Action] | None = None,
        beta: float = 0.0,
    ) -> None:
        self.viewpoint = viewpoint
        self.learner = learner
        self.beta = beta
        self.recording = Recording("", 0, "")
        self._desktop: SandboxDesktop | None = None
        self._task: Task | None = None
        self._random = random.Random(0)
        self._said: list[Action] = []
        self._taken_for: Action | None = None

    def attach(self, desktop: SandboxDesktop, task: Task) -> None:
        if task.oracle is None:
            raise AgentError(f"{task.id} has no oracle", hint="tasks of a suite have one")
        self._desktop, self._task = desktop, task
        self.recording = Recording(task.id, task.seed or 0, task.split or "train")
        self._said, self._taken_for = [], None

    def begin(self, task: TaskView) -> None:
        self._random.seed(task.seed)

    def act(self, observation: Observation) -> Action:
        assert self._desktop is not None
        assert self._task is not None
        assert self._task.oracle is not None
        try:
            wanted = self._task.oracle.act(View(self._desktop, self._taken_for or observation.last_action))
        except OperantError:
            if self.learner is None:
                raise
            return Action.fail("the oracle does not know how to go on from here")
        self._said.append(wanted)
        driven = self.learner is not None and self._random.random() >= self.beta
        seen = self._record(observation, wanted, driven)
        self._taken_for = None
        if len(self._said) > ENDLESS and all(one == wanted for one in self._said[-ENDLESS:]):
            return Action.fail("the oracle keeps saying the same")
        if not driven or self.learner is None:
            return wanted
        chosen = self.learner(observation)
        # Nothing is learned from the same state twice: the oracle leads out of a circle.
        if goes_in_circles(observation.history, chosen):
            return wanted
        # Oracles tell by the last action where they are, and know their own, to the pixel.
        self._taken_for = wanted if self.viewpoint.same(wanted, chosen, seen) else None
        return chosen

    def _record(self, observation: Observation, wanted: Action, driven: bool) -> Arrays:
        seen = self.viewpoint.perceive(observation)
        try:
            label = self.viewpoint.label(wanted, seen)
        except ActionNotExpressible as error:
            self.recording.inexpressible.append(error.message)
            return seen
        patch = self.viewpoint.patch(observation, wanted)
        self.recording.lessons.append(Lesson(seen, label, patch, driven))
        return seen


def list_demonstrations(directory: Path) -> list[Path]:
    """The files of a collection, in a fixed order."""
    if not directory.is_dir():
        raise ResultsError(f"there are no demonstrations in {directory}", hint="run operant demos collect")
    return sorted(path for path in directory.glob("*.npz") if not path.name.startswith("."))


def read_demonstration(path: Path) -> tuple[dict[str, Any], Arrays]:
    """What the episode was, and its arrays. No file can run code: pickled arrays are refused."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        return json.loads(arrays.pop("about").tobytes()), arrays
    except (OSError, ValueError, KeyError, EOFError) as error:
        raise ResultsError(f"{path} is not a demonstration: {error}") from error
