"""Everything that a running service holds, put together once: models, desktops, sessions, attempts, runs.

Knows how the parts depend on each other and in which order they start and stop; nothing of HTTP.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ParamSpec, TypeVar

from loguru import logger

from operant.config.desktop import DesktopConfig
from operant.config.prices import PriceTable
from operant.config.service import ServiceConfig
from operant.config.writable import check_writable
from operant.desktop.local import LocalDesktop
from operant.desktop.pool import DesktopPool, PoolStatus
from operant.desktop.protocol import Desktop
from operant.desktop.providers import open_provider
from operant.desktop.providers.base import Provider
from operant.errors import OperantError, ServiceNotReady
from operant.rollout.episode import EpisodeResult
from operant.service.attempts.attempt import Attempt
from operant.service.attempts.attempt_queue import AttemptQueue
from operant.service.catalogue import Catalogue
from operant.service.episodes import Episodes
from operant.service.inference.batcher import Batcher
from operant.service.inference.models import Model, Models
from operant.service.inference.predictor import Predictor
from operant.service.metrics import Metrics
from operant.service.sessions.approvals import Approvals
from operant.service.sessions.registry import Sessions
from operant.service.training.runs import Runs
from operant.tasks.template import Template

__all__ = ["Runtime"]

DESK_THREADS = 32  # requests that wait for a desktop at once
WATCH_THREADS = 4  # pictures that are encoded at once; those who watch never wait for those who act
READ_THREADS = max(2, os.cpu_count() or 2)  # pictures that are decoded at once: one keeps a core busy
EXPIRE_EVERY_S = 1.0

P = ParamSpec("P")
T = TypeVar("T")


class Runtime:
    """``desktops``, ``predictors``, ``templates`` and ``open_live`` let tests put others in the real ones' place."""

    def __init__(
        self,
        config: ServiceConfig,
        *,
        desktops: Callable[[DesktopConfig], Desktop] | None = None,
        predictors: Callable[[Model], Predictor] | None = None,
        templates: Sequence[Template] | None = None,
        open_live: Callable[[], LocalDesktop] | None = None,
    ) -> None:
        self.config = config
        self.metrics = Metrics()
        self.catalogue = Catalogue(config.suite, templates=templates)
        self.approvals = Approvals(config.approval_timeout_s, automatic=config.auto_approve)
        self.models = Models(
            config.agent,
            (config.checkpoints_dir, config.runs_dir),
            config.checkpoint_agent,
            more=config.agents,
            chosen="agent" in config.model_fields_set,
            threads=config.inference_threads,
            device=config.device,
            prices=None if config.prices is None else PriceTable.read(config.prices),
            factory=predictors,
        )
        self.sessions = Sessions(
            self._the_pool,
            ttl_s=config.session_ttl_s,
            lease_timeout_s=config.lease_timeout_s,
            approvals=self.approvals,
            allow_live=config.allow_live,
            open_live=open_live,
        )
        self.episodes = Episodes((config.episodes_dir, config.results_dir))
        self.attempts = AttemptQueue(
            self.sessions,
            config.episodes_dir,
            workers=config.desktops + 1,
            queued=config.queued_attempts,
            act_timeout_s=config.act_timeout_s,
            episode_id=self.episodes.id_of,
            observe=self._ended,
        )
        self.runs = Runs(config.runs_dir, config.training_command, enabled=config.training_enabled)
        self.failure: OperantError | None = None
        self._desktops = desktops
        self._provider: Provider[Any] | None = None
        self._pool: DesktopPool | None = None
        self._seen = PoolStatus(0, 0, 0, 0, 0)
        self._seen_expired = self._seen_returned = 0
        self._desk = ThreadPoolExecutor(DESK_THREADS, "operant-desk")
        self._windows = ThreadPoolExecutor(WATCH_THREADS, "operant-watch")
        self._readers = ThreadPoolExecutor(READ_THREADS, "operant-read")
        self._batcher: Batcher | None = None
        self._upkeep: asyncio.Task[None] | None = None
        self._starting: threading.Thread | None = None
        self._stopping = threading.Event()

    # Coming up and going away.

    def check(self) -> None:
        """What can be known to go wrong before anything starts; the agent that was asked for is loaded."""
        check_writable(self.config.data_dir, "data_dir")
        self._source()
        self.models.check()

    def _source(self) -> Callable[[DesktopConfig], Desktop]:
        """Where desktops come from; the provider is opened when it is first asked for."""
        if self._desktops is None:
            self._provider = open_provider(self.config, self.config.desktop, self.config.desktops)
            self._desktops = self._provider.start
        return self._desktops

    async def start(self) -> None:
        """Returns at once; the first desktop and the model come up beside it, and ``/ready`` tells when."""
        self.config.data_dir.mkdir(parents=True, exist_ok=True)
        self._batcher = Batcher(
            self.models.predictor,
            size=self.config.batch_size,
            wait_s=self.config.batch_wait_ms / 1000,
            queued=self.config.queued_questions,
            observe=self.metrics.answered,
        )
        self._batcher.start()
        self._upkeep = asyncio.create_task(self._keep_up(), name="operant-upkeep")
        self._starting = threading.Thread(target=self._bring_up, name="operant-start", daemon=True)
        self._starting.start()

    def _bring_up(self) -> None:
        try:
            pool = DesktopPool(self.config.desktops, self.config.desktop, factory=self._source())
        except OperantError as error:
            self.failure = error
            logger.error("no desktop can be started: {}", error)
        else:
            self._pool = pool
            if self._stopping.is_set():
                pool.close()
        try:
            _ = self.models.current
        except OperantError as error:
            self.failure = self.failure or error
            logger.error("the model {} can't be loaded: {}", self.config.agent, error)

    async def stop(self) -> None:
        """End attempts and sessions, close every desktop; training runs go on."""
        self._stopping.set()
        if self._upkeep is not None:
            self._upkeep.cancel()
            await asyncio.gather(self._upkeep, return_exceptions=True)
        if self._batcher is not None:
            await self._batcher.close()
        await asyncio.to_thread(self._tear_down)
        for threads in (self._desk, self._windows, self._readers):
            threads.shutdown(wait=False, cancel_futures=True)

    def _tear_down(self) -> None:
        self.attempts.close()
        self.sessions.close()
        if self._starting is not None:
            self._starting.join(30.0)
        if self._pool is not None:
            self._pool.close()
        if self._provider is not None:
            self._provider.close()

    async def _keep_up(self) -> None:
        while True:
            await asyncio.sleep(EXPIRE_EVERY_S)
            with contextlib.suppress(OperantError):
                self.sessions.expire()

    # What the parts need of each other.

    @property
    def batcher(self) -> Batcher:
        if self._batcher is None:
            raise ServiceNotReady("the service is starting")
        return self._batcher

    def _the_pool(self) -> DesktopPool:
        if self._pool is None:
            if self.failure is not None:
                raise self.failure
            raise ServiceNotReady("the first desktop is starting", hint="ask again in a second")
        return self._pool

    @property
    def pool_status(self) -> PoolStatus | None:
        return None if self._pool is None else self._pool.status()

    @property
    def ready(self) -> bool:
        return self._pool is not None and self.models.loaded and not self._stopping.is_set()

    async def at_desk(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Do something that waits for desktops or disks in a thread, in the name of this request."""
        context = contextvars.copy_context()
        call: Any = lambda: context.run(work, *args, **kwargs)  # noqa: E731
        return await asyncio.get_running_loop().run_in_executor(self._desk, call)

    async def watch(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Look at a desktop in a thread that no action can hold up."""
        call: Any = lambda: work(*args, **kwargs)  # noqa: E731
        return await asyncio.get_running_loop().run_in_executor(self._windows, call)

    async def read(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Decode something that was sent, in one of a few threads: it waits for nothing but a core."""
        call: Any = lambda: work(*args, **kwargs)  # noqa: E731
        return await asyncio.get_running_loop().run_in_executor(self._readers, call)

    def _ended(self, attempt: Attempt, result: EpisodeResult) -> None:
        self.metrics.ended(attempt.task.id, attempt.task.difficulty.value, result.outcome.value)
        self.metrics.used(attempt.model, result.usage)
        for step in attempt.steps:
            action = step["action"]
            self.metrics.acted("agent", "invalid" if action is None else str(action["kind"]))

    def refresh_metrics(self) -> None:
        """Bring the gauges up to date: called when they are read."""
        metrics, status = self.metrics, self.pool_status
        if status is not None:
            for state in ("ready", "leased", "in_upkeep"):
                metrics.desktops.labels(state).set(getattr(status, state))
            metrics.replaced.inc(max(0, status.replaced - self._seen.replaced))
            self._seen = status
        metrics.expired.inc(self.sessions.expired - self._seen_expired)
        metrics.resets.inc(self.sessions.returned - self._seen_returned)
        self._seen_expired, self._seen_returned = self.sessions.expired, self.sessions.returned
        sessions = self.sessions.list()
        metrics.sessions.labels("live").set(sum(one.live for one in sessions))
        metrics.sessions.labels("sandbox").set(sum(not one.live for one in sessions))
        for name in ("queued", "running"):
            metrics.attempts.labels(name).set(sum(one.status == name for one in self.attempts.list()))
        if self._batcher is not None:
            metrics.queue.set(self._batcher.waiting)
        metrics.model.clear()
        if self.models.loaded:
            metrics.model.labels(self.models.current.info.name).set(1)
        self._refresh_training()

    def _refresh_training(self) -> None:
        metrics, run = self.metrics, self.runs.current()
        metrics.training_running.set(run is not None)
        metrics.training.clear()
        metrics.reward_hack.clear()
        if run is None:
            return
        progress = run.progress()
        metrics.reward_hack.labels(run.id).set(run.reward_hack())
        for measure, value in (progress[-1] if progress else {}).items():
            if isinstance(value, (int, float)):
                metrics.training.labels(run.id, measure).set(float(value))
