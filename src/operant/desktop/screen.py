"""Frames of an Xvfb screen, read from the memory that the server draws into.

The file that ``Xvfb -fbdir`` keeps is an XWD image; mapped, it is always the current screen. Knows nothing
of when a frame is worth taking.
"""

from __future__ import annotations

import mmap
import os
import struct

import numpy as np
import numpy.typing as npt

from operant.errors import DesktopStartError
from operant.types import Size

__all__ = ["Framebuffer"]

XWD_VERSION = 7
BYTES_PER_PIXEL = 4


class Framebuffer:
    """The mapped screen of one desktop."""

    def __init__(self, fd: int) -> None:
        length = os.fstat(fd).st_size
        self._map = mmap.mmap(fd, length, mmap.MAP_SHARED, mmap.PROT_READ)
        header = struct.unpack_from(">25I", self._map, 0)
        header_bytes, version = header[0], header[1]
        width, height, bits, stride, colours = header[4], header[5], header[11], header[12], header[19]
        if version != XWD_VERSION or bits != 8 * BYTES_PER_PIXEL:
            raise DesktopStartError(f"the framebuffer has {bits} bits a pixel in XWD version {version}")
        self.size = Size(width, height)
        offset = header_bytes + colours * 12  # twelve bytes a colour-map entry
        flat = np.frombuffer(self._map, np.uint8, count=stride * height, offset=offset)
        self._pixels = flat.reshape(height, stride // BYTES_PER_PIXEL, BYTES_PER_PIXEL)[:, :width]

    def frame(self) -> npt.NDArray[np.uint8]:
        """The screen now, as RGB of shape (height, width, 3).

        One copy is made, of whole pixels, and the result is a view of it in RGB order. That is four times
        faster than repacking; ``np.ascontiguousarray`` repacks where something insists on it.
        """
        return self._pixels.copy()[:, :, 2::-1]

    def bgrx(self) -> npt.NDArray[np.uint8]:
        """The live pixels themselves, (height, width, 4), without a copy: they change under the reader."""
        return self._pixels

    def close(self) -> None:
        # Views that are still in use keep the mapping alive; it goes with the last of them.
        del self._pixels
