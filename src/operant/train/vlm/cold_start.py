"""The cold start's data: episodes of the tasks' oracles, in the words of the model that shall learn them.

Each demonstration is on disk as soon as it has ended. A run that goes on draws the same tasks in the same order and
plays only those that are not there.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np

from operant.agents.vlm.trajectory import Trajectory
from operant.config.vlm_training import VLMTrainingConfig
from operant.envs.task_source import TaskSource
from operant.errors import TaskError
from operant.train.vlm.rollouts import RolloutJob
from operant.train.vlm.trajectory_store import TrajectoryStore

__all__ = ["Play", "demonstrations"]

PATIENCE = 3  # tries for each demonstration that is wanted
ROUND = 50  # episodes that are handed out together
TOLD_S = 5.0  # between two lines of progress

Play = Callable[[Iterable[RolloutJob], Callable[[Trajectory], None]], None]
"""Lets oracles play, and hands over each episode when it ends, one at a time."""


def demonstrations(
    play: Play,
    source: TaskSource,
    config: VLMTrainingConfig,
    store: TrajectoryStore,
    on_progress: Callable[[str], None] = lambda line: None,
) -> list[Trajectory]:
    """So many successes of the oracle. Those that its words can't express or that fail are left out.

    Which ones does not depend on how many are played at once, nor on interruptions.
    """
    count, seed = config.training.demonstrations, config.training.seed
    random = np.random.default_rng([seed, 1])  # not the instances that learning draws
    words = _words(config)
    ended = {one.group: one for one in store.load() if one.group.startswith(words)}
    if ended:
        successes = sum(one.success for one in ended.values())
        on_progress(f"{successes} of {count} demonstrations were played before")
    found: list[Trajectory] = []
    tried, told = 0, time.monotonic()

    def keep(trajectory: Trajectory) -> None:
        nonlocal told
        if (
            trajectory.outcome.is_experience
        ):  # else it says nothing, and is played again by a run that goes on
            store.add(replace(trajectory, id=trajectory.group))
        ended[trajectory.group] = trajectory
        if time.monotonic() - told >= TOLD_S:
            told = time.monotonic()
            on_progress(f"{sum(one.success for one in ended.values())} of {count} demonstrations")

    while len(found) < count and tried < count * PATIENCE:
        wanted = min(ROUND, count - len(found), count * PATIENCE - tried)
        jobs = [
            RolloutJob(source.draw(random), group=f"{words}@{tried + number}") for number in range(wanted)
        ]
        missing = [job for job in jobs if not _is_of(ended.get(job.group), job)]
        if missing:
            play(missing, keep)
        # An episode may be missing: gone with its machine.
        found += [one for job in jobs if (one := ended.get(job.group)) is not None and one.success]
        tried += wanted
        if missing:
            on_progress(f"{len(found)} of {count} demonstrations")
    if len(found) < count:
        failed = [one for one in ended.values() if not one.success]
        why = f"{failed[-1].task}: {failed[-1].outcome.value}" if failed else "their machines went away"
        raise TaskError(
            f"only {len(found)} of {tried} demonstrations succeeded, the last failure was {why}",
            hint="can prompt.action_format express what these tasks need, within max_steps_per_episode?",
        )
    return [replace(one, id="") for one in found]


def _words(config: VLMTrainingConfig) -> str:
    """Names demonstrations by what they are made with: those of other settings don't count."""
    rules = {"max_steps_per_episode", "end_on_success", "success_reward", "invalid_reward"}
    written = (
        config.model.model_dump_json(include={"name", "max_pixels"})
        + config.prompt.model_dump_json()
        + config.desktop.model_dump_json()
        + config.actor.model_dump_json(include=rules)
    )
    return f"shown-{hashlib.blake2b(written.encode(), digest_size=4).hexdigest()}"


def _is_of(one: Trajectory | None, job: RolloutJob) -> bool:
    return one is not None and (one.task, one.seed) == (job.task.id, job.task.seed or 0)
