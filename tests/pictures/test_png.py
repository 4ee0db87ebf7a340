"""Our PNGs are PNGs: Pillow reads back what was written, whatever the memory looks like."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from operant.pictures.png import png_bytes


@pytest.mark.parametrize("shape", [(800, 1280), (1, 1), (3, 641), (64, 2)])
def test_pillow_reads_back_every_pixel(shape: tuple[int, int]) -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (*shape, 4), np.uint8)
    for screen in (pixels[:, :, 2::-1], np.ascontiguousarray(pixels[:, :, :3]), pixels[::-1, :, :3]):
        with Image.open(io.BytesIO(png_bytes(screen))) as image:
            image.verify()
        with Image.open(io.BytesIO(png_bytes(screen))) as image:
            assert (image.format, image.mode) == ("PNG", "RGB")
            assert np.array_equal(np.asarray(image), screen)
