"""Desktops of several machines as one place to get them from: for pools, which ask again when one fails."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from loguru import logger

from operant.config.desktop import DesktopConfig
from operant.config.settings import read_variable
from operant.desktop.remote.client import CALL_S, RemoteDesktop
from operant.desktop.remote.connection import Connection
from operant.errors import ConfigError, DesktopTimeout, OperantError, RemoteDesktopError

if TYPE_CHECKING:
    from operant.desktop.protocol import Desktop

__all__ = ["RemoteFleet"]

#: A server that is down is asked once and then passed over for another; the pool asks again later.
PATIENCE_S = 2.0
CHECK_S = 5.0


class RemoteFleet:
    """Leases desktops of these servers in turn. ``token_variable`` names the variable with their token.

    >>> fleet = RemoteFleet(["http://10.0.0.7:8765"])  # doctest: +SKIP
    >>> DesktopPool(8, factory=fleet.lease)  # doctest: +SKIP
    """

    def __init__(
        self, urls: Sequence[str], *, token_variable: str = "OPERANT_TOKEN", timeout_s: float = CALL_S
    ) -> None:
        if not urls:
            raise ConfigError("a fleet without a single address")
        token = read_variable(token_variable)
        self.lines = [Connection(url, token, patience_s=PATIENCE_S) for url in dict.fromkeys(urls)]
        self.timeout_s = timeout_s
        self._turns = itertools.count()
        self._lock = threading.Lock()

    def check(self, config: DesktopConfig) -> None:
        """Ask every server at once. It is an error if none answers, or if one's desktops are of another size."""
        failure: OperantError | None = None
        answered = 0
        for line in self.lines:
            try:
                about = line.get("/v1/about", CHECK_S)
            except (RemoteDesktopError, DesktopTimeout) as error:
                logger.warning("{}", error.message)
                failure = error
                continue
            answered += 1
            if about.get("size") != list(config.size):
                shown = about.get("size")
                raise ConfigError(
                    f"desktops of {line.url} are {shown}, and {config.size} was asked for",
                    hint=f"start it with --width {config.width} --height {config.height}",
                )
        if not answered and failure is not None:
            raise failure

    def lease(self, config: DesktopConfig) -> Desktop:
        """A desktop of the next server that has one; if none has, what the last one said."""
        with self._lock:
            first = next(self._turns)
        count = len(self.lines)
        failure: OperantError | None = None
        for offset in range(count):
            line = self.lines[(first + offset) % count]
            try:
                return RemoteDesktop(line, config, timeout_s=self.timeout_s)
            except (RemoteDesktopError, DesktopTimeout) as error:
                failure = error  # down, slow or full: the others may have one
        assert failure is not None
        raise failure

    def close(self) -> None:
        for line in self.lines:
            line.close()
