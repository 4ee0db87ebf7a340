"""Frames of desktops that send their screen as a PNG picture over the network."""

from __future__ import annotations

import io

import numpy as np
import numpy.typing as npt
from PIL import Image

__all__ = ["is_png", "read_png_frame"]

MOST_PIXELS = 1 << 26
PNG = b"\x89PNG"


def is_png(content: bytes) -> bool:
    return content.startswith(PNG)


def read_png_frame(content: bytes) -> npt.NDArray[np.uint8]:
    """The picture in RGB. Raises ``ValueError`` if it is broken, or larger than any screen."""
    try:
        with Image.open(io.BytesIO(content), formats=("PNG",)) as picture:
            if picture.width * picture.height > MOST_PIXELS:
                raise ValueError(f"it has {picture.width}x{picture.height} pixels")
            return np.array(picture.convert("RGB"))
    except (OSError, SyntaxError, Image.DecompressionBombError) as error:
        raise ValueError(str(error)) from error
