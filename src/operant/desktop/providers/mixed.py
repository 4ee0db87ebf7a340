"""Several providers as one: a pool whose desktops are in different places."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from loguru import logger

from operant.config.desktop import DesktopConfig
from operant.config.provider import PlaceConfig
from operant.desktop.protocol import Desktop
from operant.desktop.providers.base import Provider
from operant.errors import OperantError, PoolExhausted, is_fatal

__all__ = ["ProviderMix"]


class ProviderMix(Provider[PlaceConfig]):
    """Takes the provider with the fewest desktops that has room; where one fails, the next.

    Providers with a limit (``desktops``) are filled before those without one.
    """

    name = "mix"

    def __init__(self, parts: Sequence[Provider[Any]]) -> None:
        super().__init__(PlaceConfig())
        self.parts = tuple(parts)
        self._made: dict[str, list[Desktop | None]] = {part.name: [] for part in parts}
        self._lock = threading.Lock()

    @property
    def start_s(self) -> float:
        return max(part.start_s for part in self.parts)

    @property
    def room(self) -> int | None:
        """How many desktops there can be at once; None without a limit."""
        limits = [part.settings.desktops for part in self.parts]
        return None if None in limits else sum(limits)

    def check(self, config: DesktopConfig) -> None:
        for part in self.parts:
            part.check(config)

    def start(self, config: DesktopConfig) -> Desktop:
        failure: OperantError | None = None
        tried: set[str] = set()
        while (part := self._reserve(tried)) is not None:
            tried.add(part.name)
            desktop: Desktop | None = None
            try:
                desktop = part.start(config)
                return desktop
            except OperantError as error:
                if len(self.parts) > 1:
                    logger.warning("provider {}: {}", part.name, error.message)
                if failure is None or is_fatal(failure):
                    failure = error
            finally:
                self._settle(part, desktop)
        if failure is not None:
            raise failure
        raise PoolExhausted(
            f"the providers have room for {self.room} desktops, and all are in use",
            hint="raise desktops in the section of a provider",
        )

    def sweep(self) -> int:
        return sum(part.sweep() for part in self.parts)

    def close(self) -> None:
        for part in self.parts:
            part.close()

    def _reserve(self, tried: set[str]) -> Provider[Any] | None:
        """The provider to ask next. A place in its list is kept for the desktop that it is starting."""
        with self._lock:
            for name, made in self._made.items():
                self._made[name] = [one for one in made if one is None or not one.closed]
            open_ones = [
                part
                for part in self.parts
                if part.name not in tried
                and (part.settings.desktops is None or len(self._made[part.name]) < part.settings.desktops)
            ]
            if not open_ones:
                return None
            chosen = min(open_ones, key=lambda part: (part.settings.desktops is None, self._share(part)))
            self._made[chosen.name].append(None)
            return chosen

    def _share(self, part: Provider[Any]) -> float:
        """How full it is, of its limit; how many it has where there is no limit."""
        return len(self._made[part.name]) / (part.settings.desktops or 1)

    def _settle(self, part: Provider[Any], desktop: Desktop | None) -> None:
        with self._lock:
            made = self._made[part.name]
            made.remove(None)
            if desktop is not None:
                made.append(desktop)
