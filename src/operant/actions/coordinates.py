"""The grids in which formats count coordinates, and the canonical points behind them.

Knows nothing of actions. Pixels are whole cells and a point is the centre of one; thousandths are
plain fractions. ``edge`` and ``locate_edge`` are for borders of regions, which lie between pixels.
``Units`` names the grids for those who choose one. What size a model's picture of the screen has:
``operant.actions.frames``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from operant.actions.payload import Fields, check_number, malformed, quoting
from operant.errors import InvalidAction
from operant.types import Point, Size

__all__ = ["Fractions", "Grid", "Pixels", "Thousandths", "Units", "pair", "point_at", "region_at"]


@dataclass(frozen=True, slots=True)
class Pixels:
    """Pixels of a screen, or of the picture of it that a model was shown."""

    size: Size
    clamps: bool = False
    """Whether a coordinate equal to the width or height means the last pixel, as models use it."""

    def point(self, x: float, y: float) -> Point:
        if self.clamps:
            x = self.size.width - 1 if x == self.size.width else x
            y = self.size.height - 1 if y == self.size.height else y
        return Point.from_pixel(x, y, self.size)

    def locate(self, point: Point) -> tuple[int, int]:
        return point.to_pixel(self.size)

    def edge(self, x: float, y: float) -> Point:
        return Point(x / self.size.width, y / self.size.height)

    def locate_edge(self, point: Point) -> tuple[int, int]:
        return round(point.x * self.size.width), round(point.y * self.size.height)


@dataclass(frozen=True, slots=True)
class Thousandths:
    """Fractions of the screen in steps of 1/1000, whatever its size."""

    size: None = None
    last: int = 1000
    """The largest number that the format writes: 1000, or 999. A 1000 is read in either case."""
    shown: Size | None = None
    """The picture that the model sees, for formats that count distances in thousandths of it."""

    def point(self, x: float, y: float) -> Point:
        if not (0 <= x <= 1000 and 0 <= y <= 1000):
            raise InvalidAction(f"({x:g}, {y:g}) is off the screen", hint="coordinates go from 0 to 1000")
        return Point(min(x, self.last) / 1000, min(y, self.last) / 1000)

    def locate(self, point: Point) -> tuple[int, int]:
        return min(round(point.x * 1000), self.last), min(round(point.y * 1000), self.last)

    def edge(self, x: float, y: float) -> Point:
        return Point(x / 1000, y / 1000)

    def locate_edge(self, point: Point) -> tuple[int, int]:
        return round(point.x * 1000), round(point.y * 1000)


@dataclass(frozen=True, slots=True)
class Fractions:
    """Fractions of the screen from 0 to 1, written with four digits: a fifth of a pixel of a 4K screen."""

    size: None = None

    def point(self, x: float, y: float) -> Point:
        return Point(x, y)

    def locate(self, point: Point) -> tuple[float, float]:
        return round(point.x, 4), round(point.y, 4)

    def edge(self, x: float, y: float) -> Point:
        return Point(x, y)

    def locate_edge(self, point: Point) -> tuple[float, float]:
        return self.locate(point)


Grid: TypeAlias = Pixels | Thousandths | Fractions


class Units(str, Enum):
    """What the numbers of a model's coordinates are."""

    PIXELS = "pixels"  # of the picture that it was shown
    THOUSANDTHS = "thousandths"  # of the screen's width and height: 0 to 1000
    UP_TO_999 = "up_to_999"  # the same, but the largest number is 999
    FRACTIONS = "fractions"

    def grid(self, shown: Size) -> Grid:
        """The grid of a model that sees a picture of this size."""
        match self:
            case Units.PIXELS:
                return Pixels(shown, clamps=True)
            case Units.THOUSANDTHS:
                return Thousandths(shown=shown)
            case Units.UP_TO_999:
                return Thousandths(last=999, shown=shown)
        return Fractions()


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


def region_at(value: object, grid: Grid) -> tuple[Point, Point]:
    """The region of a list of four numbers: left, top, right, bottom."""
    if not isinstance(value, Sequence) or isinstance(value, str) or len(value) != 4:
        raise malformed("not a region of four numbers", value)
    left, top, right, bottom = (check_number(number, "region") for number in value)
    if not (left < right and top < bottom):
        raise malformed("a region without area", value)
    with quoting(value):
        return grid.edge(left, top), grid.edge(right, bottom)
