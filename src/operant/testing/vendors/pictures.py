"""The size of a picture in a request: what a model's coordinates count."""

from __future__ import annotations

import base64
import binascii
from io import BytesIO

from PIL import Image, UnidentifiedImageError

from operant.testing.vendors.problem import invalid
from operant.types import Size

__all__ = ["data_url_size", "picture_size"]


def picture_size(data: object, media_type: object, path: str) -> Size:
    """The size of a base64 picture; refuses bytes that are none, or of another kind than said."""
    try:
        raw = base64.b64decode(str(data), validate=True)
        with Image.open(BytesIO(raw)) as image:
            found, size = f"image/{(image.format or '').lower()}", Size(*image.size)
    except (binascii.Error, UnidentifiedImageError, OSError, ValueError) as error:
        raise invalid(f"{path}: Could not process image", param=path) from error
    if found != media_type:
        raise invalid(f"{path}: Image does not match the provided media type {media_type}", param=path)
    return size


def data_url_size(url: object, path: str) -> Size:
    """The size of a picture in a ``data:`` URL."""
    head, comma, data = str(url).partition(",")
    if not comma or not head.startswith("data:") or not head.endswith(";base64"):
        raise invalid(f"{path}: Expected a base64-encoded data URL with an image MIME type", param=path)
    return picture_size(data, head.removeprefix("data:").removesuffix(";base64"), path)
