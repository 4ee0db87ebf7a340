"""What is asked for: which tasks, which instances. Made in full before any desktop starts.

The plan is the denominator of every rate; an episode that never came to an end still counts in it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from loguru import logger

from operant.config.desktop import Profile
from operant.errors import ConfigError, TaskError
from operant.rollout import layout
from operant.types import Difficulty

if TYPE_CHECKING:
    from operant.tasks.task import Task

__all__ = ["Asked", "Instances", "plan_episodes"]


@dataclass(frozen=True, slots=True)
class Asked:
    """One episode that was asked for, as it is written down beside the results."""

    task: str
    split: str | None
    seed: int | None
    difficulty: Difficulty
    apps: tuple[str, ...]
    unseen: bool
    directory: str
    """Where its episode goes, below the agent's directory."""

    @classmethod
    def of(cls, task: Task) -> Asked:
        name = layout.episode_name(task.id, task.split, task.seed)
        directory = f"{layout.domain(task.apps)}/{name}"
        return cls(task.id, task.split, task.seed, task.difficulty, task.apps, task.unseen, directory)

    def to_json(self) -> dict[str, Any]:
        return {
            "task": self.task,
            "split": self.split,
            "seed": self.seed,
            "difficulty": self.difficulty.value,
            "apps": list(self.apps),
            "unseen": self.unseen,
            "directory": self.directory,
        }

    @classmethod
    def from_json(cls, form: Mapping[str, Any]) -> Asked:
        directory = str(form["directory"])
        if Path(directory).is_absolute() or ".." in Path(directory).parts:
            raise ValueError(f"{directory!r} is not below the agent's directory")
        return cls(
            str(form["task"]),
            form["split"],
            form["seed"],
            Difficulty(form["difficulty"]),
            tuple(form["apps"]),
            bool(form["unseen"]),
            directory,
        )

    @property
    def draw_seed(self) -> int:
        """For agents that draw: differs between episodes, and never between two runs of the same one."""
        return int.from_bytes(hashlib.sha256(self.directory.encode()).digest()[:6], "big")


class Instances(Protocol):
    """A template of a suite, or a task of a file, which may have no blanks to fill."""

    @property
    def difficulty(self) -> Difficulty: ...

    def instance(self, seed: int, split: str) -> Task: ...


def plan_episodes(
    templates: Iterable[Instances],
    seeds: Sequence[int],
    *,
    split: str = "heldout",
    difficulty: Difficulty | None = None,
    limit: int | None = None,
    max_steps: int | None = None,
    profile: Profile | None = None,
) -> list[Task]:
    """An instance of every template, or of the first ``limit``, for every seed, one seed after the other; ``max_steps``
    and ``profile`` in place of each task's own. A template in which nothing is drawn has one instance, with a warning."""
    wanted = [template for template in templates if difficulty in (None, template.difficulty)][:limit]
    if not wanted:
        which = f" of difficulty {difficulty.value}" if difficulty else ""
        raise ConfigError(f"there are no tasks{which} to evaluate")
    instances = [
        _distinct([_instance(template, seed, split, max_steps, profile) for seed in seeds])
        for template in wanted
    ]
    # One seed after the other; a template whose instances are all the same has but the first.
    tasks = [task for row in zip_longest(*instances) for task in row if task is not None]
    seen: set[str] = set()
    for task in tasks:
        directory = Asked.of(task).directory
        if directory in seen:
            raise TaskError(f"two tasks are called {task.id}", hint="every task needs an id of its own")
        seen.add(directory)
    return tasks


def _distinct(instances: list[Task]) -> list[Task]:
    """The instances of a template, or one of them if all are the same: counting it twice would show nothing more."""
    first = instances[0]
    if len(instances) == 1 or any(
        (one.instruction, one.parameters, one.setup) != (first.instruction, first.parameters, first.setup)
        for one in instances[1:]
    ):
        return instances
    logger.warning(
        "{}: nothing is drawn in it, so its {} episodes are the same; it is played once",
        first.id,
        len(instances),
    )
    return [first]


def _instance(
    template: Instances, seed: int, split: str, max_steps: int | None, profile: Profile | None
) -> Task:
    task = template.instance(seed, split)
    # The seed of a task without blanks only tells its episodes apart.
    return replace(task, seed=seed, max_steps=max_steps or task.max_steps, profile=profile or task.profile)
