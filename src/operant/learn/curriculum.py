"""Which tasks are played when: a weight for each task, from what came of the episodes so far.

| strategy            | plays                                                                                  |
|---------------------|----------------------------------------------------------------------------------------|
| `none`              | all alike                                                                              |
| `stages`            | EASY, then MEDIUM, then HARD, as the success rate of each passes its threshold         |
| `learning_progress` | where success changes, up or down (after Kanitscheider et al., 2021)                   |
| `variance`          | where it is least certain: p (1 - p)                                                   |

Each keeps a share of the episodes (``rehearsal``) for what is over or well known, against forgetting. Knows tasks by
their ids only; the task source asks for ``weights``, from any thread.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from operant.config.learning import CurriculumConfig
from operant.config.usual import warn_unusual
from operant.errors import CheckpointError, ConfigError

__all__ = ["Curriculum", "LearningProgress", "Stages", "Uniform", "Variance", "make_curriculum"]

ORDER = ("EASY", "MEDIUM", "HARD")
FLOOR = 0.02  # weight of a task that seems to have nothing to teach, so that it can prove otherwise


class Curriculum(ABC):
    """``stages`` are the ids of the tasks by difficulty, easiest first."""

    def __init__(self, stages: Mapping[str, Sequence[str]], config: CurriculumConfig | None = None) -> None:
        self.config = config if config is not None else CurriculumConfig()
        self.stages = {name: tuple(tasks) for name, tasks in stages.items() if tasks}
        if not self.stages:
            raise ConfigError("a curriculum needs tasks")
        self.tasks = tuple(task for tasks in self.stages.values() for task in tasks)
        self._lock = threading.Lock()

    @property
    def stage(self) -> str:
        """For people: where it stands; nothing if there is nothing to say."""
        return ""

    def weights(self) -> dict[str, float]:
        """How often each task should be played; the weights sum up to 1."""
        with self._lock:
            return self._weights()

    def record(self, task: str, success: bool) -> None:
        """An episode is over. Those that were lost to the machine are not to be recorded."""
        with self._lock:
            self._record(task, success)

    def advance(self, steps: int) -> None:
        """So many more environment steps were made."""
        with self._lock:
            self._advance(steps)

    @abstractmethod
    def _weights(self) -> dict[str, float]: ...

    def _record(self, task: str, success: bool) -> None:  # noqa: B027 - some strategies learn nothing
        """Called with the lock held."""

    def _advance(self, steps: int) -> None:  # noqa: B027
        """Called with the lock held."""

    # What a checkpoint keeps.

    def state_dict(self) -> dict[str, Any]:
        with self._lock:
            return {"strategy": self.config.strategy, "tasks": list(self.tasks), **self._state()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        if state.get("strategy") != self.config.strategy or list(state.get("tasks", ())) != list(self.tasks):
            raise CheckpointError(
                "the checkpoint is of a run with another curriculum or other tasks",
                hint="resume with the same --curriculum, --difficulty and --tasks, or start anew with --init-from",
            )
        with self._lock:
            self._load(state)

    def _state(self) -> dict[str, Any]:
        return {}

    def _load(self, state: Mapping[str, Any]) -> None:  # noqa: B027
        """Called with the lock held."""


class Uniform(Curriculum):
    """All tasks alike."""

    def _weights(self) -> dict[str, float]:
        return dict.fromkeys(self.tasks, 1 / len(self.tasks))


class Stages(Curriculum):
    """One difficulty after another. Only episodes of the current one count towards its threshold."""

    def __init__(
        self,
        stages: Mapping[str, Sequence[str]],
        config: CurriculumConfig | None = None,
        start: str | None = None,
    ) -> None:
        super().__init__(stages, config)
        self._names = tuple(self.stages)
        if start is not None and start not in self.stages:
            raise ConfigError(f"there are no {start} tasks", hint=f"stages: {', '.join(self._names)}")
        self._at = 0 if start is None else self._names.index(start)
        self._steps = 0
        self._recent: deque[bool] = deque(maxlen=self.config.window)

    @property
    def stage(self) -> str:
        return self._names[self._at]

    @property
    def success_rate(self) -> float:
        return sum(self._recent) / len(self._recent) if self._recent else 0.0

    def _weights(self) -> dict[str, float]:
        old = [task for name in self._names[: self._at] for task in self.stages[name]]
        share = self.config.rehearsal if old else 0.0
        now = self.stages[self.stage]
        return dict.fromkeys(self.tasks, 0.0) | {
            **{task: share / len(old) for task in old},
            **{task: (1 - share) / len(now) for task in now},
        }

    def _record(self, task: str, success: bool) -> None:
        if task in self.stages[self.stage]:
            self._recent.append(success)
            self._move()

    def _advance(self, steps: int) -> None:
        self._steps += steps
        self._move()

    def _move(self) -> None:
        thresholds = {"EASY": self.config.easy_threshold, "MEDIUM": self.config.medium_threshold}
        if (
            self._at + 1 < len(self._names)
            and self._steps >= self.config.min_steps_per_stage
            and len(self._recent) == self.config.window
            and self.success_rate >= thresholds.get(self.stage, 1.0)
        ):
            self._at, self._steps = self._at + 1, 0
            self._recent.clear()

    def _state(self) -> dict[str, Any]:
        return {"at": self._at, "steps": self._steps, "recent": list(self._recent)}

    def _load(self, state: Mapping[str, Any]) -> None:
        self._at, self._steps = int(state["at"]), int(state["steps"])
        self._recent = deque(state["recent"], maxlen=self.config.window)


class _ByTask(Curriculum):
    """Weights from how each task goes; tasks that were hardly played count as promising."""

    @abstractmethod
    def _worth(self, task: str) -> float: ...

    def _weights(self) -> dict[str, float]:
        worth = {task: max(FLOOR, self._worth(task)) for task in self.tasks}
        total = sum(worth.values())
        share = self.config.rehearsal
        return {task: (1 - share) * worth[task] / total + share / len(worth) for task in self.tasks}


class LearningProgress(_ByTask):
    """A fast and a slow moving average of success; their distance is how much is being learned or forgotten."""

    def __init__(self, stages: Mapping[str, Sequence[str]], config: CurriculumConfig | None = None) -> None:
        super().__init__(stages, config)
        self._slowness = 2.0 / (self.config.window + 1)
        self._fast: dict[str, float] = {}
        self._slow: dict[str, float] = {}
        self._count = dict.fromkeys(self.tasks, 0)

    def _record(self, task: str, success: bool) -> None:
        if task not in self._count:
            return
        self._count[task] += 1
        # Nothing is known at first, and a new task is taken for one that always failed.
        fast, slow = self._fast.get(task, 0.0), self._slow.get(task, 0.0)
        self._fast[task] = fast + min(1.0, 5 * self._slowness) * (success - fast)
        self._slow[task] = slow + self._slowness * (success - slow)

    def _worth(self, task: str) -> float:
        if self._count[task] < 5:
            return 0.25
        return abs(self._fast[task] - self._slow[task])

    def _state(self) -> dict[str, Any]:
        return {"fast": dict(self._fast), "slow": dict(self._slow), "count": dict(self._count)}

    def _load(self, state: Mapping[str, Any]) -> None:
        self._fast, self._slow = dict(state["fast"]), dict(state["slow"])
        self._count = dict(state["count"])


class Variance(_ByTask):
    """p (1 - p), with p over the last episodes of each task and two imagined ones: a success and a failure."""

    def __init__(self, stages: Mapping[str, Sequence[str]], config: CurriculumConfig | None = None) -> None:
        super().__init__(stages, config)
        self._recent: dict[str, deque[bool]] = {task: deque(maxlen=self.config.window) for task in self.tasks}

    def _record(self, task: str, success: bool) -> None:
        if task in self._recent:
            self._recent[task].append(success)

    def _worth(self, task: str) -> float:
        recent = self._recent[task]
        p = (sum(recent) + 1) / (len(recent) + 2)
        return p * (1 - p)

    def _state(self) -> dict[str, Any]:
        return {"recent": {task: list(recent) for task, recent in self._recent.items()}}

    def _load(self, state: Mapping[str, Any]) -> None:
        self._recent = {
            task: deque(recent, maxlen=self.config.window) for task, recent in state["recent"].items()
        }


def make_curriculum(
    stages: Mapping[str, Sequence[str]], config: CurriculumConfig | None = None, *, start: str | None = None
) -> Curriculum:
    """The strategy that the settings name; ``start`` is the first stage of ``stages``."""
    config = config if config is not None else CurriculumConfig()
    if config.strategy != "none":
        warn_unusual(config)
    known = {name: stages[name] for name in (*ORDER, *(set(stages) - set(ORDER))) if name in stages}
    if config.strategy == "stages":
        return Stages(known, config, start)
    kinds: dict[str, Callable[..., Curriculum]] = {
        "none": Uniform,
        "learning_progress": LearningProgress,
        "variance": Variance,
    }
    return kinds[config.strategy](known, config)
