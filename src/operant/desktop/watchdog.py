"""Time limits for blocking reads on a socket: one thread cuts the sockets whose time is up.

libxcb waits for replies without a limit, and a program inside can grab the server for ever. Cutting the
socket makes the wait fail at once; the connection is lost with it, which is right: it was stuck.
"""

from __future__ import annotations

import contextlib
import heapq
import itertools
import socket
import threading
import time
from collections.abc import Iterator

__all__ = ["Watchdog"]


class Watchdog:
    """Shared by all desktops of a process; its thread sleeps until the next limit is due."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._limits: list[tuple[float, int, _Limit]] = []
        self._counter = itertools.count()
        self._thread: threading.Thread | None = None

    @contextlib.contextmanager
    def limit(self, sock: socket.socket, seconds: float) -> Iterator[_Limit]:
        """Within this block, ``sock`` is shut down after so many seconds; ``.expired`` tells whether it was."""
        limit = _Limit(sock)
        due = time.monotonic() + seconds
        with self._condition:
            if self._thread is None:
                self._thread = threading.Thread(target=self._watch, name="operant-watchdog", daemon=True)
                self._thread.start()
            heapq.heappush(self._limits, (due, next(self._counter), limit))
            if self._limits[0][2] is limit and self._sleeping_past(due):
                self._condition.notify()
        try:
            yield limit
        finally:
            limit.done = True

    _awake_at = 0.0

    def _sleeping_past(self, due: float) -> bool:
        return self._awake_at == 0.0 or self._awake_at > due

    def _watch(self) -> None:
        with self._condition:
            while True:
                while self._limits and (self._limits[0][2].done or self._limits[0][0] <= time.monotonic()):
                    limit = heapq.heappop(self._limits)[2]
                    if not limit.done:
                        limit.expire()
                if not self._limits:
                    self._awake_at = 0.0
                    self._condition.wait()
                else:
                    self._awake_at = self._limits[0][0]
                    self._condition.wait(self._awake_at - time.monotonic())


class _Limit:
    __slots__ = ("done", "expired", "sock")

    def __init__(self, sock: socket.socket) -> None:
        self.sock, self.done, self.expired = sock, False, False

    def expire(self) -> None:
        self.expired = True
        with contextlib.suppress(OSError):
            self.sock.shutdown(socket.SHUT_RDWR)


watchdog = Watchdog()
