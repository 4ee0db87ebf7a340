"""The owner's end of a control socket: requests with a time limit, and the events that come between.

Speaks ``inside.wire``. Knows nothing of what a request means.
"""

from __future__ import annotations

import collections
import os
import socket
import threading
import time
from typing import Any

from operant.desktop.inside import wire
from operant.errors import DesktopClosed, DesktopDied, DesktopTimeout

__all__ = ["Channel"]


class Channel:
    """One of the two partners of a desktop: its supervisor, or the episode that runs in it."""

    def __init__(self, sock: socket.socket, partner: str) -> None:
        self._sock = sock
        self._partner = partner
        self._lock = threading.RLock()
        self._next = 0
        self.events: collections.deque[dict[str, Any]] = collections.deque(maxlen=1000)

    def call(self, op: str, *, fds: tuple[int, ...] = (), timeout_s: float = 10.0, **fields: Any) -> Reply:
        """Ask and wait for the answer. What failed inside comes back as the OSError that it was."""
        with self._lock:
            self._next += 1
            number = self._next
            try:
                wire.send(self._open_socket(), {"op": op, "id": number, **fields}, fds)
            except wire.Closed as error:
                raise DesktopDied(f"{self._partner} of the desktop is gone") from error
            deadline = time.monotonic() + timeout_s
            while True:
                message, received = self._receive(deadline - time.monotonic(), f"{self._partner} ({op})")
                if message.get("id") == number:
                    break
                self._note(message, received)
        if "errno" in message:
            raise OSError(message["errno"], message["error"])
        return Reply(message, received)

    def wait_event(self, kind: str, timeout_s: float, **wanted: Any) -> dict[str, Any] | None:
        """The next event of that kind with those fields; None if none comes in time."""
        deadline = time.monotonic() + timeout_s
        with self._lock:
            while True:
                for event in self.events:
                    if event["event"] == kind and all(event.get(k) == v for k, v in wanted.items()):
                        self.events.remove(event)
                        return event
                try:
                    self._note(*self._receive(deadline - time.monotonic(), self._partner))
                except DesktopTimeout:
                    return None

    def fileno(self) -> int:
        return self._open_socket().fileno()

    def close(self) -> None:
        self._sock.close()

    def _open_socket(self) -> socket.socket:
        if self._sock.fileno() < 0:
            raise DesktopClosed("the desktop is closed")
        return self._sock

    def _receive(self, seconds: float, who: str) -> tuple[dict[str, Any], list[int]]:
        sock = self._open_socket()
        sock.settimeout(max(0.001, seconds))
        try:
            return wire.receive(sock)
        except wire.Closed as error:
            raise DesktopDied(f"{self._partner} of the desktop is gone") from error
        except TimeoutError as error:
            raise DesktopTimeout(f"{who} did not answer in time") from error
        except OSError as error:
            raise DesktopClosed("the desktop is closed") from error

    def _note(self, message: dict[str, Any], fds: list[int]) -> None:
        for fd in fds:
            os.close(fd)  # belongs to an answer that is no longer waited for
        if "event" in message:
            self.events.append(message)


class Reply:
    """An answer's fields and the descriptors that came with it."""

    def __init__(self, message: dict[str, Any], fds: list[int]) -> None:
        self._message = message
        self.fds = fds

    def __getitem__(self, field: str) -> Any:
        return self._message[field]

    @property
    def fd(self) -> int:
        """The one descriptor that this answer carries; the caller owns it."""
        return self.fds[0]
