"""Frames on the wire: what has changed since the last one, deflated. Nothing is lost.

A step of an agent changes a few widgets: the box around them is a few kilobytes where the screen is three
megabytes. The receiver says which frame it holds; a sender that remembers another one sends everything.
"""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import numpy.typing as npt

from operant.errors import RemoteDesktopError
from operant.types import Size

__all__ = ["FrameReceiver", "FrameSender"]

LEVEL = 1  # screens are flat: higher levels take longer than the network saves
Frame = npt.NDArray[np.uint8]
Box = tuple[int, int, int, int]


class FrameSender:
    """Numbers the frames of one desktop and writes each against the last, if the receiver has that one."""

    def __init__(self) -> None:
        self._number = 0
        self._last: Frame | None = None

    def write(self, frame: Frame, known: int | None = None) -> dict[str, Any]:
        pixels = np.ascontiguousarray(frame)
        height, width = pixels.shape[:2]
        base, box = None, (0, 0, width, height)
        if self._last is not None and known == self._number and self._last.shape == pixels.shape:
            base, box = known, changed_box(self._last, pixels)
        self._number += 1
        self._last = pixels
        left, top, across, down = box
        part = np.ascontiguousarray(pixels[top : top + down, left : left + across])
        return {
            "number": self._number,
            "base": base,
            "size": [width, height],
            "box": list(box),
            "data": zlib.compress(part.data, LEVEL) if part.size else b"",
        }


def changed_box(before: Frame, after: Frame) -> Box:
    """(x, y, width, height) of what differs; empty if nothing does."""
    height, width, depth = after.shape
    flat = (before != after).reshape(height, width * depth)
    rows = np.flatnonzero(flat.any(axis=1))
    if not rows.size:
        return 0, 0, 0, 0
    top, bottom = int(rows[0]), int(rows[-1]) + 1
    columns = np.flatnonzero(flat[top:bottom].any(axis=0)) // depth
    left, right = int(columns[0]), int(columns[-1]) + 1
    return left, top, right - left, bottom - top


class FrameReceiver:
    """Puts frames together again, and believes nothing: sizes, boxes and lengths have to fit."""

    def __init__(self, size: Size) -> None:
        self.size = size
        self.known: int | None = None
        """The number of the frame that it holds."""
        self._last: Frame | None = None

    def read(self, form: Any) -> Frame:
        if not isinstance(form, dict):
            raise RemoteDesktopError("the remote desktop sent no frame")
        number, base, size, box, data = (form.get(key) for key in ("number", "base", "size", "box", "data"))
        if size != list(self.size):
            shown = "x".join(map(str, size)) if isinstance(size, list) else "nothing"
            raise RemoteDesktopError(f"the remote desktop said that it is {self.size} and shows {shown}")
        if not isinstance(number, int) or not isinstance(data, bytes):
            raise RemoteDesktopError("the remote desktop sent a frame without a number or without pixels")
        left, top, width, height = self._box(box)
        part = _inflate(data, width * height * 3).reshape(height, width, 3)
        if base is None:
            if (width, height) != tuple(self.size):
                raise RemoteDesktopError("the remote desktop sent a part of a frame as a whole one")
            frame = part
        elif base != self.known or self._last is None:
            raise RemoteDesktopError("the remote desktop sent changes of a frame that was never received")
        else:
            frame = self._last.copy()
            frame[top : top + height, left : left + width] = part
        self.known, self._last = number, frame
        return frame.copy()

    def _box(self, box: Any) -> Box:
        if not isinstance(box, list) or len(box) != 4 or not all(type(side) is int for side in box):
            raise RemoteDesktopError("the remote desktop sent a frame that is nowhere")
        left, top, width, height = box
        if min(box) < 0 or left + width > self.size.width or top + height > self.size.height:
            raise RemoteDesktopError(f"the remote desktop sent a frame that reaches beyond {self.size}")
        return left, top, width, height


def _inflate(data: bytes, length: int) -> Frame:
    """Exactly so many bytes: a small message can't become a large array."""
    if not length and not data:
        return np.empty(0, np.uint8)
    inflater = zlib.decompressobj()
    try:
        found = inflater.decompress(data, length + 1)
    except zlib.error as error:
        raise RemoteDesktopError(f"the remote desktop sent a frame that can't be read: {error}") from error
    if len(found) != length or not inflater.eof:
        raise RemoteDesktopError("the remote desktop sent a frame of another length than it said")
    return np.frombuffer(found, np.uint8).copy()
