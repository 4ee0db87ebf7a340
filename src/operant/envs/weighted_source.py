"""Tasks drawn by weights that change while they are played: how a curriculum reaches the environments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np

from operant.config.desktop import Profile
from operant.envs.task_source import MOST_SEEDS, TaskSource
from operant.errors import TaskError
from operant.tasks.task import Task
from operant.tasks.template import Template

__all__ = ["TaskWeights", "WeightedSource"]


class TaskWeights(Protocol):
    """Says how often each task should be played, by its id."""

    def weights(self) -> Mapping[str, float]: ...


class WeightedSource(TaskSource):
    """Asks for the weights at every draw."""

    def __init__(
        self,
        tasks: Sequence[Task | Template],
        weights: TaskWeights,
        split: str = "train",
        *,
        profile: Profile | None = None,
    ) -> None:
        super().__init__(tasks, split, profile=profile)
        self.weights = weights

    def draw(self, random: np.random.Generator) -> Task:
        weights = self.weights.weights()
        wanted = np.array([max(0.0, weights.get(task.id, 0.0)) for task in self.tasks])
        if wanted.sum() <= 0:
            raise TaskError(
                "no task has a weight", hint="the curriculum knows other tasks than the environment"
            )
        chosen = self.tasks[int(random.choice(len(wanted), p=wanted / wanted.sum()))]
        seed = int(random.integers(MOST_SEEDS))
        return self.instance(chosen, seed)
