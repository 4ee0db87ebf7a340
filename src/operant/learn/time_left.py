"""Seconds in words, for people who wait. Imports nothing: pages use it as well."""

from __future__ import annotations

__all__ = ["in_words"]


def in_words(seconds: float) -> str:
    """``2 h 39 min``, ``12 min`` or ``40 s``."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min"
