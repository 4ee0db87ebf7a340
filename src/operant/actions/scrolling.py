"""Directions and units of scrolls, which no two formats agree on.

Canonical scrolls are positive downwards and to the right. Knows nothing of any format's words beyond
the four directions that several of them share.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from operant.actions.base import refuse
from operant.types import Action, ScrollUnit

__all__ = ["DIRECTIONS", "PIXELS_PER_NOTCH", "as_notches", "as_pixels", "direction_of", "whole_scroll"]

#: Direction -> (dx, dy) of one unit.
DIRECTIONS: Mapping[str, tuple[int, int]] = {
    "up": (0, -1),
    "down": (0, 1),
    "left": (-1, 0),
    "right": (1, 0),
}

#: How far applications commonly scroll for one detent of a wheel; they are free to differ.
PIXELS_PER_NOTCH = 100


def as_notches(action: Action) -> Action:
    """The same scroll counted in whole notches; one that is shorter than half a notch still moves by one."""
    if action.unit is ScrollUnit.NOTCH:
        return action
    dx, dy = (_notches(pixels) for pixels in (action.dx, action.dy))
    return replace(action, dx=dx, dy=dy, unit=ScrollUnit.NOTCH)


def _notches(pixels: float) -> float:
    sign = (pixels > 0) - (pixels < 0)
    return float(sign * max(1, round(abs(pixels) / PIXELS_PER_NOTCH)))


def as_pixels(action: Action) -> Action:
    """The same scroll counted in pixels."""
    if action.unit is ScrollUnit.PIXEL:
        return action
    dx, dy = action.dx * PIXELS_PER_NOTCH, action.dy * PIXELS_PER_NOTCH
    return replace(action, dx=dx, dy=dy, unit=ScrollUnit.PIXEL)


def whole_scroll(format_name: str, action: Action, unit: ScrollUnit) -> tuple[int, int]:
    """``(dx, dy)`` for a format that counts whole ``unit``s."""
    if action.unit is not unit:
        refuse(format_name, action, f"it counts scrolls in {unit.value}s; see operant.actions.scrolling")
    if not (float(action.dx).is_integer() and float(action.dy).is_integer()):
        refuse(format_name, action, f"it scrolls by whole {unit.value}s")
    return int(action.dx), int(action.dy)


def direction_of(format_name: str, action: Action) -> tuple[str, int]:
    """The direction and the number of notches, for a format that scrolls along one axis at a time."""
    dx, dy = whole_scroll(format_name, action, ScrollUnit.NOTCH)
    if dx and dy:
        refuse(format_name, action, "it scrolls along one axis at a time")
    if dx:
        return ("right" if dx > 0 else "left"), abs(dx)
    return ("up" if dy < 0 else "down"), abs(dy)
