"""Who keeps the desktops: leases them to clients, makes their calls, and takes back what nobody uses any more.

A lease ends when its client says so or makes no call for a while; the pool resets or replaces the desktop. The
last answer of each lease is remembered, so that a call which is sent again is not made again.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
from loguru import logger

from operant.config.desktop import DesktopConfig
from operant.desktop.pool import DesktopPool, Lease
from operant.desktop.remote.frames import FrameSender
from operant.desktop.remote.wire import PROTOCOL, failure_to, pack, plain
from operant.desktop.sandbox import SandboxDesktop
from operant.errors import ConfigError, DesktopClosed, OperantError, SessionBusy, UnknownSession
from operant.service.desktops.calls import make_call
from operant.types import Monitor, StepResult

__all__ = ["DesktopHost"]

LEASE_WAIT_S = 10.0


class DesktopHost:
    """Desktops of one configuration on this machine. Safe for threads."""

    def __init__(
        self,
        count: int,
        config: DesktopConfig | None = None,
        *,
        idle_s: float = 300.0,
        lease_wait_s: float = LEASE_WAIT_S,
        factory: Callable[[DesktopConfig], SandboxDesktop] = SandboxDesktop,
    ) -> None:
        self.idle_s = idle_s
        self.lease_wait_s = lease_wait_s
        self.pool = DesktopPool(count, config, ttl_s=idle_s, factory=factory)
        self._guests: dict[str, _Guest] = {}
        self._lock = threading.Lock()

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
        guest = _Guest(self.pool.lease(timeout_s=self.lease_wait_s, ttl_s=self.idle_s))
        with self._lock:
            self._forget_ended()
            self._guests[guest.id] = guest
        desktop = guest.lease.desktop
        logger.info("desktop {} is leased", guest.id[:6])
        return {
            "id": guest.id,
            "size": {"width": desktop.size.width, "height": desktop.size.height},
            "monitors": plain(list(desktop.monitors), list[Monitor]),
            "idle_s": self.idle_s,
        }

    def call(self, id: str, message: dict[str, Any]) -> bytes:
        guest = self._find(id)
        guest.lease.renew(self.idle_s)
        return guest.call(message)

    def glance(self, id: str) -> bytes:
        return pack({"frame": FrameSender().write(self._find(id).lease.desktop.glance())})

    def release(self, id: str) -> None:
        """Releasing twice does no harm."""
        with self._lock:
            guest = self._guests.pop(id, None)
        if guest is not None:
            guest.lease.release()
            logger.info("desktop {} is back", id[:6])

    def close(self) -> None:
        self.pool.close()

    def _find(self, id: str) -> _Guest:
        with self._lock:
            guest = self._guests.get(id)
        if guest is None or guest.ended:
            raise UnknownSession("there is no such lease", hint="it ended, or the server was started anew")
        return guest

    def _forget_ended(self) -> None:
        for id in [id for id, guest in self._guests.items() if guest.ended]:
            del self._guests[id]


class _Guest:
    """One client's desktop, and the last thing that it was told."""

    def __init__(self, lease: Lease) -> None:
        self.id = secrets.token_urlsafe(16)
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
