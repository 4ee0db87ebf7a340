"""The job queue of an environment actor: what the experience store of the cluster hands out and takes back."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import ray
from ray.exceptions import RayError

from operant.agents.vlm.trajectory import Trajectory
from operant.cluster.experience_actor import Ticket
from operant.envs.task_source import TaskSource
from operant.rollout.job_runner import PlayStats
from operant.rollout.loop import StopSignal
from operant.rollout.player import PlayedEpisode
from operant.train.vlm.rollouts import RolloutJob
from operant.train.vlm.trajectory_store import encode

__all__ = ["ExperienceClient"]


class ExperienceClient:
    """Safe for threads. ``stats`` are those of the runner that plays, and are sent along with each episode."""

    def __init__(
        self,
        experience: Any,
        worker: str,
        source: TaskSource,
        to_trajectory: Callable[[PlayedEpisode[RolloutJob]], Trajectory],
    ) -> None:
        self._experience = experience
        self._worker = worker
        self._source = source
        self._to_trajectory = to_trajectory
        self._tickets: dict[RolloutJob, Ticket] = {}
        self.stats = PlayStats()

    def take(self, stop: StopSignal) -> RolloutJob | None:
        ticket: Ticket | None = None if stop.is_set() else ray.get(self._experience.take.remote(self._worker))
        if ticket is None:
            return None
        job = ticket.job(self._source)
        self._tickets[job] = ticket
        return job

    def finish(self, played: PlayedEpisode[RolloutJob]) -> None:
        ticket, encoded = self._tickets.pop(played.job), encode(self._to_trajectory(played))
        ray.get(self._experience.add.remote(ticket, encoded, self._worker, self.stats))

    def drop(self, played: PlayedEpisode[RolloutJob]) -> None:
        ray.get(self._experience.drop.remote(self._tickets.pop(played.job)))

    def give_back(self, job: RolloutJob) -> None:
        with suppress(RayError):  # everything ends
            ray.get(self._experience.give_back.remote(self._tickets.pop(job), tuple(job.failed_tries)))

    def wake(self) -> None:
        """Threads that wait are woken by the store when it ends."""
