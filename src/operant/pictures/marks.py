"""Numbered marks on parts of a picture: a frame around each and its number in a corner ("set of marks").

Works on Pillow images and knows nothing of widgets.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PIL import Image, ImageDraw

from operant.pictures.drawing import font

__all__ = ["draw_marks"]

#: Neighbours differ, and black or white numbers can be read on each.
COLOURS = ((214, 39, 40), (31, 119, 180), (44, 160, 44), (148, 103, 189), (227, 119, 34), (23, 140, 150))
WHITE = (255, 255, 255)


def draw_marks(image: Image.Image, boxes: Sequence[tuple[float, float, float, float]]) -> Image.Image:
    """A copy with the marks 1, 2, 3 ... Boxes are left, top, width, height in the image's pixels."""
    canvas = image.convert("RGB")
    draw = ImageDraw.Draw(canvas)
    letters = font(max(10, round(min(image.size) / 65)))
    for number, (left, top, width, height) in enumerate(boxes, 1):
        colour = COLOURS[number % len(COLOURS)]
        draw.rectangle((left, top, max(left, left + width - 1), max(top, top + height - 1)), outline=colour)
        _number(draw, str(number), left, top, colour, letters, image.size)
    return canvas


def _number(
    draw: ImageDraw.ImageDraw,
    text: str,
    left: float,
    top: float,
    colour: tuple[int, int, int],
    letters: Any,
    size: tuple[int, int],
) -> None:
    """The number on a plate above the upper left corner, which hides little of the widget; else inside it."""
    width = draw.textlength(text, font=letters) + 3
    height = letters.size + 1
    x = min(left, size[0] - width)
    y = top - height if top >= height else top
    draw.rectangle((x, y, x + width, y + height), fill=colour)
    draw.text((x + width / 2 + 0.5, y + height / 2), text, font=letters, fill=WHITE, anchor="mm")
