"""What ``LocalDesktop`` needs of a platform: to see its screen and to reach its pointer and keyboard.

One class each for X11 (``live_x11``) and for macOS and Windows (``live_pyautogui``). All coordinates here are
pixels of the frame, whose (0, 0) is the top left of all monitors together. Knows nothing of consent or
panic.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from operant.config.desktop import SettleConfig
from operant.desktop.protocol import Capability
from operant.types import Action, Monitor, Node, Size, StepResult, Window

__all__ = ["LiveScreen", "Pause", "outer_corners"]

#: Waits so many seconds; raises to stop the action that calls it.
Pause: TypeAlias = Callable[[float], None]


class LiveScreen(Protocol):
    """A screen that a person is using."""

    capabilities: frozenset[Capability]
    """What it shows beside pictures."""
    size: Size
    monitors: tuple[Monitor, ...]
    placed: tuple[int, int] | None
    """Where we last put the pointer; None when the user has moved it since."""

    def refresh(self) -> None:
        """Learn the size and the monitors again: people plug and turn screens."""
        ...

    def frame(self) -> npt.NDArray[np.uint8]:
        """All monitors as one picture, RGB. May be called from any thread."""
        ...

    def pointer(self) -> tuple[int, int]:
        """Where the pointer is."""
        ...

    def check(self, action: Action) -> None:
        """Raise InvalidAction if the action can't be done here."""
        ...

    def perform(self, action: Action, pause: Pause) -> None:
        """Do it, calling ``pause`` wherever it may be stopped halfway."""
        ...

    def settle(self, config: SettleConfig) -> StepResult:
        """Wait until the screen is still again after what was performed."""
        ...

    def let_go(self) -> None:
        """Release the keys and buttons that we pressed."""
        ...

    def windows(self) -> list[Window]: ...

    def accessibility(self, scope: str, app: str | None, timeout_s: float, limit: int) -> Node: ...

    def environment(self) -> dict[str, str]:
        """Variables that programs need to show up on this screen."""
        ...

    def close(self) -> None:
        """Let go of everything; twice does no harm."""
        ...


def outer_corners(monitors: Sequence[Monitor]) -> list[tuple[int, int]]:
    """The corners in which a pointer that is pushed on comes to rest.

    Those where another monitor goes on are left out: the pointer slides past them in everyday use.
    """
    found = []
    for monitor in monitors:
        for x, outside_x in ((monitor.x, -1), (monitor.x + monitor.width - 1, 1)):
            for y, outside_y in ((monitor.y, -1), (monitor.y + monitor.height - 1, 1)):
                if not _covered(monitors, x + outside_x, y) and not _covered(monitors, x, y + outside_y):
                    found.append((x, y))
    return found


def _covered(monitors: Sequence[Monitor], x: int, y: int) -> bool:
    return any(m.x <= x < m.x + m.width and m.y <= y < m.y + m.height for m in monitors)
