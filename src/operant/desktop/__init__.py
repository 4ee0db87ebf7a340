"""Desktops that one can see and touch: sandboxed ones, the user's own, and pools of them."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from operant.config.desktop import DesktopConfig
    from operant.desktop.local import LocalDesktop
    from operant.desktop.pool import DesktopPool, Lease
    from operant.desktop.protocol import Desktop
    from operant.desktop.sandbox import SandboxDesktop

__all__ = ["Desktop", "DesktopConfig", "DesktopPool", "Lease", "LocalDesktop", "SandboxDesktop"]

# Imported when first asked for: a live screen needs no sandbox, and neither is needed to read a config.
_HOMES = {
    "Desktop": "operant.desktop.protocol",
    "DesktopConfig": "operant.config.desktop",
    "DesktopPool": "operant.desktop.pool",
    "Lease": "operant.desktop.pool",
    "LocalDesktop": "operant.desktop.local",
    "SandboxDesktop": "operant.desktop.sandbox",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
