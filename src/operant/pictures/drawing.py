"""Actions drawn on the screens that they were done to: a ring for a click, a path for a drag, a line of text.

Works on Pillow images and knows nothing of files or episodes.
"""

from __future__ import annotations

import functools
import math
from typing import Any

from PIL import Image, ImageDraw, ImageFont

from operant.types import Action, ActionKind, Point, Size

__all__ = ["draw_action", "draw_caption", "font"]

RING = (230, 57, 70, 255)
HALO = (255, 255, 255, 220)
SHADE = (18, 22, 30, 210)
SAID = (244, 246, 250, 255)
WARNED = (255, 180, 84, 255)


def draw_action(image: Image.Image, action: Action | None, pointer: Point | None = None) -> Image.Image:
    """A copy of the screen with the action on it; ``pointer`` is for actions that name no place."""
    canvas = image.convert("RGBA")
    layer = Image.new("RGBA", canvas.size)
    pen = _Pen(layer)
    if action is not None:
        if action.kind is ActionKind.DRAG:
            path = list(action.path)
            if len(path) == 1 and pointer is not None:
                path.insert(0, pointer)
            pen.path(path)
        elif action.kind is ActionKind.SCROLL:
            pen.scroll(action.point or pointer or Point(0.5, 0.5), action.dx, action.dy)
        elif action.kind in (ActionKind.CLICK, ActionKind.MOUSE_DOWN, ActionKind.MOUSE_UP):
            place = action.point or pointer
            if place is not None:
                pen.rings(place, action.clicks)
        elif action.kind is ActionKind.MOVE and action.point is not None:
            pen.cross(action.point)
    return Image.alpha_composite(canvas, layer).convert("RGB")


def draw_caption(image: Image.Image, text: str, *, warning: bool = False) -> Image.Image:
    """A copy of the screen with a line of text in a strip at the bottom."""
    canvas = image.convert("RGBA")
    layer = Image.new("RGBA", canvas.size)
    width, height = canvas.size
    letters = font(max(12, round(height / 40)))
    strip = round(letters.size * 1.9)
    draw = ImageDraw.Draw(layer)
    draw.rectangle((0, height - strip, width, height), fill=SHADE)
    room = width - letters.size * 1.4
    while len(text) > 1 and draw.textlength(text, font=letters) > room:
        text = text[:-2] + "…"
    draw.text(
        (letters.size * 0.7, height - strip / 2),
        text,
        font=letters,
        fill=WARNED if warning else SAID,
        anchor="lm",
    )
    return Image.alpha_composite(canvas, layer).convert("RGB")


class _Pen:
    """Lines on a transparent layer, as thick as the screen is large."""

    def __init__(self, layer: Image.Image) -> None:
        self.draw = ImageDraw.Draw(layer)
        self.size = Size(*layer.size)
        self.unit = max(1.0, layer.height / 400)

    def rings(self, point: Point, count: int) -> None:
        x, y = point.to_pixel(self.size)
        for number in range(count):
            self._circle(x, y, (7 + 4 * number) * self.unit)
        self._dot(x, y)

    def cross(self, point: Point) -> None:
        x, y = point.to_pixel(self.size)
        arm = 7 * self.unit
        self._line([(x - arm, y), (x + arm, y)])
        self._line([(x, y - arm), (x, y + arm)])

    def path(self, points: list[Point]) -> None:
        places = [point.to_pixel(self.size) for point in points]
        if len(places) > 1:
            self._line([(float(x), float(y)) for x, y in places])
            self._arrow(places[-2], places[-1])
        self._circle(*places[0], 5 * self.unit)

    def scroll(self, point: Point, dx: float, dy: float) -> None:
        x, y = point.to_pixel(self.size)
        reach = 18 * self.unit
        length = math.hypot(dx, dy) or 1.0
        end = (x + round(reach * dx / length), y + round(reach * dy / length))
        self._circle(x, y, 5 * self.unit)
        self._line([(float(x), float(y)), (float(end[0]), float(end[1]))])
        self._arrow((x, y), end)

    def _line(self, places: list[tuple[float, float]]) -> None:
        self.draw.line(places, fill=HALO, width=round(4 * self.unit), joint="curve")
        self.draw.line(places, fill=RING, width=round(2 * self.unit), joint="curve")

    def _arrow(self, start: tuple[int, int], end: tuple[int, int]) -> None:
        angle = math.atan2(end[1] - start[1], end[0] - start[0])
        sides = [
            (end[0] - 9 * self.unit * math.cos(angle + turn), end[1] - 9 * self.unit * math.sin(angle + turn))
            for turn in (-0.45, 0.45)
        ]
        self.draw.polygon([(float(end[0]), float(end[1])), *sides], fill=RING, outline=HALO)

    def _circle(self, x: float, y: float, radius: float) -> None:
        for colour, wider, width in ((HALO, self.unit, 4), (RING, 0.0, 2)):
            r = radius + wider
            self.draw.ellipse((x - r, y - r, x + r, y + r), outline=colour, width=round(width * self.unit))

    def _dot(self, x: float, y: float) -> None:
        r = 1.5 * self.unit
        self.draw.ellipse((x - r, y - r, x + r, y + r), fill=RING)


@functools.cache
def font(size: int) -> Any:
    """Letters of that height in pixels."""
    for name in ("DejaVuSans.ttf", "NotoSans-Regular.ttf"):
        try:
            return ImageFont.truetype(name, size)
        except OSError:
            continue
    return ImageFont.load_default(size)
