"""Many jobs on many desktops: whoever is free takes the next, until none is left or somebody fails."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable
from typing import TypeVar

from operant.config.desktop import DesktopConfig
from operant.desktop.pool import DesktopPool

__all__ = ["work_off"]

Job = TypeVar("Job")


def work_off(
    jobs: Iterable[Job],
    work: Callable[[DesktopPool, Job], Job | None],
    *,
    workers: int,
    config: DesktopConfig | None = None,
    stop: threading.Event | None = None,
) -> None:
    """``work`` is called in several threads; a job that it returns is tried again after the others.

    The first failure stops all and is raised here. Whoever sets ``stop`` ends it between two jobs.
    """
    ended = threading.Event()  # not the caller's, who may go on with it
    waiting: queue.SimpleQueue[Job] = queue.SimpleQueue()
    for job in jobs:
        waiting.put(job)
    failures: list[BaseException] = []

    def take_turns(pool: DesktopPool) -> None:
        try:
            while not (ended.is_set() or (stop is not None and stop.is_set())):
                try:
                    job = waiting.get_nowait()
                except queue.Empty:
                    return
                again = work(pool, job)
                if again is not None:
                    waiting.put(again)
        except BaseException as error:  # noqa: BLE001 - raised again in the thread that waits
            failures.append(error)
            ended.set()

    with DesktopPool(workers + 1, config) as pool:
        threads = [threading.Thread(target=take_turns, args=(pool,), daemon=True) for _ in range(workers)]
        for thread in threads:
            thread.start()
        try:
            for thread in threads:
                while thread.is_alive():
                    thread.join(0.2)
        finally:
            ended.set()
    if failures:
        raise failures[0]
