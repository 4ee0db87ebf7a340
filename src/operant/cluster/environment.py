"""Environment actors: a process with a pool of desktops that plays what the experience store hands out.

Inside it is the same runner with the same threads as in a run of one process; what differs is where work comes from
and where episodes go. Imports no model library.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import ray
from ray.exceptions import RayError

from operant.agents.vlm.demonstrator import Demonstrator
from operant.agents.vlm.families import Units
from operant.agents.vlm.trajectory import Trajectory
from operant.cluster.experience import Ticket
from operant.cluster.remote_backend import RemoteBackend
from operant.cluster.roster import Roster
from operant.config.vlm_training import VLMTrainingConfig
from operant.desktop.pool import DesktopPool
from operant.envs.task_source import TaskSource
from operant.errors import DesktopClosed
from operant.rollout.actors import ActorStats, Job, MultiActorRunner, TaskRunner
from operant.rollout.experience import encode
from operant.train.vlm.playing import desktop_pool, task_runner
from operant.train.vlm.tasks import task_source
from operant.types import Size

__all__ = ["Environment"]


class Environment:
    """Runs as an actor with several threads. ``episodes`` are played at once, each on a desktop."""

    def __init__(
        self,
        config: VLMTrainingConfig,
        directory: Path,
        name: str,
        episodes: int,
        desktops: Callable[..., Any] | None = None,
        tasks: Sequence[Any] | None = None,
    ) -> None:
        self._config = config
        self._directory = directory
        self._name = name
        self._episodes = episodes
        self._desktops = desktops
        self._tasks = tasks
        self._lock = threading.Lock()
        self._closed = False
        self._pool: DesktopPool | None = None
        self._runner: TaskRunner
        self._source: TaskSource
        self._line: Line

    def _start(self) -> None:
        """Not in the constructor: what goes wrong with desktops is to reach whoever asked for episodes."""
        with self._lock:
            if self._pool is None:
                self._source = task_source(self._config, self._tasks)
                roster = Roster.find(self._config, self._directory)
                backend = RemoteBackend(roster.inference, self._config.desktop.size)
                pool = desktop_pool(self._config, self._episodes, self._desktops)
                self._runner = task_runner(self._config, pool, backend, self._directory)
                self._line = Line(roster.experience, self._name, self._source)
                self._pool = pool

    def play(self) -> ActorStats:
        """Play until no more work is handed out."""
        self._start()
        line = self._line
        actors = MultiActorRunner(self._episodes, self._runner, line, line, line.add, line.drop)
        line.stats = actors.stats
        try:
            with actors:
                actors.join()
        except DesktopClosed:
            if not self._closed:
                raise
        return actors.stats

    def demonstrate(self, ticket: Ticket, units: Units, shown: Size) -> bytes:
        """Let the oracle play in the words of the model that shall learn it; its tokens are the learner's affair."""
        self._start()
        agent = Demonstrator(self._config.prompt, units, lambda screen: shown, lambda text: [])
        return encode(self._runner.run_episode(ticket.job(self._source), agent=agent))

    def close(self) -> None:
        """The run is over: episodes under way are abandoned."""
        with self._lock:
            self._closed = True
            if self._pool is not None:
                self._pool.close()


class Line:
    """The line from an environment actor's threads to the experience store."""

    def __init__(self, experience: Any, name: str, source: TaskSource) -> None:
        self._experience = experience
        self._name = name
        self._source = source
        self._held = threading.local()
        self.stats = ActorStats()

    def enter(self, stop: threading.Event) -> bool:
        self._held.ticket = None if stop.is_set() else ray.get(self._experience.take.remote(self._name))
        return self._held.ticket is not None

    def take(self) -> Job:
        ticket: Ticket = self._held.ticket
        return ticket.job(self._source)

    def add(self, trajectory: Trajectory) -> None:
        ticket, self._held.ticket = self._held.ticket, None
        ray.get(self._experience.add.remote(ticket, encode(trajectory), self._name, self.stats))

    def drop(self, job: Job) -> None:
        self._held.ticket = None
        ray.get(self._experience.drop.remote(Ticket.of(job)))

    def leave(self, *, accepted: bool) -> None:
        if self._held.ticket is not None and not accepted:
            with suppress(RayError):  # everything ends
                ray.get(self._experience.give_back.remote(self._held.ticket))

    def wake(self) -> None:
        """Nobody waits here: the store lets go of all when it ends."""
