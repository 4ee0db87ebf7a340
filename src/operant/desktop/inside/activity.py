"""Whether anything in the desktop is running, asked often and so made cheap.

The files of every thread that tell of it are kept open and read again. The list of threads is made anew only
when a process or thread has been born since, which the kernel's last given pid tells.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable

FRAME_MS = 17  # toolkits draw at most 60 times a second
#: The calls in which event loops sleep, by number, and which argument is the time-out in milliseconds.
TIMEOUTS = {
    "x86_64": {b"7": 2, b"232": 3, b"281": 3},  # poll, epoll_wait, epoll_pwait
    "aarch64": {b"22": 3},  # epoll_pwait; its ppoll has the time-out in memory, which is not looked at
}.get(os.uname().machine, {})


class Activity:
    def __init__(self, pids: Callable[[], list[int]]) -> None:
        self.pids = pids
        self.newest = b""
        self.loads = os.open("/proc/loadavg", os.O_RDONLY | os.O_CLOEXEC)
        self.threads: list[tuple[int, int, int]] = []

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
        for _state, schedule, _call in self.threads:
            with contextlib.suppress(OSError):
                total += int(os.pread(schedule, 64, 0).split()[2])
        return total

    def due(self) -> bool:
        """Whether any thread has set itself to wake within a frame, as toolkits do that have to draw."""
        for thread in self.threads:
            # "running", or the number of the call that it sleeps in and its arguments.
            with contextlib.suppress(OSError):
                called = os.pread(thread[2], 160, 0).split()
                place = TIMEOUTS.get(called[0])
                if place is not None and 0 < int(called[1 + place], 16) <= FRAME_MS:
                    return True
        return False

    def watch(self, place: str) -> None:
        files: list[int] = []
        try:
            for name in ("stat", "schedstat", "syscall"):
                files.append(os.open(place + name, os.O_RDONLY | os.O_CLOEXEC))
        except OSError:
            close(files)
            raise
        self.threads.append((files[0], files[1], files[2]))

    def forget(self) -> None:
        """Close the files; they are found again when asked for."""
        for thread in self.threads:
            close(thread)
        self.threads.clear()
        self.newest = b""


def close(files: Iterable[int]) -> None:
    for fd in files:
        os.close(fd)
