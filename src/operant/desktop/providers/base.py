"""A provider: one place where desktops can be. To add one, subclass ``Provider`` in a file of its own.

A provider makes desktops and puts away what it made. It knows nothing of pools, tasks or agents: a pool takes its
``start`` as the factory.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Generic, TypeVar

from operant.config.desktop import DesktopConfig
from operant.config.provider import PlaceConfig
from operant.desktop.protocol import Desktop

__all__ = ["Provider"]

C = TypeVar("C", bound=PlaceConfig)


class Provider(ABC, Generic[C]):
    """Makes desktops in one place. Safe for threads. Use it as a context manager."""

    name: ClassVar[str]
    settings_type: ClassVar[type[PlaceConfig]] = PlaceConfig
    """The model of its section in the file of ``--provider-config``."""

    def __init__(self, settings: C) -> None:
        self.settings = settings

    @property
    def start_s(self) -> float:
        """Seconds that a desktop may take to come up, or to be reset."""
        return 60.0

    def check(self, config: DesktopConfig) -> None:
        """Raise a typed error for all that can be known to go wrong. Starts nothing."""

    @abstractmethod
    def start(self, config: DesktopConfig) -> Desktop:
        """A desktop in its initial state. What fails leaves nothing behind."""

    def sweep(self) -> int:
        """Remove what owners that crashed have left behind; returns how many machines that were."""
        return 0

    def close(self) -> None:
        """Let go of everything that is left. Closing twice does no harm."""

    def __enter__(self) -> Provider[C]:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
