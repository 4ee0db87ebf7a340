"""Where an environment's tasks come from: a suite, a split and a difficulty, or a list of one's own.

Tasks that are marked unseen are never drawn for training.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from operant.config.desktop import Profile
from operant.errors import TaskError
from operant.tasks.draw import SPLITS
from operant.tasks.suites import load_suite
from operant.tasks.task import Task
from operant.tasks.template import Template
from operant.types import Difficulty

__all__ = ["TaskSource"]

MOST_SEEDS = 2**31 - 1


class TaskSource:
    """Draws tasks, every template as often as any other. Anything with this ``draw`` can stand in for it."""

    def __init__(
        self,
        tasks: Sequence[Task | Template],
        split: str = "train",
        *,
        profile: Profile | None = None,
        max_steps: int | None = None,
    ) -> None:
        """``profile`` and ``max_steps`` in place of each task's own."""
        if split not in SPLITS:
            near = difflib.get_close_matches(str(split), SPLITS, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"splits are {' and '.join(SPLITS)}"
            raise TaskError(f"{split!r} is not a split", hint=hint)
        strange = [task for task in tasks if not isinstance(task, (Task, Template))]
        if strange:
            raise TaskError(f"{strange[0]!r} is neither a task nor a template")
        if not tasks:
            raise TaskError("there are no tasks to draw from")
        self.tasks = tuple(tasks)
        self.split = split
        self.profile = profile
        self.max_steps = max_steps

    @classmethod
    def of(
        cls,
        suite: str = "core",
        split: str = "train",
        difficulty: str | Difficulty | Sequence[str | Difficulty] | None = None,
        *,
        tasks: Sequence[Task | Template] | str | os.PathLike[str] | None = None,
        apps: Sequence[str] | None = None,
        unseen: bool = False,
    ) -> TaskSource:
        """The templates of a suite with those difficulties; the unseen ones only if asked for.

        ``tasks`` are taken as they are, in place of the suite: a list, or the path of a file of tasks.
        """
        if tasks is not None:
            listed = load_suite(os.fspath(tasks)) if isinstance(tasks, str | os.PathLike) else tasks
            return cls(listed, split)
        if unseen and split == "train":
            raise TaskError("unseen tasks are never trained on", hint='say split="heldout"')
        wanted = _difficulties(difficulty)
        found = [
            template
            for template in load_suite(suite)
            if template.difficulty in wanted
            and template.unseen == unseen
            and (apps is None or set(template.apps) <= set(apps))
        ]
        if not found:
            names = "/".join(sorted(level.value for level in wanted))
            kind = "unseen " if unseen else ""
            only = f" that need only {', '.join(apps)}" if apps is not None else ""
            raise TaskError(f"the suite {suite!r} has no {kind}{names} tasks{only}")
        return cls(found, split)

    def draw(self, random: np.random.Generator) -> Task:
        """The next task: a template, and a seed that fills it in."""
        chosen = self.tasks[int(random.integers(len(self.tasks)))]
        seed = int(random.integers(MOST_SEEDS))
        return self.instance(chosen, seed)

    def instance(self, chosen: Task | Template, seed: int) -> Task:
        """A task as it is played here."""
        task = chosen if isinstance(chosen, Task) else chosen.instance(seed, self.split)
        profile = task.profile if self.profile is None else self.profile
        max_steps = task.max_steps if self.max_steps is None else self.max_steps
        if (profile, max_steps) == (task.profile, task.max_steps):
            return task
        return replace(task, profile=profile, max_steps=max_steps)

    def find(self, identifier: str, seed: int | None, random: np.random.Generator) -> Task:
        """The task of that id, with that seed or with one that is drawn."""
        for one in self.tasks:
            if one.id == identifier:
                seed = int(random.integers(MOST_SEEDS)) if seed is None else seed
                return self.instance(one, seed)
        near = difflib.get_close_matches(identifier, [one.id for one in self.tasks], 1)
        raise TaskError(f"no task {identifier!r} here", hint=f"did you mean {near[0]!r}?" if near else None)


def _difficulties(given: str | Difficulty | Sequence[str | Difficulty] | None) -> set[Difficulty]:
    if given is None:
        return set(Difficulty)
    names = [given] if isinstance(given, (str, Difficulty)) else list(given)
    found = set()
    for name in names:
        try:
            found.add(Difficulty(name.upper() if isinstance(name, str) else name))
        except ValueError as error:
            levels = [level.value for level in Difficulty]
            near = difflib.get_close_matches(str(name).upper(), levels, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"difficulties: {', '.join(levels)}"
            raise TaskError(f"{name!r} is not a difficulty", hint=hint) from error
    return found
