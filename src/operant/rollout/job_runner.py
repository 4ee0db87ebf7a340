"""Many episodes at once: threads that take jobs, play them and report, until none is left or one of them fails.

Who pulls, who pushes and what a stop does is written down in docs/architecture.md.
"""

from __future__ import annotations

import collections
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, Protocol

from operant.rollout.loop import Stopped, StopSignal
from operant.rollout.player import EpisodePlayer, J, PlayedEpisode

__all__ = ["JobList", "JobQueue", "JobRunner", "PlayStats"]

JOIN_S = 0.2  # how often a thread that waits looks at signals
GOODBYE_S = 10.0  # how long the threads have to end after a stop
INTERRUPTED_S = 3.0  # and after Ctrl-C or the failure of one of them


class JobQueue(Protocol[J]):
    """Hands out jobs and takes their results; one report for each job that was taken. Safe for threads."""

    def take(self, stop: StopSignal) -> J | None:
        """The next job, as soon as it may begin; None when there is none left or everything stops."""

    def finish(self, played: PlayedEpisode[J]) -> None:
        """The episode counts."""

    def drop(self, played: PlayedEpisode[J]) -> None:
        """The job was tried as often as it may be, and no episode counts."""

    def give_back(self, job: J) -> None:
        """The job was not played to an end that counts: it may be played again."""

    def wake(self) -> None:
        """Everything stops: let threads that wait in ``take`` look."""


class JobList(Generic[J]):
    """Jobs that are all known. One that is given back is played after the others.

    ``on_end`` is told of each job once, by one thread at a time.
    """

    def __init__(self, jobs: Iterable[J], on_end: Callable[[PlayedEpisode[J]], None]) -> None:
        self._jobs = collections.deque(jobs)
        self._on_end = on_end
        self._lock = threading.Lock()
        self._reporting = threading.Lock()

    def take(self, stop: StopSignal) -> J | None:
        with self._lock:
            return self._jobs.popleft() if self._jobs and not stop.is_set() else None

    def finish(self, played: PlayedEpisode[J]) -> None:
        with self._reporting:
            self._on_end(played)

    drop = finish

    def give_back(self, job: J) -> None:
        with self._lock:
            self._jobs.append(job)

    def wake(self) -> None: ...


@dataclass
class PlayStats:
    """How the threads of a runner spent their time."""

    episodes: int = 0
    """Tries included that did not count."""
    successes: int = 0
    infra_errors: int = 0
    """Tries that did not count."""
    dropped: int = 0
    """Jobs that were given up."""
    playing_s: float = 0.0
    waiting_s: float = 0.0
    """In ``take``, after the first job."""

    @property
    def utilisation(self) -> float:
        """The share of their time in which threads played."""
        total = self.playing_s + self.waiting_s
        return self.playing_s / total if total else 0.0


class _EitherStop:
    """Set when the runner stops or its caller does."""

    def __init__(self, own: threading.Event, callers: StopSignal | None) -> None:
        self._own = own
        self._callers = callers

    def is_set(self) -> bool:
        return self._own.is_set() or (self._callers is not None and self._callers.is_set())

    def wait(self, timeout: float | None = None) -> bool:
        self._own.wait(timeout)
        return self.is_set()


class JobRunner(Generic[J]):
    """Plays the jobs of a queue, ``workers`` at once. Call ``run``, or ``start``, ``join`` and ``stop``.

    With ``prefetch``, so many jobs are taken early and prepared; the queue's ``take`` must not block then, and there
    must be ``workers + prefetch`` desktops. ``stop`` is the caller's, and is never set here.
    """

    def __init__(
        self,
        jobs: JobQueue[J],
        player: EpisodePlayer[J],
        *,
        workers: int,
        prefetch: int = 0,
        stop: StopSignal | None = None,
        name: str = "play",
    ) -> None:
        self.jobs = jobs
        self.player = player
        self.prefetch = prefetch
        self.stats = PlayStats()
        self.failure: BaseException | None = None
        self._stopping = threading.Event()
        self._stop = _EitherStop(self._stopping, stop)
        self._lock = threading.Lock()
        self._ahead: collections.deque[J] = collections.deque()
        self._looking_ahead = threading.Lock()
        self._threads = [
            threading.Thread(target=self._work, name=f"operant-{name}-{index}", daemon=True)
            for index in range(workers)
        ]

    def run(self) -> None:
        """Play until no job is left; raises what a thread failed with. Ctrl-C stops everything first."""
        self.start()
        try:
            self.join()
        finally:
            self.stop(INTERRUPTED_S)

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def join(self) -> None:
        """Wait until no job is left; raises what a thread failed with."""
        for thread in self._threads:
            while thread.is_alive():
                thread.join(JOIN_S)
        if self.failure is not None:
            raise self.failure

    def stop(self, patience_s: float = GOODBYE_S) -> None:
        """Abandon the episodes under way, and wait so long for the threads to end."""
        self._stopping.set()
        self.jobs.wake()
        until = time.monotonic() + patience_s
        for thread in self._threads:
            if thread.ident is not None:
                thread.join(max(0.0, until - time.monotonic()))
        while self._ahead:
            job = self._ahead.popleft()
            self.player.desktops.forget(job)
            self.jobs.give_back(job)

    def __enter__(self) -> JobRunner[J]:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    # In each thread.

    def _work(self) -> None:
        try:
            waited_since = None
            while not self._stop.is_set() and (job := self._take(waited_since)) is not None:
                self._play(job)
                waited_since = time.perf_counter()
        except Stopped:
            pass
        except BaseException as error:  # noqa: BLE001 - raised again by ``join``
            if not self._stopping.is_set():
                self.failure = self.failure or error
                self._stopping.set()
                self.jobs.wake()
        finally:
            self.player.close_agent()

    def _take(self, waited_since: float | None) -> J | None:
        """Before its first job a thread waits for the start and not for the queue: that is not counted."""
        job = self._take_prepared() if self.prefetch else self.jobs.take(self._stop)
        if waited_since is not None:
            with self._lock:
                self.stats.waiting_s += time.perf_counter() - waited_since
        return job

    def _take_prepared(self) -> J | None:
        with self._looking_ahead:
            self._look_ahead(1)
            if not self._ahead:
                return None
            job = self._ahead.popleft()
            self._look_ahead(self.prefetch)
            return job

    def _look_ahead(self, count: int) -> None:
        while len(self._ahead) < count and (job := self.jobs.take(self._stop)) is not None:
            self.player.desktops.prepare(job)
            self._ahead.append(job)

    def _play(self, job: J) -> None:
        began = time.perf_counter()
        try:
            played = self.player.play(job, self._stop)
        except BaseException:
            self.jobs.give_back(job)
            raise
        lost = self.player.is_lost(played)
        with self._lock:
            self.stats.playing_s += time.perf_counter() - began
            self.stats.episodes += 1
            self.stats.infra_errors += lost
            self.stats.successes += played.result.success and not lost
        if not lost:
            self.jobs.finish(played)
        elif self.player.may_try_again(played):
            self.jobs.give_back(job)
        else:
            with self._lock:
                self.stats.dropped += 1
            self.jobs.drop(played)
