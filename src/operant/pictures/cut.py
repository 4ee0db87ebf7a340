"""Parts of a screen."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from operant.types import Point

__all__ = ["cut_out"]


def cut_out(screen: npt.NDArray[np.uint8], region: tuple[Point, Point] | None) -> npt.NDArray[np.uint8]:
    """The pixels between two corners, one pixel at least; without a region the whole screen. Not a copy."""
    if region is None:
        return screen
    height, width = screen.shape[:2]
    left, right = _edges(region[0].x, region[1].x, width)
    top, bottom = _edges(region[0].y, region[1].y, height)
    return screen[top:bottom, left:right]


def _edges(one: float, other: float, size: int) -> tuple[int, int]:
    """Corners lie between pixels: 0 is before the first one, 1 after the last one."""
    begin, end = sorted((round(one * size), round(other * size)))
    begin = min(begin, size - 1)
    return begin, max(end, begin + 1)
