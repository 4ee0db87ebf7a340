"""Desktops that other machines serve with ``operant desktop serve``, leased over HTTP."""

from __future__ import annotations

import threading

from pydantic import Field

from operant.config.desktop import DesktopConfig
from operant.config.provider import PlaceConfig
from operant.desktop.protocol import Desktop
from operant.desktop.providers.base import Provider
from operant.desktop.remote import RemoteFleet

__all__ = ["RemoteProvider", "RemoteSettings"]


class RemoteSettings(PlaceConfig):
    """Section ``remote``."""

    urls: tuple[str, ...] = Field(min_length=1)
    """Addresses of ``operant desktop serve``, such as http://10.0.0.7:8765; desktops are leased from them in turn."""
    token_variable: str = "OPERANT_TOKEN"
    """Environment variable with their token."""
    timeout_s: float = Field(30.0, gt=0)
    """Seconds for one call, beyond what the call itself may take."""


class RemoteProvider(Provider[RemoteSettings]):
    """Leases desktops of servers in turn; a server that is down is passed over."""

    name = "remote"
    settings_type = RemoteSettings

    def __init__(self, settings: RemoteSettings) -> None:
        super().__init__(settings)
        self._fleet: RemoteFleet | None = None
        self._lock = threading.Lock()

    def check(self, config: DesktopConfig) -> None:
        self._lines().check(config)

    def start(self, config: DesktopConfig) -> Desktop:
        return self._lines().lease(config)

    def close(self) -> None:
        with self._lock:
            fleet, self._fleet = self._fleet, None
        if fleet is not None:
            fleet.close()

    def _lines(self) -> RemoteFleet:
        with self._lock:
            if self._fleet is None:
                said = self.settings
                self._fleet = RemoteFleet(
                    said.urls, token_variable=said.token_variable, timeout_s=said.timeout_s
                )
            return self._fleet
