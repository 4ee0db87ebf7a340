"""What is different between two screens, and between two lists of windows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from operant.types import Window

__all__ = ["Box", "changed_box", "changed_share", "window_changes"]

COLOURS = np.uint32(0x00FFFFFF)  # the fourth byte of a pixel means nothing

Box = tuple[int, int, int, int]
"""x, y, width, height in pixels."""


def changed_box(before: npt.NDArray[np.uint8], after: npt.NDArray[np.uint8]) -> Box | None:
    """The smallest rectangle that holds every pixel that differs; None if there is none."""
    if before.shape != after.shape:
        height, width = after.shape[:2]
        return 0, 0, width, height
    different = _different(before, after)
    rows = np.flatnonzero(different.any(axis=1))
    if rows.size == 0:
        return None
    columns = np.flatnonzero(different[rows[0] : rows[-1] + 1].any(axis=0))
    top, left = int(rows[0]), int(columns[0])
    return left, top, int(columns[-1]) + 1 - left, int(rows[-1]) + 1 - top


def changed_share(before: npt.NDArray[np.uint8], after: npt.NDArray[np.uint8]) -> float:
    """The share of pixels that differ, from 0 to 1."""
    if before.shape != after.shape:
        return 1.0
    return float(_different(before, after).mean())


def _different(before: npt.NDArray[np.uint8], after: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_]:
    first, second = _words(before), _words(after)
    if first is not None and second is not None:
        return np.not_equal((first ^ second) & COLOURS, 0)  # type: ignore[no-any-return]
    return np.any(np.not_equal(before, after), axis=2)  # type: ignore[no-any-return]


def _words(frame: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint32] | None:
    """A desktop's frame as whole pixels, if it is the view of four-byte pixels that desktops hand out."""
    base = frame.base
    if not isinstance(base, np.ndarray) or base.shape != (*frame.shape[:2], 4):
        return None
    if base.dtype != np.uint8 or not base.flags.c_contiguous:
        return None
    return base.view(np.uint32)[:, :, 0]


def window_changes(before: Sequence[Window], after: Sequence[Window]) -> tuple[list[str], list[str]]:
    """The titles of windows that came, and of those that went."""
    old, new = {window.id: window for window in before}, {window.id: window for window in after}
    return (
        [window.title for key, window in new.items() if key not in old],
        [window.title for key, window in old.items() if key not in new],
    )
