"""The cold start's data: episodes of the tasks' oracles, in the words of the model that shall learn them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

import numpy as np

from operant.agents.vlm.trajectory import Trajectory
from operant.envs.task_source import TaskSource
from operant.errors import TaskError
from operant.train.vlm.rollouts import RolloutJob

__all__ = ["demonstrations"]

PATIENCE = 3  # tries for each demonstration that is wanted
ROUND = 50  # episodes that are handed out together


def demonstrations(
    play: Callable[[Iterable[RolloutJob]], Iterator[Trajectory]],
    source: TaskSource,
    count: int,
    seed: int,
    on_progress: Callable[[str], None] = lambda line: None,
) -> list[Trajectory]:
    """So many successes of the oracle. Those that its words can't express or that fail are left out.

    Which ones does not depend on how many are played at once, as long as ``play`` keeps their order.
    """
    random = np.random.default_rng([seed, 1])  # not the instances that learning draws
    found: list[Trajectory] = []
    tried, why = 0, ""
    while len(found) < count and tried < count * PATIENCE:
        wanted = min(ROUND, count - len(found), count * PATIENCE - tried)
        for trajectory in play(
            RolloutJob(source.draw(random), group=f"shown@{tried + number}") for number in range(wanted)
        ):
            if trajectory.success:
                found.append(replace(trajectory, id=""))
            else:
                why = f"{trajectory.task}: {trajectory.outcome.value}"
        tried += wanted
        on_progress(f"{len(found)} of {count} demonstrations")
    if len(found) < count:
        raise TaskError(
            f"only {len(found)} of {tried} demonstrations succeeded, the last failure was {why}",
            hint="can prompt.action_format express what these tasks need, within max_steps_per_episode?",
        )
    return found
