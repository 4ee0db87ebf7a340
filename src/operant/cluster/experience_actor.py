"""The experience store of a cluster: hands out rollouts within the bound on staleness, and keeps what comes back.

An asynchronous actor: calls that wait cost nothing. Episodes are on disk before they are counted. The learner opens
the store with what it knows, and again after either of them was gone.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from operant.agents.vlm.trajectory import Trajectory
from operant.config.vlm_training import VLMTrainingConfig
from operant.envs.task_source import TaskSource
from operant.rollout.episode import EpisodeResult
from operant.rollout.job_runner import PlayStats
from operant.train.vlm.admission import Admission
from operant.train.vlm.groups import Gathered, Groups, Kept
from operant.train.vlm.rollouts import RolloutJob
from operant.train.vlm.tasks import task_source
from operant.train.vlm.trajectory_store import TrajectoryStore, decode

__all__ = ["ExperienceActor", "ExperienceStatus", "Ticket", "UpdateBatch"]


@dataclass(frozen=True)
class Ticket:
    """A job as it travels: an environment makes the task of its name and seed again."""

    task: str
    task_seed: int | None
    group: str
    number: int
    seed: int
    failed_tries: tuple[EpisodeResult, ...] = ()

    @classmethod
    def of(cls, job: RolloutJob) -> Ticket:
        return cls(job.task.id, job.task.seed, job.group, job.number, job.seed, tuple(job.failed_tries))

    def job(self, source: TaskSource) -> RolloutJob:
        task = source.find(self.task, self.task_seed, np.random.default_rng(self.seed))
        return RolloutJob(task, self.seed, self.group, self.number, failed_tries=list(self.failed_tries))


@dataclass(frozen=True)
class UpdateBatch:
    """What one update learns from, as it travels. Nothing if there is not enough yet."""

    encoded: list[bytes]
    seen: list[Trajectory]
    """Without their pictures."""
    seen_encoded: list[bytes]
    """With them, if the learner keeps successes of its own."""
    filtered: int


@dataclass(frozen=True)
class ExperienceStatus:
    """What is going on, to be watched and plotted."""

    version: int
    accepted: int
    running: int
    waiting_actors: int
    """Actors at the bound on staleness."""
    queued_groups: int
    """Groups that wait to be learned from."""
    utilisation: float
    infra_errors: int
    episodes: int


class ExperienceActor:
    """Runs as one asynchronous actor; every method may be called again after a crash without harm."""

    def __init__(
        self, config: VLMTrainingConfig, directory: Path, tasks: Sequence[Any] | None = None
    ) -> None:
        self._config = config
        self._directory = directory
        self._tasks = tasks
        self._groups: Groups
        self._admission: Admission
        self._store = TrajectoryStore(directory / "experience")
        self._session = 0
        """How often it was opened; 0 is not yet."""
        self._started = False
        self._ended = False
        self._leases: dict[Ticket, tuple[str, RolloutJob]] = {}
        self._stats: dict[str, PlayStats] = {}
        self._waiters: deque[asyncio.Future[None]] = deque()
        self._news = asyncio.Event()

    # The learner's.

    async def open(self, iteration: int, used: Sequence[str], state: Mapping[str, Any] | None) -> Kept:
        """The learner goes on after that many updates, having learned from ``used``; returns what waits."""
        if not self._session:
            self._build()
        kept = await asyncio.to_thread(self._store.load, used, pictures=False)
        accepted = iteration * self._admission.batch + len(kept)
        self._admission.restore({"version": iteration, "accepted": accepted, "running": len(self._leases)})
        waiting = self._groups.restore(None if self._session else state, kept)
        self._session += 1
        self._changed()
        return Kept(waiting, len(self._store.torn))

    def _build(self) -> None:
        from operant.train.vlm.parts import algorithm_of

        settings = self._config.training
        source = task_source(self._config, self._tasks)
        self._admission = Admission(settings.group_size * settings.groups_per_update, settings.max_staleness)
        keeps = algorithm_of(settings).keeps
        self._groups = Groups(source, settings.group_size, keeps, self._admission, settings.seed)

    async def start(self) -> None:
        """Let rollouts begin."""
        self._started = True
        self._changed()

    async def gather(self, update: int, patience_s: float) -> UpdateBatch | None:
        """What that update learns from; nothing after so long. Raises if it was not opened by this learner."""
        settings, session = self._config.training, self._session
        until = asyncio.get_running_loop().time() + patience_s
        while session and session == self._session:
            gathered = self._groups.collect(update, settings.groups_per_update, settings.refill_limit)
            if gathered is not None:
                return await asyncio.to_thread(self._update_batch, gathered)
            left = until - asyncio.get_running_loop().time()
            if left <= 0:
                return None
            await _within(left, self._news.wait())
        raise LookupError("not open")

    def _update_batch(self, gathered: Gathered) -> UpdateBatch:
        whole = self._config.training.entropulse is not None
        batch = UpdateBatch(
            [self._store.read(one.id) for one in gathered.trajectories],
            [] if whole else gathered.seen,
            [self._store.read(one.id) for one in gathered.seen] if whole else [],
            gathered.filtered,
        )
        self._store.discard(gathered.useless)
        return batch

    async def advance(self, iteration: int) -> None:
        if self._session:
            self._admission.advance(iteration)
            self._changed()

    async def learned(self, used: Sequence[str]) -> None:
        await asyncio.to_thread(self._store.discard, used)

    async def state(self) -> dict[str, Any]:
        return self._groups.state() if self._session else {}

    async def is_open(self) -> bool:
        return self._session > 0

    # The environments'.

    async def take(self, worker: str) -> Ticket | None:
        """The next rollout as soon as it may begin; none when everything ends."""
        while not self._ended:
            if self._session and self._started and self._admission.try_enter():
                job = self._groups.take()
                ticket = Ticket.of(job)
                self._leases[ticket] = worker, job
                return ticket
            waiter = asyncio.get_running_loop().create_future()
            self._waiters.append(waiter)
            await waiter
        return None

    async def add(self, ticket: Ticket, encoded: bytes, worker: str, stats: PlayStats) -> None:
        """An episode that has ended. On disk first: from then on it is not lost."""
        trajectory = await asyncio.to_thread(decode, encoded, pictures=False)
        await asyncio.to_thread(self._store.keep, trajectory, encoded)
        self._stats[worker] = stats
        if not self._session:
            return  # opening the store finds it on disk
        if self._leases.pop(ticket, None) is None:
            self._admission.adopt()
        self._admission.leave(accepted=True)
        self._groups.add(trajectory)
        self._changed()

    async def drop(self, ticket: Ticket) -> None:
        """It can't be played."""
        lease = self._leases.pop(ticket, None)
        if lease is not None:
            self._admission.leave(accepted=False)
            self._groups.drop(lease[1])
            self._changed()

    async def give_back(self, ticket: Ticket, failed_tries: Sequence[EpisodeResult] = ()) -> None:
        """It was not played to an end that counts: any environment may play it next."""
        lease = self._leases.pop(ticket, None)
        if lease is not None:
            lease[1].failed_tries[:] = failed_tries
            self._admission.leave(accepted=False)
            self._groups.give_back(lease[1])
            self._changed()

    async def release(self, worker: str) -> int:
        """A whole environment actor is gone: others play what it had."""
        lost = [ticket for ticket, (holder, _) in self._leases.items() if holder == worker]
        for ticket in lost:
            await self.give_back(ticket, ticket.failed_tries)
        return len(lost)

    # For all actors.

    async def status(self) -> ExperienceStatus:
        playing = sum(stats.playing_s for stats in self._stats.values())
        waiting = sum(stats.waiting_s for stats in self._stats.values())
        opened = self._session > 0
        return ExperienceStatus(
            version=self._admission.version if opened else 0,
            accepted=self._admission.accepted if opened else 0,
            running=len(self._leases),
            waiting_actors=len(self._waiters),
            queued_groups=self._groups.queued if opened else 0,
            utilisation=playing / (playing + waiting) if playing else 0.0,
            infra_errors=sum(stats.infra_errors for stats in self._stats.values()),
            episodes=sum(stats.episodes for stats in self._stats.values()),
        )

    async def end(self) -> None:
        """No more rollouts."""
        self._ended = True
        self._changed()

    def _changed(self) -> None:
        self._news.set()
        self._news = asyncio.Event()
        free = len(self._waiters) if self._ended else max(0, self._admission.room) if self._session else 0
        for _ in range(min(free, len(self._waiters))):
            waiter = self._waiters.popleft()
            if not waiter.done():
                waiter.set_result(None)


async def _within(seconds: float, awaitable: Any) -> None:
    with contextlib.suppress(asyncio.TimeoutError):
        await asyncio.wait_for(awaitable, seconds)
