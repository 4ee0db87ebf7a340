"""Whether anything in the desktop is running, asked often and so made cheap.

The files of every thread that tell of it are kept open and read again. The list of threads is made anew only
when a process or thread has been born since, which the kernel's last given pid tells.
"""

from __future__ import annotations

import contextlib
import os
import struct
from collections.abc import Callable, Iterable

REST_MS = 1000  # programs that wake more often than this at rest do so all the time
FRAME_MS = 17  # toolkits draw at most 60 times a second
#: The calls in which event loops sleep, by number, and which argument is the time-out in milliseconds.
TIMEOUTS = {
    "x86_64": {b"7": 2, b"232": 3, b"281": 3},  # poll, epoll_wait, epoll_pwait
    "aarch64": {b"22": 3},  # epoll_pwait
}.get(os.uname().machine, {})
#: Likewise, for calls whose argument is the address of the time-out (struct timespec).
TIMESPECS = {
    "x86_64": {b"271": 2, b"441": 3},  # ppoll, epoll_pwait2
    "aarch64": {b"73": 2, b"441": 3},
}.get(os.uname().machine, {})


class Activity:
    def __init__(self, pids: Callable[[], list[int]]) -> None:
        self.pids = pids
        self.newest = b""
        self.loads = os.open("/proc/loadavg", os.O_RDONLY | os.O_CLOEXEC)
        #: Their directories below /proc, and what is kept open of each: stat, schedstat, syscall.
        self.threads: dict[str, tuple[int, int, int]] = {}
        self.resting: frozenset[str] = frozenset()

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
            for place, files in self.threads.items():
                try:
                    text = os.pread(files[0], 64, 0)
                except OSError:
                    gone.append(place)
                    continue
                # "PID (NAME) STATE ...": the name may hold anything, but is at most 15 bytes long.
                if text[text.rfind(b")") + 2 : text.rfind(b")") + 3] in (b"R", b"D"):
                    return True
        finally:
            for place in gone:
                close(self.threads.pop(place))
        return False

    def turns(self) -> int:
        """How often any of the threads has been given a processor so far."""
        total = 0
        for _state, schedule, _call in self.threads.values():
            with contextlib.suppress(OSError):
                total += int(os.pread(schedule, 64, 0).split()[2])
        return total

    def due(self) -> bool:
        """Whether any thread has set itself to wake within a frame, as toolkits do that have to draw."""
        return bool(self.waking(FRAME_MS))

    def timers(self, within_ms: int) -> bool:
        """Whether any thread that slept for longer when the desktop was last at rest now wakes within so long."""
        return not self.waking(within_ms) <= self.resting

    def rest(self) -> None:
        """The desktop is at rest: timers that threads have now are of no interest."""
        self.find_threads()
        self.resting = self.waking(REST_MS)

    def waking(self, within_ms: int) -> frozenset[str]:
        """Threads that sleep in an event loop and have set themselves to wake within so many milliseconds."""
        found = []
        for place, files in self.threads.items():
            # "running", or the number of the call that it sleeps in and its arguments.
            with contextlib.suppress(OSError):
                called = os.pread(files[2], 160, 0).split()
                if 0 < timeout_ms(place, called) <= within_ms:
                    found.append(place)
        return frozenset(found)

    def watch(self, place: str) -> None:
        files: list[int] = []
        try:
            for name in ("stat", "schedstat", "syscall"):
                files.append(os.open(place + name, os.O_RDONLY | os.O_CLOEXEC))
        except OSError:
            close(files)
            raise
        self.threads[place] = (files[0], files[1], files[2])

    def forget(self) -> None:
        """Close the files; they are found again when asked for."""
        for files in self.threads.values():
            close(files)
        self.threads.clear()
        self.newest = b""


def timeout_ms(place: str, called: list[bytes]) -> float:
    """How long a thread has asked to sleep for at most; 0 if it does not sleep in such a call, or for ever."""
    if called[0] in TIMEOUTS:
        asked = int(called[1 + TIMEOUTS[called[0]]], 16)
        return asked if asked < 1 << 31 else 0  # -1: for ever
    if called[0] not in TIMESPECS:
        return 0
    address = int(called[1 + TIMESPECS[called[0]]], 16)
    if not address:
        return 0
    memory = os.open(place + "mem", os.O_RDONLY | os.O_CLOEXEC)
    try:
        seconds, nanoseconds = struct.unpack("=qq", os.pread(memory, 16, address))
    finally:
        os.close(memory)
    return float(seconds * 1000 + nanoseconds / 1e6)


def close(files: Iterable[int]) -> None:
    for fd in files:
        os.close(fd)
