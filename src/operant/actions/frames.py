"""The frame in which a model counts: the size of the picture that it is shown, and the way back to the screen.

A model sees a picture of the screen that keeps to its vendor's limits, and answers in that picture's pixels or
in thousandths of it. Canonical points are fractions, so a point that is read in one frame is exact in every
other one. Knows nothing of pictures' bytes and of actions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

from operant.errors import InvalidAction
from operant.types import Point, Size

__all__ = [
    "ANTHROPIC",
    "ANTHROPIC_MANY_PICTURES",
    "ANTHROPIC_OLDER",
    "COMPUTER_RL",
    "GEMINI",
    "OPENAI",
    "OPENAI_SMALL",
    "QWEN2_5_VL",
    "QWEN3_VL",
    "UI_TARS",
    "UNLIMITED",
    "FixedSize",
    "Frame",
    "Limits",
    "SameShape",
    "WholePatches",
]

#: Sides that differ by more than this are refused by the processors of Qwen's models.
WIDEST_SHAPE = 200


@dataclass(frozen=True, slots=True)
class Frame:
    """A screen and the picture of it that a model is shown."""

    screen: Size
    shown: Size

    def to_screen(self, x: float, y: float) -> tuple[int, int]:
        """The pixel of the screen behind a pixel of the picture."""
        return Point.from_pixel(x, y, self.shown).to_pixel(self.screen)

    def to_shown(self, x: float, y: float) -> tuple[int, int]:
        """The pixel of the picture that shows a pixel of the screen."""
        return Point.from_pixel(x, y, self.screen).to_pixel(self.shown)


@dataclass(frozen=True, slots=True)
class SameShape:
    """The screen as it is, or shrunk to the vendor's limits with its shape kept. 0 is no limit."""

    longest_side: int = 0
    pixels: int = 0
    tiles: int = 0
    """Tiles of ``tile`` pixels a side; one that is only partly covered counts as a whole one."""
    tile: int = 28

    def fit(self, screen: Size) -> Size:
        longest = max(screen)
        side = min(longest, self.longest_side) if self.longest_side else longest
        if self.pixels:
            side = min(side, math.ceil(longest * math.sqrt(self.pixels / (screen.width * screen.height))))
        if self.tiles:
            # A little too large, so that the search below only has to go down.
            room = math.sqrt(self.tiles * self.tile**2 / (screen.width * screen.height))
            side = min(side, math.ceil(longest * room))
        while not self.holds(size := _scaled(screen, side)) and side > 1:
            side -= 1
        return size

    def holds(self, size: Size) -> bool:
        """Whether a picture of this size keeps to the limits."""
        tiles = math.ceil(size.width / self.tile) * math.ceil(size.height / self.tile)
        return (
            (not self.longest_side or max(size) <= self.longest_side)
            and (not self.pixels or size.width * size.height <= self.pixels)
            and (not self.tiles or tiles <= self.tiles)
        )


def _scaled(screen: Size, longest: int) -> Size:
    """The same shape with the longer side this long."""
    ratio = longest / max(screen)
    return Size(max(1, round(screen.width * ratio)), max(1, round(screen.height * ratio)))


@dataclass(frozen=True, slots=True)
class WholePatches:
    """Both sides whole patches, nearly the same shape: the "smart resize" of Qwen and its descendants."""

    patch: int
    least: int
    most: int
    """Bounds of the number of pixels."""

    def fit(self, screen: Size) -> Size:
        if max(screen) / min(screen) > WIDEST_SHAPE:
            raise InvalidAction(f"a screen of {screen} is too narrow for this model")
        patch = self.patch
        width, height = (max(patch, round(side / patch) * patch) for side in screen)
        if width * height > self.most:
            shrink = math.sqrt(screen.width * screen.height / self.most)
            width, height = (max(patch, math.floor(side / shrink / patch) * patch) for side in screen)
        elif width * height < self.least:
            grow = math.sqrt(self.least / (screen.width * screen.height))
            width, height = (math.ceil(side * grow / patch) * patch for side in screen)
        return Size(width, height)


@dataclass(frozen=True, slots=True)
class FixedSize:
    """One size, whatever the screen."""

    size: Size

    def fit(self, screen: Size) -> Size:
        return self.size


Limits: TypeAlias = SameShape | WholePatches | FixedSize

UNLIMITED = SameShape()
#: Claude Opus 4.7 and later, and every model that takes the computer toolset.
ANTHROPIC = SameShape(longest_side=2576, tiles=4784)
#: The same models when a request holds more than 20 pictures.
ANTHROPIC_MANY_PICTURES = SameShape(longest_side=2000, tiles=4784)
ANTHROPIC_OLDER = SameShape(longest_side=1568, tiles=1568)
#: With the detail "original".
OPENAI = SameShape(pixels=10_240_000)
#: The size that OpenAI recommends to those who want fewer tokens.
OPENAI_SMALL = SameShape(longest_side=1600)
#: Larger pictures are shrunk by the server, which changes nothing in fractions of them but costs bytes.
GEMINI = SameShape(longest_side=3072)
QWEN2_5_VL = WholePatches(28, 4 * 28**2, 16384 * 28**2)
QWEN3_VL = WholePatches(32, 64 * 32**2, 16384 * 32**2)
#: UI-TARS 1.5, which counts pixels of this picture; the others of the family count thousandths.
UI_TARS = WholePatches(28, 100 * 28**2, 16384 * 28**2)
#: The visual variant.
COMPUTER_RL = FixedSize(Size(1280, 720))
