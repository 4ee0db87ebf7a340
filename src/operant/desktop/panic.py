"""The panic gesture: a pointer that the user slams into a corner of the screen stops everything.

It is looked for between the pieces of what is done, without a thread of its own, so the pointer has to stay
in the corner until then: a moment while something is done, until the next action or frame while the agent
thinks. Knows no platform.
"""

from __future__ import annotations

import time

from loguru import logger

from operant.desktop.live_screen import LiveScreen, outer_corners
from operant.errors import PanicStop

__all__ = ["PanicGesture"]

SLICE_S = 0.02  # how long the gesture may go unnoticed while something is done


class PanicGesture:
    """Watches one screen's pointer, and remembers that it was slammed until ``resume``."""

    def __init__(self, screen: LiveScreen, corner_px: int) -> None:
        self._screen = screen
        self._corner_px = corner_px
        self.stopped = False

    def look(self) -> None:
        """Take note of the gesture; everything pressed is released when it is seen."""
        if not self.stopped and self._slammed():
            self.stopped = True
            logger.warning("the pointer was slammed into a corner: the live screen is left alone")
            self._screen.let_go()

    def check(self) -> None:
        """Look, and raise PanicStop if the gesture was made now or earlier."""
        self.look()
        if self.stopped:
            raise PanicStop(
                "the pointer was slammed into a corner of the screen, so nothing more is done to it",
                hint="call resume() to let the agent go on",
            )

    def pause(self, seconds: float) -> None:
        """Wait so long, unless the gesture is made meanwhile."""
        until = time.monotonic() + seconds
        while True:
            self.check()
            left = until - time.monotonic()
            if left <= 0:
                return
            time.sleep(min(SLICE_S, left))  # waiting is what was asked for

    def resume(self) -> None:
        """Go on. The pointer may still be in the corner; there it means nothing until it has moved."""
        self.stopped = False
        self._screen.placed = self._screen.pointer()

    def _slammed(self) -> bool:
        here = self._screen.pointer()
        if here == self._screen.placed:
            return False  # the agent itself may have put it into a corner
        self._screen.placed = None
        return any(
            abs(here[0] - x) < self._corner_px and abs(here[1] - y) < self._corner_px
            for x, y in outer_corners(self._screen.monitors)
        )
