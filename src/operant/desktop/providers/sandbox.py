"""Desktops of this machine behind walls of its own kernel: what is used unless another provider is named."""

from __future__ import annotations

from operant.config.desktop import DesktopConfig
from operant.config.provider import PlaceConfig
from operant.desktop.protocol import Desktop
from operant.desktop.providers.base import Provider
from operant.desktop.reaper import reap

__all__ = ["SandboxProvider"]


class SandboxProvider(Provider[PlaceConfig]):
    """Starts a desktop in half a second; it can't outlive this process."""

    name = "sandbox"

    def start(self, config: DesktopConfig) -> Desktop:
        from operant.desktop.sandbox import SandboxDesktop  # X11 is imported only where it is used

        return SandboxDesktop(config)

    def sweep(self) -> int:
        return reap()[0]
