"""The frame around a window is as large as it is said to be."""

from __future__ import annotations

import numpy as np

from operant.desktop import SandboxDesktop, decorations


def test_a_window_changes_the_screen_within_its_frame(desktop: SandboxDesktop) -> None:
    desktop.reset()
    before = desktop.frame().copy()
    window = desktop.launch(["mousepad"])
    desktop.place_window(window, 300, 200, 400, 300)
    desktop.settle()
    rows, columns = np.nonzero((desktop.frame() != before).any(axis=2))
    assert (columns.min(), columns.max()) == (300 - decorations.BESIDE, 700 + decorations.BESIDE - 1)
    assert (rows.min(), rows.max()) == (200 - decorations.ABOVE, 500 + decorations.BELOW - 1)
