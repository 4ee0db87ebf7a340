"""Settings of ``operant desktop serve``: the desktops that it offers."""

from __future__ import annotations

from operant.config.desktop import DesktopConfig
from operant.config.provider import ProviderSettings

__all__ = ["DesktopServerConfig"]


class DesktopServerConfig(ProviderSettings):
    """Flags win over the file."""

    desktop: DesktopConfig = DesktopConfig()
    """What the desktops are like."""
