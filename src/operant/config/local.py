"""Settings of the live screen; whether it may be used at all is never one of them, but said in the call."""

from __future__ import annotations

from pydantic import Field

from operant.config.base import Config
from operant.config.desktop import SettleConfig

__all__ = ["LocalConfig"]


class LocalConfig(Config):
    """The user's own screen."""

    display: str | None = None
    """X display, such as ":0"; none means the one of $DISPLAY. Elsewhere than on X11 it has no meaning."""
    dry_run: bool = False
    """Whether actions are only checked, recorded and logged."""
    panic_corner_px: int = Field(4, ge=1, le=64)
    """How near to a corner, in pixels of the frame, the pointer must be for it to mean "stop"."""
    cursor: bool = True
    """Whether frames show the pointer, as those of sandboxed desktops do (X11 only)."""
    settle: SettleConfig = SettleConfig(first_change_ms=100.0, quiet_ms=50.0)
    """When a step is over. Longer than in a sandbox, where programs can be watched."""
