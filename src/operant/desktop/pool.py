"""A pool of desktops: leases with an end, health checks, replacement and preparation in the background.

Hands out desktops that are reset and answer, and takes back whatever state they are in. A sick desktop is
closed and another started while others go on; what could not be started is tried again later. Knows nothing of
tasks; ``prepare`` runs whatever set-up the caller gives it, beside the episodes that run meanwhile.
"""

from __future__ import annotations

import collections
import concurrent.futures
import contextlib
import queue
import resource
import threading
import time
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from operant.config.desktop import DesktopConfig
from operant.desktop.protocol import Desktop
from operant.desktop.reaper import reap
from operant.desktop.sandbox import SandboxDesktop
from operant.errors import (
    DesktopClosed,
    DesktopError,
    DesktopStartError,
    OperantError,
    PoolExhausted,
    PoolFailed,
    is_fatal,
)

__all__ = ["DesktopPool", "Lease", "PoolStatus"]

START_TRIES = 3
RETRY_S = 5.0  # after a desktop could not be started, until another try
UPKEEP_THREADS = 4  # desktops being started or reset at once: more only get in each other's way
FILES_EACH = 12  # open files of a desktop with an application: 8, and a few while it starts or is read
OTHER_FILES = 200  # open files of everything else in the process


@dataclass(frozen=True, slots=True)
class PoolStatus:
    """How many desktops are in which state, and how many had to be replaced so far."""

    ready: int
    leased: int
    in_upkeep: int
    replaced: int
    expired: int


class Lease:
    """The right to use one desktop until it is released or its time is up. Use it as a context manager."""

    def __init__(self, pool: DesktopPool, desktop: Desktop, ttl_s: float) -> None:
        self._pool = pool
        self._desktop: Desktop | None = desktop
        self.expires_at = time.monotonic() + ttl_s

    @property
    def desktop(self) -> Desktop:
        if self._desktop is None:
            raise DesktopClosed("the lease of this desktop has ended", hint="take a new lease from the pool")
        return self._desktop

    def renew(self, ttl_s: float) -> None:
        """Make the lease last so long from now."""
        self._pool._renew(self, ttl_s)

    def release(self) -> None:
        """Give the desktop back; it is reset in the background. Releasing twice does no harm."""
        self._pool._take_back(self)

    def _end(self) -> Desktop | None:
        desktop, self._desktop = self._desktop, None
        return desktop

    def __enter__(self) -> Desktop:
        return self.desktop

    def __exit__(self, *_: object) -> None:
        self.release()


class DesktopPool:
    """``size`` desktops of one configuration.

    The first one is started before the constructor returns, so that a machine that can't run any says so
    at once; the others follow in the background.
    """

    def __init__(
        self,
        size: int,
        config: DesktopConfig | None = None,
        *,
        ttl_s: float = 3600.0,
        factory: Callable[[DesktopConfig], Desktop] = SandboxDesktop,
    ) -> None:
        if size < 1:
            raise PoolExhausted(f"a pool of {size} desktops has none to give", hint="size must be at least 1")
        self.size = size
        self.config = config or DesktopConfig()
        self.ttl_s = ttl_s
        self._factory = factory
        self._changed = threading.Condition()
        self._ready: collections.deque[Desktop] = collections.deque()
        self._leases: set[Lease] = set()
        self._desktops: set[Desktop] = set()
        self._failure: OperantError | None = None
        self._broken: BaseException | None = None
        self._in_upkeep = 0
        self._replaced = 0
        self._expired = 0
        self._missing = 0
        self._retry_at = 0.0
        self._closed = False
        self._jobs: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        _allow_open_files(size)
        reap()
        self._add(self._factory(self.config))
        self._threads = [
            threading.Thread(
                target=_work,
                args=(self._jobs, weakref.ref(self)),
                name=f"operant-upkeep-{index}",
                daemon=True,
            )
            for index in range(min(UPKEEP_THREADS, size))
        ]
        self._threads.append(
            threading.Thread(target=_keep, args=(weakref.ref(self),), name="operant-keeper", daemon=True)
        )
        for thread in self._threads:
            thread.start()
        for _ in range(size - 1):
            self._upkeep(self._start_another)

    # Leases.

    def lease(self, *, timeout_s: float = 60.0, ttl_s: float | None = None) -> Lease:
        """A desktop in its initial state that has just answered; waits until one is free."""
        deadline = time.monotonic() + timeout_s
        while True:
            desktop = self._next_ready(deadline, timeout_s)
            try:
                desktop.check()
            except (OperantError, OSError):  # one of another machine may say anything
                self._replace(desktop)
                continue
            lease = Lease(self, desktop, ttl_s or self.ttl_s)
            with self._changed:
                self._leases.add(lease)
                self._in_upkeep -= 1
                self._changed.notify_all()
            return lease

    def prepare(
        self, setup: Callable[[Desktop], Any], *, timeout_s: float = 600.0, ttl_s: float | None = None
    ) -> concurrent.futures.Future[Lease]:
        """Lease a desktop and run ``setup`` on it in the background: the next episode, while this one runs.

        What the set-up raises is the future's. A desktop that fails under it is replaced; whether to try again
        is the caller's decision.
        """
        future: concurrent.futures.Future[Lease] = concurrent.futures.Future()

        def work() -> None:
            future.set_running_or_notify_cancel()
            lease = None
            try:
                lease = self.lease(timeout_s=timeout_s, ttl_s=ttl_s)
                setup(lease.desktop)
            except DesktopError as error:
                self._give_up(lease)
                future.set_exception(error)
            except BaseException as error:  # noqa: BLE001 - it is the future's
                if lease is not None:
                    lease.release()
                future.set_exception(error)
            else:
                future.set_result(lease)

        threading.Thread(target=work, name="operant-prepare", daemon=True).start()
        return future

    def status(self) -> PoolStatus:
        with self._changed:
            return PoolStatus(
                len(self._ready), len(self._leases), self._in_upkeep, self._replaced, self._expired
            )

    def wait_ready(self, count: int | None = None, timeout_s: float = 60.0) -> None:
        """Return when so many desktops (all that are not leased, by default) stand ready."""
        with self._changed:
            wanted = self.size - len(self._leases) if count is None else count
            self._wait(lambda: len(self._ready) >= wanted, time.monotonic() + timeout_s, timeout_s)

    def _next_ready(self, deadline: float, timeout_s: float) -> Desktop:
        with self._changed:
            self._wait(lambda: bool(self._ready), deadline, timeout_s)
            self._in_upkeep += 1
            return self._ready.popleft()

    def _wait(self, satisfied: Callable[[], bool], deadline: float, timeout_s: float) -> None:
        while not satisfied():
            if self._closed:
                raise DesktopClosed("the pool is closed")
            if self._broken is not None:
                raise PoolFailed(f"the pool has failed: {self._broken!r}") from self._broken
            if self._failure is not None and not self._desktops:
                raise self._failure
            left = deadline - time.monotonic()
            if left <= 0:
                raise self._exhausted(timeout_s)
            self._changed.wait(left)
        if self._closed:
            raise DesktopClosed("the pool is closed")

    def _exhausted(self, timeout_s: float) -> PoolExhausted:
        message = f"no desktop became free within {timeout_s:g} s"
        if self._failure is None:
            return PoolExhausted(message, hint=f"all {self.size} are in use: make the pool larger")
        running = len(self._desktops)
        return PoolExhausted(
            f"{message}: only {running} of {self.size} run; the next could not be started: {self._failure.message}",
            hint=self._failure.hint or f"a pool of {running} desktops fits this machine",
        )

    def _fail(self, error: BaseException) -> None:
        """Upkeep met an error that no desktop explains: a fault of ours. All who wait get it."""
        with self._changed:
            self._broken = error
            self._changed.notify_all()

    def _renew(self, lease: Lease, ttl_s: float) -> None:
        with self._changed:
            lease.expires_at = time.monotonic() + ttl_s
            self._changed.notify_all()

    def _take_back(self, lease: Lease) -> None:
        with self._changed:
            self._leases.discard(lease)
            desktop = lease._end()
            if desktop is None:
                return
            self._in_upkeep += 1
            self._changed.notify_all()
        self._jobs.put(lambda: self._recycle(desktop))

    def _give_up(self, lease: Lease | None) -> None:
        """Take a desktop back that failed: there is no point in resetting it."""
        if lease is None:
            return
        with self._changed:
            self._leases.discard(lease)
            desktop = lease._end()
            if desktop is None:
                return
            self._in_upkeep += 1
        self._replace(desktop)

    # Upkeep, in the background.

    def _upkeep(self, job: Callable[[], None]) -> None:
        with self._changed:
            self._in_upkeep += 1
        self._jobs.put(job)

    def _add(self, desktop: Desktop) -> bool:
        with self._changed:
            if not self._closed:
                self._desktops.add(desktop)
                self._ready.append(desktop)
                self._failure = None
                self._changed.notify_all()
                return True
        desktop.close()
        return False

    def _recycle(self, desktop: Desktop) -> None:
        try:
            desktop.reset()
        except Exception:  # noqa: BLE001 - whatever it was, this desktop is not to be trusted any more
            self._replace(desktop)
            return
        with self._changed:
            self._in_upkeep -= 1
            if desktop in self._desktops:
                self._ready.append(desktop)
            self._changed.notify_all()

    def _replace(self, desktop: Desktop) -> None:
        """Close a sick desktop and start another. The caller has counted it as in upkeep."""
        with self._changed:
            self._desktops.discard(desktop)
            self._replaced += 1

        def work() -> None:
            desktop.close()
            self._start_another()

        self._jobs.put(work)

    def _start_another(self) -> None:
        failure: OperantError | None = None
        for _ in range(START_TRIES):
            with self._changed:
                if self._closed:
                    break
            try:
                self._add(self._factory(self.config))
                failure = None
                break
            except OperantError as error:
                failure = error
                if is_fatal(error):
                    break  # another try would meet it as well
            except OSError as error:  # no descriptors, no memory: the machine's state, not ours
                failure = DesktopStartError(f"a desktop could not be started: {error}")
        with self._changed:
            self._in_upkeep -= 1
            self._retry_at = 0.0
            if failure is not None:
                self._failure = failure
                self._missing += 1
                self._retry_at = time.monotonic() + RETRY_S
            self._changed.notify_all()

    def _make_up(self) -> None:
        """Try again to start one of those that could not be started."""
        with self._changed:
            if self._closed or not self._missing or time.monotonic() < self._retry_at:
                return
            self._missing -= 1
            self._retry_at = time.monotonic() + RETRY_S
        self._upkeep(self._start_another)

    def _expire(self) -> float | None:
        """End the leases whose time is up; returns how long until the next one's is."""
        with self._changed:
            now = time.monotonic()
            due = [lease for lease in self._leases if lease.expires_at <= now]
            self._expired += len(due)
            next_due = min((lease.expires_at for lease in self._leases if lease not in due), default=None)
        for lease in due:
            self._give_up(lease)
        return None if next_due is None else max(0.0, next_due - now)

    # The end.

    def close(self) -> None:
        """Close every desktop, leased or not, and return when all are gone."""
        with self._changed:
            if self._closed:
                return
            self._closed = True
            desktops = list(self._desktops)
            self._desktops.clear()
            self._ready.clear()
            for lease in self._leases:
                lease._end()
            self._leases.clear()
            self._changed.notify_all()
        for _ in self._threads:
            self._jobs.put(None)
        with concurrent.futures.ThreadPoolExecutor(8) as closers:
            list(closers.map(lambda desktop: desktop.close(), desktops))
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join(self.config.start_timeout_s)

    def __enter__(self) -> DesktopPool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        with contextlib.suppress(AttributeError):
            self.close()


def _work(jobs: queue.SimpleQueue[Callable[[], None] | None], reference: weakref.ref[DesktopPool]) -> None:
    while (job := jobs.get()) is not None:
        try:
            job()
        except Exception as error:  # noqa: BLE001 - the pool ends with this reason
            pool = reference()
            if pool is not None:
                pool._fail(error)
            del pool
        del job  # it may hold the pool


def _allow_open_files(desktops: int) -> None:
    """Raise this process's limit on open files to what so many desktops need; refuse where it can't be had."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = desktops * FILES_EACH + OTHER_FILES
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return
    if hard != resource.RLIM_INFINITY and hard < needed:
        raise DesktopStartError(
            f"{desktops} desktops need about {needed} open files, and the limit is {hard}",
            hint=f"{max(0, hard - OTHER_FILES) // FILES_EACH} desktops fit; ulimit -n, as root, allows more files",
        )
    resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))


def _keep(reference: weakref.ref[DesktopPool]) -> None:
    """End leases in time, until the pool is closed or forgotten."""
    wait: float | None = None
    while True:
        pool = reference()
        if pool is None:
            return
        with pool._changed:
            if pool._closed:
                return
            pool._changed.wait(1.0 if wait is None else min(wait, 1.0))
        try:
            wait = pool._expire()
            pool._make_up()
        except Exception as error:  # noqa: BLE001 - the pool ends with this reason
            pool._fail(error)
            return
        del pool
