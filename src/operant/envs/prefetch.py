"""Prepares episodes while others run, as many as there are desktops that play none.

Draws tasks, has the pool set each up on a free desktop, and hands out whichever is ready. Infra errors on the way are
tried again and counted; they never become episodes.
"""

from __future__ import annotations

import collections
import concurrent.futures
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from operant.envs.retry import RetryPolicy
from operant.envs.stage import Coding, Stage
from operant.errors import DesktopClosed, OperantError, PoolExhausted, is_fatal
from operant.tasks.task import Task

if TYPE_CHECKING:
    from operant.desktop.pool import DesktopPool, Lease
    from operant.desktop.protocol import Desktop

__all__ = ["EpisodePrefetcher", "Ready", "Source"]


class Source(Protocol):
    """Where tasks come from."""

    def draw(self, random: np.random.Generator) -> Task: ...


@dataclass
class Ready:
    """An episode that can begin: its desktop, the stage on it, and its first observation."""

    lease: Lease
    stage: Stage
    info: dict[str, Any]
    first: dict[str, npt.NDArray[Any]] = field(repr=False)


@dataclass
class _Coming:
    task: Task
    future: concurrent.futures.Future[Lease] | None = None
    ready: Ready | None = None
    tries: int = 0


class EpisodePrefetcher:
    """Prepares an episode for each desktop that ``add`` announces. Safe for threads."""

    def __init__(
        self,
        pool: DesktopPool,
        coding: Coding,
        source: Source,
        random: np.random.Generator,
        ttl_s: float,
        policy: RetryPolicy | None = None,
    ) -> None:
        self.pool = pool
        self.coding = coding
        self.source = source
        self.random = random
        self.ttl_s = ttl_s
        self.policy = policy or RetryPolicy()
        self.infra_errors = 0
        self._changed = threading.Condition()
        self._coming: list[_Coming] = []
        self._again: collections.deque[Task] = collections.deque()
        self._failures = 0
        self._failure: OperantError | None = None
        self._closed = False

    def retry(self, task: Task) -> None:
        """Let the next episode to be prepared be this task's: its last one was lost to the machine."""
        with self._changed:
            self.infra_errors += 1
            self._again.append(task)

    def add(self, count: int) -> None:
        """So many desktops more are free: begin to prepare an episode for each."""
        with self._changed:
            for _ in range(0 if self._closed else count):
                coming = _Coming(self._again.popleft() if self._again else self.source.draw(self.random))
                self._coming.append(coming)
                self._prepare(coming)

    def take(self, *, in_order: bool = False, timeout_s: float = 120.0) -> tuple[Ready, float]:
        """The first that is ready, or the oldest one if ``in_order``; and how long that took."""
        began = time.monotonic()
        with self._changed:
            while True:
                if self._closed:
                    raise DesktopClosed("the environment is closed")
                if self._failure is not None:
                    raise self._failure
                waiting = self._coming[:1] if in_order else self._coming
                found = next((coming for coming in waiting if coming.ready is not None), None)
                if found is not None and found.ready is not None:
                    self._coming.remove(found)
                    return found.ready, time.monotonic() - began
                left = began + timeout_s - time.monotonic()
                if left <= 0:
                    raise PoolExhausted(f"no episode became ready within {timeout_s:g} s")
                self._changed.wait(left)

    def _prepare(self, coming: _Coming) -> None:
        def setup(desktop: Desktop) -> tuple[Stage, dict[str, Any]]:
            stage = Stage(desktop, self.coding)
            made.append((stage, stage.begin(coming.task)))
            return made[-1]

        made: list[tuple[Stage, dict[str, Any]]] = []
        coming.tries += 1
        coming.future = self.pool.prepare(setup, ttl_s=self.ttl_s)
        coming.future.add_done_callback(lambda future: self._done(coming, future, made))

    def _done(
        self,
        coming: _Coming,
        future: concurrent.futures.Future[Lease],
        made: list[tuple[Stage, dict[str, Any]]],
    ) -> None:
        error = future.exception()
        if error is None:
            lease = future.result()
            stage, info = made[-1]
            ready = Ready(lease, stage, info, stage.look())
            with self._changed:
                if not self._closed and coming in self._coming:
                    coming.ready = ready
                    self._failures = 0
                    self._changed.notify_all()
                    return
            lease.release()
            return
        with self._changed:
            if self._closed or coming not in self._coming:
                return
            if isinstance(error, DesktopClosed) or is_fatal(error):
                self._fail(error)
                return
            self.infra_errors += 1
            self._failures += 1
            if self._failures >= self.policy.in_a_row:
                self._fail(error)
                return
            if not self.policy.again(coming.tries):
                coming.task, coming.tries = self.source.draw(self.random), 0
            self._prepare(coming)

    def _fail(self, error: BaseException) -> None:
        self._failure = (
            error if isinstance(error, OperantError) else OperantError(f"{type(error).__name__}: {error}")
        )
        self._changed.notify_all()

    def clear(self) -> None:
        """Forget everything that is prepared or under way; the desktops go back to the pool."""
        with self._changed:
            dropped, self._coming = self._coming, []
            self._again.clear()
            self._failure, self._failures = None, 0
        for coming in dropped:
            if coming.ready is not None:
                coming.ready.lease.release()

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self.clear()
