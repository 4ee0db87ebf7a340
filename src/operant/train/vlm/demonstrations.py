"""The cold start's data: episodes of the tasks' oracles, in the words of the model that shall learn them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

import numpy as np

from operant.agents.vlm.trajectory import Trajectory
from operant.envs.task_source import TaskSource
from operant.errors import TaskError
from operant.rollout.actors import Job

__all__ = ["demonstrations"]

PATIENCE = 3  # tries for each demonstration that is wanted


def demonstrations(
    play: Callable[[Iterable[Job]], Iterator[Trajectory]],
    source: TaskSource,
    count: int,
    seed: int,
    tell: Callable[[str], None] = lambda line: None,
) -> list[Trajectory]:
    """So many successes of the oracle. Those that its words can't express or that fail are left out."""
    random = np.random.default_rng([seed, 1])  # not the instances that learning draws
    jobs = (Job(source.draw(random), f"shown@{number}") for number in range(count * PATIENCE))
    found: list[Trajectory] = []
    why = ""
    for trajectory in play(jobs):
        if not trajectory.success:
            why = f"{trajectory.task}: {trajectory.outcome.value}"
            continue
        found.append(replace(trajectory, id=""))
        if len(found) == count:
            return found
        if len(found) % 50 == 0:
            tell(f"{len(found)} of {count} demonstrations")
    raise TaskError(
        f"only {len(found)} of {count * PATIENCE} demonstrations succeeded, the last failure was {why}",
        hint="can prompt.action_format express what these tasks need, within max_steps_per_episode?",
    )
