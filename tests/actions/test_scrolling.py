from __future__ import annotations

import pytest

from operant.actions.scrolling import as_notches, as_pixels
from operant.types import Action, ScrollUnit


@pytest.mark.parametrize(
    ("pixels", "notches"), [(0, 0), (1, 1), (-1, -1), (149, 1), (250.1, 3), (-1000, -10)]
)
def test_pixels_as_notches(pixels: float, notches: float) -> None:
    scroll = Action.scroll(dx=float(pixels), dy=float(-pixels), unit=ScrollUnit.PIXEL)
    assert as_notches(scroll) == Action.scroll(dx=float(notches), dy=float(-notches))


def test_notches_as_pixels_and_back() -> None:
    scroll = Action.scroll(dx=-3.0, dy=5.0, modifiers=("ctrl",))
    pixels = as_pixels(scroll)
    assert (pixels.dx, pixels.dy, pixels.unit) == (-300.0, 500.0, ScrollUnit.PIXEL)
    assert as_notches(pixels) == as_notches(scroll) == scroll
    assert as_pixels(pixels) == pixels
