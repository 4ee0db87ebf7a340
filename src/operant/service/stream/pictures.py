"""What to send to one who watches: the part of the screen that changed since the last time, encoded."""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from operant.service.pictures import Encoding, encode_picture
from operant.service.sessions.changes import Box, changed_box

__all__ = ["HEADER", "Camera", "Picture"]

HEADER = struct.Struct(">IHHHH")
"""Before each picture on the wire: its number, and x, y, width and height of its place on the screen."""
MOST_PARTIAL = 0.6  # of the screen; beyond that the whole of it is sent, which heals everything
ALIGN = 16  # JPEG works in blocks; regions that begin on one have cleaner edges


@dataclass(frozen=True, slots=True)
class Picture:
    """A rectangle of the screen, ready to be sent."""

    number: int
    box: Box
    data: bytes

    def message(self) -> bytes:
        return HEADER.pack(self.number & 0xFFFFFFFF, *self.box) + self.data


class Camera:
    """Remembers what one viewer has seen."""

    def __init__(self, encoding: Encoding, quality: int, width: int | None) -> None:
        self.encoding = encoding
        self.quality = quality
        self.width = width
        self._seen: npt.NDArray[np.uint8] | None = None
        self._number = 0

    def forget(self) -> None:
        """Send all of it next time."""
        self._seen = None

    def shoot(self, frame: npt.NDArray[np.uint8]) -> Picture | None:
        """What the viewer does not know yet; None if nothing changed."""
        height, width = frame.shape[:2]
        box: Box | None = (0, 0, width, height)
        if self._seen is not None:
            box = changed_box(self._seen, frame)
            if box is None:
                return None
            box = _aligned(box, width, height)
            # A picture that is scaled down has no edges to put a part in: it goes whole.
            if self.width is not None or box[2] * box[3] > MOST_PARTIAL * width * height:
                box = (0, 0, width, height)
        assert box is not None
        self._seen = frame
        self._number += 1
        x, y, w, h = box
        part = frame[y : y + h, x : x + w]
        data = encode_picture(part, self.encoding, quality=self.quality, width=self.width)
        return Picture(self._number, box, data)


def _aligned(box: Box, width: int, height: int) -> Box:
    x, y, w, h = box
    left, top = x - x % ALIGN, y - y % ALIGN
    right = min(width, -(-(x + w) // ALIGN) * ALIGN)
    bottom = min(height, -(-(y + h) // ALIGN) * ALIGN)
    return left, top, right - left, bottom - top
