"""Criteria on pictures. They are decoded outside the desktop, so only plain formats and bounded sizes are."""

from __future__ import annotations

import base64
import binascii
import io
import warnings
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image
from pydantic import Field, model_validator

from operant.errors import TaskError, VerifierError
from operant.tasks.criteria.base import Verdict, World
from operant.tasks.criteria.places import FileQuestion, read_file
from operant.tasks.criteria.question import NoEvidence, Refuted

__all__ = ["ImageSimilar", "ImageSize"]

FORMATS = ("PNG", "JPEG", "GIF", "BMP", "WEBP", "PPM", "TIFF")
MAX_PIXELS = 16_000_000
Pixels = npt.NDArray[np.float32]


class ImageSimilar(FileQuestion):
    """A picture looks like a reference of the same size: 1 is identical, a picture of one colour 0."""

    reference_base64: str | None = None
    """The reference, encoded."""
    reference_path: Path | None = None
    """The reference as a file of this machine, out of the agent's reach."""
    threshold: float = Field(0.9, gt=0, le=1)
    """How similar it must be."""

    @model_validator(mode="after")
    def _one_reference(self) -> ImageSimilar:
        if (self.reference_base64 is None) == (self.reference_path is None):
            raise TaskError("an image_similar needs either reference_base64 or reference_path")
        if self.reference_path is not None and not self.reference_path.is_file():
            raise TaskError(f"there is no reference picture {self.reference_path}")
        if self.reference_base64 is not None:
            try:
                _opened(base64.b64decode(self.reference_base64, validate=True), "reference_base64")
            except (binascii.Error, ValueError) as error:
                raise TaskError(f"reference_base64 is not base64: {error}") from error
            except (Refuted, NoEvidence) as reason:
                raise TaskError(str(reason), hint=f"formats: {', '.join(FORMATS)}") from reason
        return self

    def look(self, world: World) -> Verdict:
        wanted = self._reference()
        picture = _opened(read_file(world, self.path), self.path)
        height, width = wanted.shape[:2]
        if picture.size != (width, height):
            return Verdict(
                False, f"{self.path} has {picture.width}x{picture.height} pixels, not {width}x{height}"
            )
        score = _similarity(_pixels(picture, self.path), wanted)
        return Verdict.compared(
            score >= self.threshold, f"{self.path} is {score:.3f} similar", f"{self.threshold:g} or more"
        )

    def _reference(self) -> Pixels:
        try:
            if self.reference_path is not None:
                data = self.reference_path.read_bytes()
            else:
                data = base64.b64decode(self.reference_base64 or "")
            return _pixels(_opened(data, "the reference"), "the reference")
        except (OSError, Refuted, NoEvidence) as error:
            raise VerifierError(f"the reference picture can't be used: {error}") from error


class ImageSize(FileQuestion):
    """A picture has that size, and that format if one is said."""

    width: int | None = Field(None, ge=1)
    """Pixels across."""
    height: int | None = Field(None, ge=1)
    """Pixels down."""
    format: str | None = None
    """What the file really is: PNG, JPEG, GIF, BMP, WEBP, PPM or TIFF."""

    @model_validator(mode="after")
    def _asks_something(self) -> ImageSize:
        if self.width is None and self.height is None and self.format is None:
            raise TaskError("an image_size needs a width, a height or a format")
        if self.format is not None and self.format.upper() not in FORMATS:
            raise TaskError(f"{self.format!r} is not a format of pictures", hint=", ".join(FORMATS))
        return self

    def look(self, world: World) -> Verdict:
        picture = _opened(read_file(world, self.path), self.path)
        _pixels(picture, self.path)  # a header alone is not a picture
        fits = self.width in (None, picture.width) and self.height in (None, picture.height)
        fits = fits and (self.format is None or picture.format == self.format.upper())
        found = f"{self.path} is a {picture.format} of {picture.width}x{picture.height} pixels"
        wanted = {"format": self.format, "width": self.width, "height": self.height}
        return Verdict.compared(
            fits, found, ", ".join(f"{key} {value}" for key, value in wanted.items() if value is not None)
        )


def _opened(data: bytes, name: str) -> Image.Image:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            picture = Image.open(io.BytesIO(data), formats=FORMATS)
    except (OSError, ValueError, SyntaxError, TypeError, Image.DecompressionBombError) as error:
        raise Refuted(f"{name} is not a picture: {error}") from error
    if picture.width * picture.height > MAX_PIXELS:
        raise NoEvidence(f"{name} has {picture.width}x{picture.height} pixels, more than are looked at")
    return picture


def _pixels(picture: Image.Image, name: str) -> Pixels:
    try:
        flat = Image.new("RGB", picture.size, "white")
        with_alpha = picture.convert("RGBA")
        flat.paste(with_alpha, mask=with_alpha.getchannel("A"))
    except (OSError, ValueError, SyntaxError, TypeError, EOFError, MemoryError) as error:
        raise Refuted(f"{name} is a broken picture: {error}") from error
    return np.asarray(flat, np.float32)


def _similarity(found: Pixels, wanted: Pixels) -> float:
    """1 minus the error relative to that of the best picture of one colour: blank paper scores nothing."""
    plain = np.median(wanted.reshape(-1, 3), axis=0)
    scale = float(np.abs(wanted - plain).mean())
    error = float(np.abs(found - wanted).mean())
    return 1.0 - error / (scale if scale > 0.5 else 255.0)
