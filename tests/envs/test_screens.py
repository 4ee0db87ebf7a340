"""Frames made small: means of whole pixels, at any size, from whatever layout the frame has."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from operant.envs.screens import shrink


def a_frame(height: int, width: int, seed: int = 0) -> np.ndarray:
    """As a desktop gives it: an RGB view of BGRX pixels."""
    return np.random.default_rng(seed).integers(0, 256, (height, width, 4), dtype=np.uint8)[:, :, 2::-1]


@pytest.mark.parametrize("factor", [(8, 8), (4, 10), (1, 2), (16, 16)])
def test_a_size_that_divides_the_screen_gives_exact_means(factor: tuple[int, int]) -> None:
    down, across = factor
    frame = a_frame(10 * down, 12 * across)
    small = shrink(frame, 12, 10)
    wanted = frame.astype(np.float64).reshape(10, down, 12, across, 3).mean((1, 3))
    assert np.abs(small - wanted).max() <= 0.5 + 1e-9


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 90), st.integers(1, 70), st.integers(1, 120), st.integers(1, 120))
def test_any_size_goes_and_keeps_the_brightness(
    height: int, width: int, to_width: int, to_height: int
) -> None:
    frame = np.full((height, width, 4), (10, 100, 200, 0), np.uint8)[:, :, 2::-1]
    small = shrink(frame, to_width, to_height)
    assert small.shape == (to_height, to_width, 3)
    assert (small == (200, 100, 10)).all()


@pytest.mark.parametrize("size", [(160, 100), (84, 84), (128, 128), (1280, 800), (320, 200)])
def test_the_layout_of_the_frame_makes_no_difference(size: tuple[int, int]) -> None:
    frame = a_frame(800, 1280)
    assert np.array_equal(shrink(frame, *size), shrink(np.ascontiguousarray(frame), *size))


def test_it_writes_into_what_it_is_given() -> None:
    batch = np.zeros((2, 100, 160, 3), np.uint8)
    assert shrink(a_frame(800, 1280), 160, 100, batch[1]) is not None
    assert batch[1].any()
    assert not batch[0].any()
