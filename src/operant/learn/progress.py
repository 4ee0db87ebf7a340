"""How a run goes: counters, moving averages over episodes, and the reports: one while it plays, one for each update."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from operant.learn.collect import CollectedRollout, Ended
from operant.learn.ppo import Learned

__all__ = ["Phase", "RunStatus", "TrainingProgress", "UpdateReport"]

WINDOW = 100  # episodes

Phase = Literal["starting", "collecting", "learning"]


@dataclass(frozen=True)
class RunStatus:
    """How far a run is at this moment, also in the middle of a rollout."""

    phase: Phase
    step: int
    total: int
    rollout_step: int
    """Steps of the rollout that is being collected."""
    rollout_steps: int
    """How many it will have."""
    update: int
    """Updates so far."""
    episodes: int
    discarded: int
    success_rate: float | None
    """Of the last hundred episodes; None before the first one has ended."""
    counted: int
    """How many episodes that rate is of."""
    fps: float
    """Environment steps a second since this process began to train."""
    left_s: float | None
    seconds: float


@dataclass(frozen=True)
class UpdateReport:
    """One update, for logs and for people."""

    update: int
    updates: int
    """About how many there will be."""
    step: int
    total: int
    seconds: float
    """Since the run began, those before an interruption included."""
    fps: float
    """Environment steps a second since this process began to train."""
    mean_reward: float
    success_rate: float
    mean_length: float
    episodes: int
    discarded: int
    """Episodes that were lost to the machine, so far."""
    skipped: int
    """Gradient steps that were skipped, so far."""
    learning_rate: float
    stage: str
    learned: Learned
    ended: Sequence[Ended]
    kinds: Mapping[str, int]
    tasks: Mapping[str, float]
    """Success rate of each task over its last episodes."""
    collect_s: float
    learn_s: float


class TrainingProgress:
    """Everything that is counted. Episodes that were lost to the machine are counted apart."""

    def __init__(self) -> None:
        self.step = 0
        self.update = 0
        self.episodes = 0
        self.successes = 0
        self.discarded = 0
        self.skipped = 0
        self.seconds_before = 0.0
        self._rewards: deque[float] = deque(maxlen=WINDOW)
        self._successes: deque[bool] = deque(maxlen=WINDOW)
        self._lengths: deque[int] = deque(maxlen=WINDOW)
        self._tasks: dict[str, deque[bool]] = {}
        self.begin()

    def begin(self) -> None:
        """The clock of this process starts now."""
        self._began, self._began_at = time.monotonic(), self.step

    @property
    def seconds(self) -> float:
        return self.seconds_before + time.monotonic() - self._began

    @property
    def fps(self) -> float:
        return (self.step - self._began_at) / max(1e-9, time.monotonic() - self._began)

    @property
    def success_rate(self) -> float:
        return _mean(self._successes)

    @property
    def mean_reward(self) -> float:
        return _mean(self._rewards)

    @property
    def mean_length(self) -> float:
        return _mean(self._lengths)

    @property
    def tasks(self) -> dict[str, float]:
        return {task: _mean(recent) for task, recent in sorted(self._tasks.items())}

    def status(self, phase: Phase, total: int, rollout: tuple[int, int]) -> RunStatus:
        """How far it is; ``rollout`` has steps that were made and steps that are wanted."""
        fps = self.fps
        counted = len(self._successes)
        return RunStatus(
            phase=phase,
            step=self.step,
            total=total,
            rollout_step=rollout[0],
            rollout_steps=rollout[1],
            update=self.update,
            episodes=self.episodes,
            discarded=self.discarded,
            success_rate=self.success_rate if counted else None,
            counted=counted,
            fps=fps,
            left_s=max(0, total - self.step) / fps if self.step > self._began_at else None,
            seconds=self.seconds,
        )

    def add(self, collected: CollectedRollout, learned: Learned, steps: int) -> None:
        """A rollout was collected and learned from."""
        self.update += 1
        self.skipped += learned.skipped
        self.count(steps, collected.episodes)

    def count(self, steps: int, episodes: Sequence[Ended]) -> None:
        """Steps were made, and these episodes have ended."""
        self.step += steps
        for ended in episodes:
            if ended.discard:
                self.discarded += 1
                continue
            self.episodes += 1
            self.successes += ended.success
            self._rewards.append(ended.reward)
            self._successes.append(ended.success)
            self._lengths.append(ended.steps)
            self._tasks.setdefault(ended.task, deque(maxlen=WINDOW)).append(ended.success)

    # What a checkpoint keeps.

    def state_dict(self) -> dict[str, Any]:
        return {
            "step": self.step,
            "update": self.update,
            "episodes": self.episodes,
            "successes": self.successes,
            "discarded": self.discarded,
            "skipped": self.skipped,
            "seconds": self.seconds,
            "rewards": list(self._rewards),
            "recent": list(self._successes),
            "lengths": list(self._lengths),
            "tasks": {task: list(recent) for task, recent in self._tasks.items()},
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self.step, self.update = int(state["step"]), int(state["update"])
        self.episodes, self.successes = int(state["episodes"]), int(state["successes"])
        self.discarded, self.skipped = int(state["discarded"]), int(state["skipped"])
        self.seconds_before = float(state["seconds"])
        self._rewards = deque(state["rewards"], maxlen=WINDOW)
        self._successes = deque(state["recent"], maxlen=WINDOW)
        self._lengths = deque(state["lengths"], maxlen=WINDOW)
        self._tasks = {task: deque(recent, maxlen=WINDOW) for task, recent in state["tasks"].items()}
        self.begin()


def _mean(values: Sequence[float] | deque[float] | deque[bool] | deque[int]) -> float:
    return sum(values) / len(values) if values else 0.0
