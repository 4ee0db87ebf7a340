"""Parts of a screen at full resolution."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["cut"]


def cut(screen: npt.NDArray[np.uint8], x: int, y: int, size: int) -> npt.NDArray[np.uint8]:
    """A square of the screen around a pixel; what lies beyond the edge is black."""
    out = np.zeros((size, size, 3), np.uint8)
    height, width = screen.shape[:2]
    left, top = x - size // 2, y - size // 2
    x0, y0, x1, y1 = max(left, 0), max(top, 0), min(left + size, width), min(top + size, height)
    if x0 < x1 and y0 < y1:
        out[y0 - top : y1 - top, x0 - left : x1 - left] = screen[y0:y1, x0:x1]
    return out
