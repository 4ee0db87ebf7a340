"""Pictures that come in and go out: decoding what strangers send, encoding screens.

Bounded before anything is decoded: a small file may claim to be a huge picture.
"""

from __future__ import annotations

import base64
import binascii
import io
import warnings
from typing import Literal

import numpy as np
import numpy.typing as npt
from PIL import Image

from operant.errors import BadPicture, BodyTooLarge

__all__ = ["ENCODINGS", "Encoding", "decode_base64", "decode_picture", "encode_picture"]

Encoding = Literal["png", "jpeg", "webp"]
ENCODINGS: tuple[Encoding, ...] = ("png", "jpeg", "webp")
FORMATS = ("PNG", "JPEG", "WEBP")
SMALLEST = 8  # pixels a side
DATA_URL = "base64,"


def decode_base64(text: str) -> bytes:
    """The bytes of base64 text, with or without ``data:image/png;base64,`` before it."""
    if text.startswith("data:"):
        text = text.partition(DATA_URL)[2]
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise BadPicture(
            "screenshot is not base64", hint="encode the bytes of a PNG, JPEG or WebP file"
        ) from error


def decode_picture(data: bytes, max_pixels: int) -> npt.NDArray[np.uint8]:
    """An RGB screen of shape (height, width, 3)."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(data), formats=FORMATS) as picture:
                width, height = picture.size
                if width * height > max_pixels:
                    raise BodyTooLarge(
                        f"a picture of {width}x{height} pixels: at most {max_pixels} are taken"
                    )
                if min(width, height) < SMALLEST:
                    raise BadPicture(f"a picture of {width}x{height} pixels is no screen")
                return np.asarray(picture if picture.mode == "RGB" else picture.convert("RGB"))
    except Image.DecompressionBombError as error:  # so large that Pillow would not even open it
        raise BodyTooLarge(f"a picture with too many pixels: at most {max_pixels} are taken") from error
    except (OSError, ValueError, SyntaxError) as error:
        raise BadPicture(
            "the screenshot is no picture that can be read", hint="send a whole PNG, JPEG or WebP file"
        ) from error


def encode_picture(
    screen: npt.NDArray[np.uint8], encoding: Encoding = "png", *, quality: int = 80, width: int | None = None
) -> bytes:
    """A screen, or a part of one, as a file; ``width`` scales it down to at most so many pixels."""
    image = Image.fromarray(np.ascontiguousarray(screen))
    if width is not None and width < image.width:
        image = image.resize(
            (width, max(1, round(image.height * width / image.width))), Image.Resampling.BILINEAR
        )
    buffer = io.BytesIO()
    if encoding == "png":
        image.save(buffer, "PNG", compress_level=1)
    elif encoding == "jpeg":
        image.save(buffer, "JPEG", quality=quality)
    else:
        image.save(buffer, "WEBP", quality=quality, method=0)
    return buffer.getvalue()
