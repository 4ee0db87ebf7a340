"""The cold start's data: episodes of the tasks' oracles, in the words of the model that shall learn them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
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
ROUND = 50  # episodes that are handed out together


def demonstrations(
    runner: TaskRunner,
    source: TaskSource,
    vlm: VLMWrapper,
    count: int,
    seed: int,
    tell: Callable[[str], None] = lambda line: None,
    at_once: int = 1,
) -> list[Trajectory]:
    """So many successes of the oracle. Those that its words can't express or that fail are left out.

    Which ones does not depend on how many are played ``at_once``.
    """
    random = np.random.default_rng([seed, 1])  # not the instances that learning draws
    words = threading.Lock()  # tokenizers are not safe for threads

    def tokens(text: str) -> list[int]:
        with words:
            return vlm.tokens(text)

    def play(job: Job) -> Trajectory:
        agent = Demonstrator(runner.prompt, vlm.family.units, vlm.shown, tokens)
        return runner.run_episode(job, agent=agent)

    found: list[Trajectory] = []
    tried, why = 0, ""
    with ThreadPoolExecutor(at_once, thread_name_prefix="operant-show") as players:
        while len(found) < count and tried < count * PATIENCE:
            wanted = min(ROUND, count - len(found), count * PATIENCE - tried)
            jobs = [Job(source.draw(random), f"shown@{tried + number}") for number in range(wanted)]
            tried += wanted
            for job, trajectory in zip(jobs, players.map(play, jobs), strict=True):
                if trajectory.success:
                    found.append(replace(trajectory, id=""))
                else:
                    why = f"{job.task.id}: {trajectory.outcome.value}"
            tell(f"{len(found)} of {count} demonstrations")
    if len(found) < count:
        raise TaskError(
            f"only {len(found)} of {tried} demonstrations succeeded, the last failure was {why}",
            hint="can prompt.action_format express what these tasks need, within max_steps_per_episode?",
        )
    return found
