"""Getters: what a metric looks at. Each reads the desktop from outside, or a gold file of the cache."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from operant.tasks.osworld.getters import browser, commands, files, media, screen
from operant.tasks.osworld.getters.evidence import Evidence

__all__ = ["GETTERS", "Evidence"]

#: type -> getter; one that finds nothing returns None
GETTERS: dict[str, Callable[[Mapping[str, Any], Evidence], Any]] = {
    **files.GETTERS,
    **commands.GETTERS,
    **screen.GETTERS,
    **media.GETTERS,
    **browser.GETTERS,
}
