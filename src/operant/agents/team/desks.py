"""The desktops that a team opens beside the episode's: a pool that is started when the first part needs it.

Knows nothing of parts.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from operant.config.desktop import DesktopConfig
from operant.desktop.pool import DesktopPool, Lease
from operant.desktop.sandbox import SandboxDesktop
from operant.errors import DesktopStartError, PoolExhausted

if TYPE_CHECKING:
    from operant.desktop.protocol import Desktop

__all__ = ["Desks"]

LEASE_S = 120.0


class Desks:
    """At most ``most`` desktops like the episode's. Safe for threads."""

    def __init__(self, most: int, factory: Callable[[DesktopConfig], Desktop] = SandboxDesktop) -> None:
        self._most = most
        self._factory = factory
        self._lock = threading.Lock()
        self._config = DesktopConfig()
        self._pool: DesktopPool | None = None

    def like(self, desktop: Desktop) -> None:
        """From now on they are of this one's kind: its screen, network and limits."""
        config = getattr(desktop, "config", None)
        if not isinstance(config, DesktopConfig):
            config = DesktopConfig(width=desktop.size.width, height=desktop.size.height)
        with self._lock:
            if config != self._config:
                self._config = config
                self._close()

    def lease(self) -> Lease:
        with self._lock:
            if self._pool is None:
                self._pool = DesktopPool(self._most, self._config, factory=self._factory)
            pool = self._pool
        try:
            return pool.lease(timeout_s=LEASE_S)
        except PoolExhausted as error:
            raise DesktopStartError(f"no desktop for a part of the team: {error.message}") from error

    def close(self) -> None:
        with self._lock:
            self._close()

    def _close(self) -> None:
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.close()
