"""Characters that look like what they are: emoji in colour, and Chinese and Japanese without empty boxes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from operant.desktop.sandbox import SandboxDesktop
from operant.types import Action

pytestmark = pytest.mark.x11

YELLOW = ((200, 255), (140, 255), (0, 110))  # of a face: red, green, blue


def count(frame: npt.NDArray[np.uint8], colour: tuple[tuple[int, int], ...]) -> int:
    within = [(frame[..., n] >= low) & (frame[..., n] <= high) for n, (low, high) in enumerate(colour)]
    return int(np.logical_and.reduce(within).sum())


def test_emoji_and_ideographs_have_glyphs(desktop: SandboxDesktop) -> None:
    desktop.launch(["mousepad"])
    before = count(desktop.frame(), YELLOW)
    after = desktop.perform(Action.type("😀😀😀😀\n"))
    assert count(after, YELLOW) - before > 200, (
        "apt-get install fonts-noto-color-emoji (requirements/apt.txt)"
    )
    found = desktop.run(["fc-list", ":charset=6771 4eac", "family"]).stdout
    assert found.strip(), "apt-get install fonts-droid-fallback (requirements/apt.txt)"
