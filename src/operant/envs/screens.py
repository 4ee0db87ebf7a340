"""Full frames made small for observations, in less than a millisecond.

Measured at 1280x800 -> 160x100 on one core of two: numpy's block means over (row, column, pixel) 25 ms,
Pillow's resize of a repacked RGB copy 8 ms, Pillow's ``reduce`` on the live BGRX bytes 0.9 ms, and the sum
below 0.6 ms. It adds whole rows into 16 bits (which numpy vectorises), then takes the four channels of a
pixel as one 64-bit number to add columns. A picture that a client sends has three bytes a pixel, and summing those
in place takes 1.2 ms, repacking them first 7. Sizes that do not divide the screen go through Pillow (``reduce``, then
a box filter): about 2 ms.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from PIL import Image

__all__ = ["shrink"]

Pixels = npt.NDArray[np.uint8]
MOST_SUMMED = 256  # 255 times that, and half of it for rounding, still fits into 16 bits


def shrink(frame: Pixels, width: int, height: int, out: Pixels | None = None) -> Pixels:
    """An RGB frame (height, width, 3) at another size, every pixel the mean of those that it stands for."""
    if out is None:
        out = np.empty((height, width, 3), np.uint8)
    rows, columns = frame.shape[:2]
    if (rows, columns) == (height, width):
        out[:] = frame
        return out
    down, across = rows // height, columns // width
    divides = rows == down * height and columns == across * width and down * across <= MOST_SUMMED
    if divides and frame.flags.c_contiguous:
        _packed_block_means(frame, down, across, out)
    elif divides:
        _block_means(_whole_pixels(frame), down, across, out)
    else:
        # Mapped, not copied; Pillow need not know that blue comes first.
        image = Image.frombuffer("RGBX", (columns, rows), _whole_pixels(frame), "raw", "RGBX", 0, 1)
        small = image.resize((width, height), Image.Resampling.BOX, reducing_gap=1.0)
        out[:] = np.asarray(small)[:, :, 2::-1]
    return out


def _block_means(bgrx: Pixels, down: int, across: int, out: Pixels) -> None:
    height, width = out.shape[:2]
    count = down * across
    rows = np.add.reduce(bgrx.reshape(height, down, -1), axis=1, dtype=np.uint16)
    pixels = rows.view(np.uint64)
    total = pixels[:, ::across].copy()
    for column in range(1, across):
        total += pixels[:, column::across]
    channels = total.view(np.uint16).reshape(height, width, 4)[:, :, 2::-1]
    out[:] = (channels + count // 2) // count


def _packed_block_means(rgb: Pixels, down: int, across: int, out: Pixels) -> None:
    height, width = out.shape[:2]
    count = down * across
    rows = np.add.reduce(rgb.reshape(height, down, -1), axis=1, dtype=np.uint16)
    pixels = rows.reshape(height, width, across, 3)
    total = pixels[:, :, 0].copy()
    for column in range(1, across):
        total += pixels[:, :, column]
    out[:] = (total + count // 2) // count


def _whole_pixels(frame: Pixels) -> Pixels:
    """The BGRX bytes behind a desktop's frame where it is a view of them, a repacked copy otherwise."""
    rows, columns = frame.shape[:2]
    base = frame.base
    if (
        isinstance(base, np.ndarray)
        and base.shape == (rows, columns, 4)
        and base.flags.c_contiguous
        and frame.strides == (columns * 4, 4, -1)
    ):
        return base
    bgrx = np.zeros((rows, columns, 4), np.uint8)
    bgrx[:, :, 2::-1] = frame
    return bgrx
