"""Recorders: who keeps what happens in an episode, and several of them at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from operant.rollout.episode import EpisodeResult, Step
from operant.types import Observation

if TYPE_CHECKING:
    from operant.tasks.task import Task

__all__ = ["Recorder", "Recorders", "StepRecorder"]


class Recorder(Protocol):
    """Is told of everything that happens in one episode."""

    def begin(self, task: Task) -> None: ...

    def look(self, observation: Observation) -> None:
        """The first observation."""

    def step(self, step: Step, observation: Observation) -> None:
        """A step, and what was seen after it."""

    def end(self, result: EpisodeResult) -> None: ...

    def abandon(self) -> None:
        """The episode was stopped; what there is stays."""


class Recorders:
    """Several recorders, told one after the other."""

    def __init__(self, *recorders: Recorder) -> None:
        self._recorders = recorders

    def begin(self, task: Task) -> None:
        for recorder in self._recorders:
            recorder.begin(task)

    def look(self, observation: Observation) -> None:
        for recorder in self._recorders:
            recorder.look(observation)

    def step(self, step: Step, observation: Observation) -> None:
        for recorder in self._recorders:
            recorder.step(step, observation)

    def end(self, result: EpisodeResult) -> None:
        for recorder in self._recorders:
            recorder.end(result)

    def abandon(self) -> None:
        for recorder in self._recorders:
            recorder.abandon()


class StepRecorder:
    """Keeps the steps in memory, without their screens."""

    def __init__(self) -> None:
        self.steps: list[Step] = []

    def begin(self, task: Task) -> None:
        self.steps = []

    def look(self, observation: Observation) -> None: ...

    def step(self, step: Step, observation: Observation) -> None:
        self.steps.append(step)

    def end(self, result: EpisodeResult) -> None: ...

    def abandon(self) -> None: ...
