"""The frame that Openbox draws around a window with the theme of ``files/openbox.xml``, in pixels."""

from __future__ import annotations

__all__ = ["ABOVE", "BELOW", "BESIDE"]

ABOVE = 20  # the title bar and the lines around it
BESIDE = 1  # left and right
BELOW = 5  # the handle
