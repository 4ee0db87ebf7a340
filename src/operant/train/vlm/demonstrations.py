"""The cold start's data: episodes of the tasks' oracles, in the words of the model that shall learn them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from operant.agents.vlm.demonstrator import Demonstrator
from operant.agents.vlm.trajectory import Trajectory
from operant.agents.vlm.wrapper import VLMWrapper
from operant.envs.task_source import TaskSource
from operant.errors import TaskError
from operant.rollout.actors import Job, TaskRunner

__all__ = ["demonstrations"]

PATIENCE = 3  # tries for each demonstration that is wanted


def demonstrations(
    runner: TaskRunner,
    source: TaskSource,
    vlm: VLMWrapper,
    count: int,
    seed: int,
    tell: Callable[[str], None] = lambda line: None,
) -> list[Trajectory]:
    """So many successes of the oracle. Those that its words can't express or that fail are left out."""
    random = np.random.default_rng([seed, 1])  # not the instances that learning draws
    agent = Demonstrator(runner.prompt, vlm.family.units, vlm.shown, vlm.tokens)
    found: list[Trajectory] = []
    why = ""
    for number in range(count * PATIENCE):
        if len(found) == count:
            break
        task = source.draw(random)
        trajectory = runner.run_episode(Job(task, f"shown@{number}"), agent=agent)
        if trajectory.success:
            found.append(replace(trajectory, id=""))
            if len(found) % 50 == 0:
                tell(f"{len(found)} of {count} demonstrations")
        else:
            why = f"{task.id}: {trajectory.outcome.value}"
    if len(found) < count:
        raise TaskError(
            f"only {len(found)} of {count * PATIENCE} demonstrations succeeded, the last failure was {why}",
            hint="can prompt.action_format express what these tasks need, within max_steps_per_episode?",
        )
    return found
