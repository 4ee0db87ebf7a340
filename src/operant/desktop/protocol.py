"""What every desktop can do, wherever it runs: see it, touch it, look around in it, start over.

``SandboxDesktop`` is the one that agents train on, ``LocalDesktop`` is the user's own screen, and others
(a remote machine's, a fake one for tests) speak the same protocol.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from operant.types import Action, Monitor, Node, RunResult, Size, StepResult, Window

__all__ = ["Desktop"]


@runtime_checkable
class Desktop(Protocol):
    """A desktop one can see and touch."""

    size: Size
    monitors: tuple[Monitor, ...]
    last_step: StepResult

    def frame(self) -> npt.NDArray[np.uint8]:
        """The screen now, RGB, (height, width, 3)."""
        ...

    def perform(self, action: Action) -> npt.NDArray[np.uint8]:
        """Do it, wait until the screen has settled, and return the frame."""
        ...

    def windows(self) -> list[Window]:
        """Top-level windows from the bottom of the stack to the top."""
        ...

    def accessibility(
        self, scope: str = "focused", *, app: str | None = None, timeout_s: float = 2.0, lines: bool = False
    ) -> Node:
        """The tree of widgets that are shown; ``lines`` adds the lines of long texts where that is possible."""
        ...

    def run(self, command: str | Sequence[str], *, timeout_s: float = 30.0) -> RunResult:
        """Run a command in the desktop to its end."""
        ...

    def reset(self) -> None:
        """Back to the start."""
        ...

    def close(self) -> None:
        """Let go of everything."""
        ...
