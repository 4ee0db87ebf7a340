"""Whether anything in the desktop is running, asked often and so made cheap.

The files of every thread that tell of it are kept open and read again. The list of threads is made anew only
when a process or thread has been born since, which the kernel's last given pid tells.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable


class Activity:
    def __init__(self, pids: Callable[[], list[int]]) -> None:
        self.pids = pids
        self.newest = b""
        self.loads = os.open("/proc/loadavg", os.O_RDONLY | os.O_CLOEXEC)
        self.threads: list[tuple[int, int]] = []

    def busy(self, *, surely: bool) -> bool:
        """Whether any thread runs or is about to.

        The threads are looked at one after the other, so two that hand work to each other can both be seen
        asleep. With ``surely``, nothing is idle unless two looks agree that none runs and that none has had a
        turn on a processor between them.
        """
        self.find_threads()
        if not surely:
            return self.running()
        turns = self.turns()
        return self.running() or self.running() or self.turns() != turns

    def find_threads(self) -> None:
        newest = os.pread(self.loads, 128, 0).rpartition(b" ")[2]
        if newest != self.newest:
            self.forget()
            self.newest = newest
            for pid in self.pids():
                with contextlib.suppress(OSError):
                    for thread in os.listdir("/proc/%d/task" % pid):
                        self.watch("/proc/%d/task/%s/" % (pid, thread))

    def running(self) -> bool:
        gone = []
        try:
            for thread in self.threads:
                try:
                    text = os.pread(thread[0], 64, 0)
                except OSError:
                    gone.append(thread)
                    continue
                # "PID (NAME) STATE ...": the name may hold anything, but is at most 15 bytes long.
                if text[text.rfind(b")") + 2 : text.rfind(b")") + 3] in (b"R", b"D"):
                    return True
        finally:
            for thread in gone:
                self.threads.remove(thread)
                close(thread)
        return False

    def turns(self) -> int:
        """How often any of the threads has been given a processor so far."""
        total = 0
        for _state, schedule in self.threads:
            with contextlib.suppress(OSError):
                total += int(os.pread(schedule, 64, 0).split()[2])
        return total

    def watch(self, place: str) -> None:
        state = os.open(place + "stat", os.O_RDONLY | os.O_CLOEXEC)
        try:
            self.threads.append((state, os.open(place + "schedstat", os.O_RDONLY | os.O_CLOEXEC)))
        except OSError:
            os.close(state)
            raise

    def forget(self) -> None:
        """Close the files; they are found again when asked for."""
        for thread in self.threads:
            close(thread)
        self.threads.clear()
        self.newest = b""


def close(files: tuple[int, int]) -> None:
    for fd in files:
        os.close(fd)
