"""Frames as arrays: when two of them show the same."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["same_frame"]

Frame = npt.NDArray[np.uint8]


def same_frame(one: Frame, other: Frame) -> bool:
    """Whether two frames are equal. Compares eight bytes at a time where it can: it runs after every action."""
    if one.flags.c_contiguous and other.flags.c_contiguous and one.size % 8 == 0 and one.size == other.size:
        return np.array_equal(one.reshape(-1).view(np.uint64), other.reshape(-1).view(np.uint64))
    return np.array_equal(one, other)
