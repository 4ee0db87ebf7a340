"""The grids in which formats count coordinates, and the canonical points behind them.

Knows nothing of actions. Pixels are whole cells and a point is the centre of one; thousandths are
plain fractions. ``edge`` and ``locate_edge`` are for borders of regions, which lie between pixels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from operant.actions.payload import Fields, check_number, malformed, quoting
from operant.errors import InvalidAction
from operant.types import Point, Size

__all__ = ["Grid", "Pixels", "Thousandths", "pair", "point_at", "region_at"]


@dataclass(frozen=True, slots=True)
class Pixels:
    """Pixels of a screen, or of the picture of it that a model was shown."""

    size: Size

    def point(self, x: float, y: float) -> Point:
        return Point.from_pixel(x, y, self.size)

    def locate(self, point: Point) -> tuple[int, int]:
        return point.to_pixel(self.size)

    def edge(self, x: float, y: float) -> Point:
        return Point(x / self.size.width, y / self.size.height)

    def locate_edge(self, point: Point) -> tuple[int, int]:
        return round(point.x * self.size.width), round(point.y * self.size.height)


@dataclass(frozen=True, slots=True)
class Thousandths:
    """Fractions of the screen in steps of 1/1000, both ends included, whatever its size."""

    size: None = None

    def point(self, x: float, y: float) -> Point:
        if not (0 <= x <= 1000 and 0 <= y <= 1000):
            raise InvalidAction(f"({x:g}, {y:g}) is off the screen", hint="coordinates go from 0 to 1000")
        return Point(x / 1000, y / 1000)

    def locate(self, point: Point) -> tuple[int, int]:
        return round(point.x * 1000), round(point.y * 1000)


Grid: TypeAlias = Pixels | Thousandths


def pair(value: object, grid: Grid) -> Point:
    """The point of a list of two numbers."""
    if not isinstance(value, Sequence) or isinstance(value, str) or len(value) != 2:
        raise malformed("not a pair of coordinates", value)
    x, y = check_number(value[0], "x"), check_number(value[1], "y")
    with quoting(value):
        return grid.point(x, y)


def point_at(fields: Fields, grid: Grid) -> Point | None:
    """The point of the fields ``x`` and ``y``, or None if neither is there."""
    if "x" not in fields and "y" not in fields:
        fields.ignore("x", "y")
        return None
    return pair([fields.number("x"), fields.number("y")], grid)


def region_at(value: object, grid: Pixels) -> tuple[Point, Point]:
    """The region of a list of four numbers: left, top, right, bottom."""
    if not isinstance(value, Sequence) or isinstance(value, str) or len(value) != 4:
        raise malformed("not a region of four numbers", value)
    left, top, right, bottom = (check_number(number, "region") for number in value)
    if not (left < right and top < bottom):
        raise malformed("a region without area", value)
    with quoting(value):
        return grid.edge(left, top), grid.edge(right, bottom)
