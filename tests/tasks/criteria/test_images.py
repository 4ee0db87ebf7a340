"""Pictures that are similar, different, broken or far too large."""

from __future__ import annotations

import base64
import io
import struct
import time
import zlib

import numpy as np
import pytest
from PIL import Image

from operant.errors import TaskError, VerifierError
from operant.tasks.criteria import ImageSimilar, ImageSize


@pytest.fixture
def desktop(made_up):
    """Files are all that it takes here."""
    return made_up


def drawn(size=(80, 60), box=(20, 20, 40, 40), colour=(200, 30, 30)) -> Image.Image:
    picture = Image.new("RGB", size, "white")
    picture.paste(colour, box)
    return picture


def encoded(picture: Image.Image, kind: str = "PNG", **more) -> bytes:
    data = io.BytesIO()
    picture.save(data, kind, **more)
    return data.getvalue()


@pytest.fixture
def similar():
    reference = base64.b64encode(encoded(drawn())).decode()
    return ImageSimilar(path="out.png", reference_base64=reference, threshold=0.9)


# image_similar


def test_a_similar_picture(desktop, ask, similar):
    assert not ask(similar)
    desktop.files.write("out.png", encoded(drawn()))
    assert ask(similar)
    desktop.files.write("out.png", encoded(drawn(), "JPEG", quality=90))
    assert ask(similar)
    noisy = np.asarray(drawn(), np.int16) + np.random.default_rng(0).integers(-3, 4, (60, 80, 3))
    desktop.files.write("out.png", encoded(Image.fromarray(noisy.clip(0, 255).astype(np.uint8))))
    assert ask(similar.model_copy(update={"threshold": 0.8}))


@pytest.mark.parametrize(
    "cheat",
    [
        Image.new("RGB", (80, 60), "white"),  # most of the reference is white
        drawn(box=(40, 20, 60, 40)),
        drawn(colour=(30, 30, 200)),
        drawn(size=(160, 120), box=(40, 40, 80, 80)),
        drawn(size=(60, 80)),
        Image.new("RGBA", (80, 60), (200, 30, 30, 0)),
    ],
)
def test_a_picture_that_only_resembles(desktop, ask, similar, cheat):
    desktop.files.write("out.png", encoded(cheat))
    assert not ask(similar)


def bomb(width: int, height: int) -> bytes:
    """A small file that says it is a large picture, and has the rows to prove it."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    rows = zlib.compress(b"\0" * min((width // 8 + 1) * height, 10_000_000))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"text",
        bomb(60_000, 60_000),
        bomb(2**31 - 1, 2**31 - 1),
        bomb(8000, 4000),
        encoded(drawn())[:100],
        encoded(drawn())[:60] + b"\0" * 100,
        b"<svg xmlns='http://www.w3.org/2000/svg'/>",
        b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 80 60\n",
    ],
    ids=["empty", "text", "bomb", "larger bomb", "large", "torn", "broken", "svg", "postscript"],
)
def test_what_is_no_picture(desktop, ask, similar, data):
    desktop.files.write("out.png", data)
    before = time.monotonic()
    assert not ask(similar)
    assert not ask(ImageSize(path="out.png", height=60))
    assert time.monotonic() - before < 2


def test_a_reference_on_this_machine(desktop, ask, tmp_path):
    place = tmp_path / "reference.png"
    place.write_bytes(encoded(drawn()))
    criterion = ImageSimilar(path="out.png", reference_path=place)
    desktop.files.write("out.png", encoded(drawn()))
    assert ask(criterion)
    place.write_bytes(b"broken")
    with pytest.raises(VerifierError):
        ask(criterion)


def test_references_that_are_none(tmp_path):
    for bad in (
        {},
        {"reference_base64": "?"},
        {"reference_path": tmp_path / "missing.png"},
        {"reference_base64": "", "reference_path": tmp_path},
    ):
        with pytest.raises(TaskError):
            ImageSimilar(path="a.png", **bad)


def test_a_reference_of_one_colour(desktop, ask):
    reference = base64.b64encode(encoded(Image.new("RGB", (8, 8), "red"))).decode()
    criterion = ImageSimilar(path="out.png", reference_base64=reference)
    desktop.files.write("out.png", encoded(Image.new("RGB", (8, 8), "red")))
    assert ask(criterion)
    desktop.files.write("out.png", encoded(Image.new("RGB", (8, 8), "white")))
    assert not ask(criterion)


# image_size


def test_the_size_and_the_format_of_a_picture(desktop, ask):
    desktop.files.write("out.jpg", encoded(drawn(), "JPEG"))
    assert ask(ImageSize(path="out.jpg", width=80, height=60, format="jpeg"))
    assert ask(ImageSize(path="out.jpg", format="JPEG"))
    assert not ask(ImageSize(path="out.jpg", width=60))
    desktop.files.write("out.jpg", encoded(drawn()))
    assert not ask(ImageSize(path="out.jpg", format="JPEG")), "renamed, not converted"
    for bad in ({}, {"format": "svg"}):
        with pytest.raises(TaskError):
            ImageSize(path="a.png", **bad)
