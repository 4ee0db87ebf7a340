"""Whether anything in the desktop is running, asked often and so made cheap.

The state file of every thread is kept open and read again. The list of threads is made anew only when a
process or thread has been born since, which the kernel's last given pid tells.
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
        self.states: list[int] = []

    def running(self) -> int:
        """How many threads run or are about to: none means that nothing more will happen by itself."""
        newest = os.pread(self.loads, 128, 0).rpartition(b" ")[2]
        if newest != self.newest:
            self.forget()
            self.newest = newest
            for pid in self.pids():
                with contextlib.suppress(OSError):
                    for thread in os.listdir("/proc/%d/task" % pid):
                        path = "/proc/%d/task/%s/stat" % (pid, thread)
                        self.states.append(os.open(path, os.O_RDONLY | os.O_CLOEXEC))
        running = 0
        gone = []
        for fd in self.states:
            try:
                text = os.pread(fd, 64, 0)
            except OSError:
                gone.append(fd)
                continue
            # "PID (NAME) STATE ...": the name may hold anything, but is at most 15 bytes long.
            running += text[text.rfind(b")") + 2 : text.rfind(b")") + 3] in (b"R", b"D")
        for fd in gone:
            self.states.remove(fd)
            os.close(fd)
        return running

    def forget(self) -> None:
        """Close the state files; they are found again when asked for."""
        for fd in self.states:
            os.close(fd)
        self.states.clear()
        self.newest = b""
