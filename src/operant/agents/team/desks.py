"""The desktops that a team opens beside the episode's: a pool that is started with the first episode.

Knows nothing of parts.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from operant.agents.team.background import in_background
from operant.config.desktop import DesktopConfig
from operant.desktop.pool import DesktopPool, Lease
from operant.desktop.sandbox import SandboxDesktop
from operant.errors import DesktopClosed, DesktopStartError, PoolExhausted

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
        self._closed = False

    def like(self, desktop: Desktop) -> None:
        """From now on they are of this one's kind: its screen, network and limits."""
        config = getattr(desktop, "config", None)
        if not isinstance(config, DesktopConfig):
            config = DesktopConfig(width=desktop.size.width, height=desktop.size.height)
        with self._lock:
            if config != self._config:
                self._config = config
                self._close()

    def warm(self) -> None:
        """Start them in the background: a part will need them soon. What goes wrong is told when one is leased."""
        in_background("operant-desks", self._open)

    def lease(self) -> Lease:
        pool = self._open()
        try:
            return pool.lease(timeout_s=LEASE_S)
        except PoolExhausted as error:
            raise DesktopStartError(f"no desktop for a part of the team: {error.message}") from error

    def close(self) -> None:
        with self._lock:
            self._closed = True
            self._close()

    def _open(self) -> DesktopPool:
        with self._lock:
            if self._closed:
                raise DesktopClosed("the team has been closed")
            if self._pool is None:
                self._pool = DesktopPool(self._most, self._config, factory=self._factory)
            return self._pool

    def _close(self) -> None:
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.close()
