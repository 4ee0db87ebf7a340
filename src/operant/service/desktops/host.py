"""Keeps the desktops: leases them to clients, makes their calls, and takes back unused ones.

A lease ends when its client says so or makes no call for a while; the pool resets or replaces the desktop. The
last answer of each lease is remembered, so that a call which is sent again is not made again.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
from loguru import logger

from operant.config.desktop import DesktopConfig
from operant.desktop.pool import DesktopPool, Lease
from operant.desktop.protocol import Desktop
from operant.desktop.remote.frames import FrameSender
from operant.desktop.remote.wire import PROTOCOL, failure_to, pack, plain
from operant.desktop.sandbox import SandboxDesktop
from operant.errors import ConfigError, DesktopClosed, OperantError, SessionBusy, UnknownSession
from operant.service.desktops.calls import make_call
from operant.types import Monitor, StepResult

__all__ = ["DesktopHost"]

LEASE_WAIT_S = 10.0
LONGEST_S = 3600.0
NAME = re.compile(r"[\w-]{16,64}", re.ASCII)


class DesktopHost:
    """Desktops of one configuration on this machine. Safe for threads."""

    def __init__(
        self,
        count: int,
        config: DesktopConfig | None = None,
        *,
        idle_s: float = 300.0,
        lease_wait_s: float = LEASE_WAIT_S,
        factory: Callable[[DesktopConfig], Desktop] = SandboxDesktop,
    ) -> None:
        self.idle_s = idle_s
        self.lease_wait_s = lease_wait_s
        self.pool = DesktopPool(count, config, ttl_s=idle_s, factory=factory)
        self._guests: dict[str, _Guest] = {}
        self._arriving: set[str] = set()
        self._changed = threading.Condition()

    def about(self) -> dict[str, Any]:
        status = self.pool.status()
        return {
            "protocol": PROTOCOL,
            "size": list(self.pool.config.size),
            "desktops": self.pool.size,
            "ready": status.ready,
            "leased": status.leased,
        }

    def lease(self, wanted: dict[str, Any]) -> dict[str, Any]:
        """A desktop for a client that speaks our protocol; says how large it is."""
        if wanted.get("protocol") != PROTOCOL:
            raise ConfigError(
                f"this server speaks protocol {PROTOCOL}, and the client {wanted.get('protocol')!r}",
                hint="install the same version of Operant on both machines",
            )
        id = wanted.get("id")
        if not isinstance(id, str) or not NAME.fullmatch(id):
            raise ConfigError("a lease has an id of 16 to 64 letters, digits, - and _, drawn by its client")
        with self._changed:
            self._changed.wait_for(lambda: id not in self._arriving)
            guest = self._guests.get(id)
            if guest is not None and not guest.ended:
                return self._describe(guest)  # asked again: the line broke before the answer came
            self._arriving.add(id)
        try:
            guest = _Guest(id, self.pool.lease(timeout_s=self.lease_wait_s, ttl_s=self.idle_s))
            with self._changed:
                self._forget_ended()
                self._guests[id] = guest
        finally:
            with self._changed:
                self._arriving.discard(id)
                self._changed.notify_all()
        logger.info("desktop {} is leased", id[:6])
        return self._describe(guest)

    def _describe(self, guest: _Guest) -> dict[str, Any]:
        desktop = guest.lease.desktop
        return {
            "id": guest.id,
            "size": {"width": desktop.size.width, "height": desktop.size.height},
            "monitors": plain(list(desktop.monitors), list[Monitor]),
            "profile": desktop.profile,
            "idle_s": self.idle_s,
        }

    def call(self, id: str, message: dict[str, Any]) -> bytes:
        guest = self._find(id)
        guest.lease.renew(self.idle_s + _takes(message.get("arguments")))
        return guest.call(message)

    def glance(self, id: str) -> bytes:
        return pack({"frame": FrameSender().write(self._find(id).lease.desktop.glance())})

    def release(self, id: str) -> None:
        """Releasing twice does no harm."""
        with self._changed:
            guest = self._guests.pop(id, None)
        if guest is not None:
            guest.lease.release()
            logger.info("desktop {} is back", id[:6])

    def close(self) -> None:
        self.pool.close()

    def _find(self, id: str) -> _Guest:
        with self._changed:
            guest = self._guests.get(id)
        if guest is None or guest.ended:
            raise UnknownSession("there is no such lease", hint="it ended, or the server was started anew")
        return guest

    def _forget_ended(self) -> None:
        for id in [id for id, guest in self._guests.items() if guest.ended]:
            del self._guests[id]


class _Guest:
    """One client's desktop, and the last thing that it was told."""

    def __init__(self, id: str, lease: Lease) -> None:
        self.id = id
        self.lease = lease
        self._frames = FrameSender()
        self._lock = threading.Lock()
        self._number = 0
        self._answer = b""

    @property
    def ended(self) -> bool:
        try:
            return self.lease.desktop is None
        except DesktopClosed:
            return True

    def call(self, message: dict[str, Any]) -> bytes:
        number, name, arguments = (message.get(key) for key in ("number", "call", "arguments"))
        if not (isinstance(number, int) and isinstance(name, str) and isinstance(arguments, dict)):
            raise ConfigError("a call has a number, a name and arguments")
        with self._lock:
            if number == self._number:
                return self._answer
            if number < self._number:
                raise SessionBusy("a call that was overtaken by a later one")
            self._answer = pack(self._make(name, arguments, message.get("known")))
            self._number = number
            return self._answer

    def _make(self, name: str, arguments: dict[str, Any], known: Any) -> dict[str, Any]:
        try:
            desktop = self.lease.desktop
            result = make_call(desktop, name, arguments)
            step = plain(desktop.last_step, StepResult)
        except (OperantError, OSError) as error:
            return {"failure": failure_to(error)}
        if isinstance(result, np.ndarray):
            return {
                "frame": self._frames.write(result, known if isinstance(known, int) else None),
                "step": step,
            }
        return {"result": result, "step": step}


def _takes(arguments: Any) -> float:
    """Seconds that a call may take by what it asks for: a lease is not idle meanwhile."""
    seconds = arguments.get("seconds") if isinstance(arguments, dict) else None
    return min(max(0.0, float(seconds)), LONGEST_S) if isinstance(seconds, (int, float)) else 0.0
