"""Environment actors: a process with a pool of desktops that plays what the experience store hands out.

The player and the threads are those of a run in one process; the job queue is the experience store's client. Imports
no model library.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from operant.agents.vlm.demonstrator import Demonstrator
from operant.agents.vlm.families import Units
from operant.cluster.actor_handles import ActorHandles
from operant.cluster.experience_actor import Ticket
from operant.cluster.experience_client import ExperienceClient
from operant.cluster.remote_backend import RemoteBackend
from operant.config.vlm_training import VLMTrainingConfig
from operant.desktop.pool import DesktopPool
from operant.envs.task_source import TaskSource
from operant.errors import DesktopClosed
from operant.rollout.job_runner import JobRunner, PlayStats
from operant.train.vlm.desktops import desktop_pool, rollout_player
from operant.train.vlm.rollouts import RolloutPlayer
from operant.train.vlm.tasks import task_source
from operant.train.vlm.trajectory_store import encode
from operant.types import Size

__all__ = ["EnvironmentActor"]


class EnvironmentActor:
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
        self._player: RolloutPlayer
        self._source: TaskSource
        self._client: ExperienceClient

    def _start(self) -> None:
        """Not in the constructor: the caller of ``play`` gets what goes wrong with desktops."""
        with self._lock:
            if self._pool is None:
                self._source = task_source(self._config, self._tasks)
                handles = ActorHandles.find(self._config, self._directory)
                backend = RemoteBackend(handles.inference, self._config.desktop.size)
                pool = desktop_pool(self._config, self._episodes, self._desktops)
                self._player = rollout_player(self._config, pool, backend, self._directory)
                self._client = ExperienceClient(
                    handles.experience, self._name, self._source, self._player.trajectory
                )
                self._pool = pool

    def play(self) -> PlayStats:
        """Play until no more work is handed out."""
        self._start()
        actors = JobRunner(self._client, self._player, workers=self._episodes, name="actor")
        self._client.stats = actors.stats
        try:
            actors.run()
        except DesktopClosed:
            if not self._closed:
                raise
        return actors.stats

    def demonstrate(self, ticket: Ticket, units: Units, shown: Size) -> bytes:
        """Let the oracle play in the words of the model that shall learn it; its tokens are the learner's affair."""
        self._start()
        agent = Demonstrator(self._config.prompt, units, lambda screen: shown, lambda text: [])
        return encode(self._player.run_episode(ticket.job(self._source), agent=agent))

    def close(self) -> None:
        """The run is over: episodes under way are abandoned."""
        with self._lock:
            self._closed = True
            if self._pool is not None:
                self._pool.close()
