"""The pointer over XTEST: moves, buttons, wheels and drags, in pixels."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Sequence

import xcffib.xproto as xproto

from operant.desktop.display import Display
from operant.types import Button

__all__ = ["Pointer"]

PRESS, RELEASE, MOTION = 4, 5, 6  # XTEST event types
BUTTONS = {Button.LEFT: 1, Button.MIDDLE: 2, Button.RIGHT: 3, Button.BACK: 8, Button.FORWARD: 9}
WHEEL_UP, WHEEL_DOWN, WHEEL_LEFT, WHEEL_RIGHT = 4, 5, 6, 7
CLICKS_APART_S = 0.01  # Chromium takes presses of one millisecond for one
FEWEST_STOPS = 3  # between two points of a drag: the first motion only begins it
DRAG_STRIDE = 24  # pixels between the motions of a drag: toolkits start a drag only after real movement


class Pointer:
    def __init__(
        self, display: Display, quiesce: Callable[[], None], pause: Callable[[float], None] = time.sleep
    ) -> None:
        self.display = display
        self.quiesce = quiesce
        self.pause = pause
        self.held: set[int] = set()  # buttons that we pressed and have not released
        self.placed: tuple[int, int] | None = None  # where our last motion left the pointer

    def position(self) -> tuple[int, int]:
        with self.display.limited():
            reply = self.display.core.QueryPointer(self.display.root).reply()
        return reply.root_x, reply.root_y

    def move(self, x: int, y: int) -> None:
        self._send((MOTION, 0, x, y))

    def press(self, button: Button) -> None:
        self._send((PRESS, BUTTONS[button], 0, 0))

    def release(self, button: Button) -> None:
        self._send((RELEASE, BUTTONS[button], 0, 0))

    def click(self, place: tuple[int, int] | None, button: Button, clicks: int) -> None:
        code = BUTTONS[button]
        motion = [(MOTION, 0, *place)] if place else []
        self._send(*motion, (PRESS, code, 0, 0), (RELEASE, code, 0, 0))
        for _again in range(clicks - 1):
            self.pause(CLICKS_APART_S)
            self._send((PRESS, code, 0, 0), (RELEASE, code, 0, 0))

    def scroll(self, right: int, down: int) -> None:
        """Turn the wheels by whole notches; negative is left and up."""
        turns = [WHEEL_DOWN if down > 0 else WHEEL_UP] * abs(down)
        turns += [WHEEL_RIGHT if right > 0 else WHEEL_LEFT] * abs(right)
        for first in range(0, len(turns), 32):
            if first:
                self.pause(0.0)
            self._send(
                *[
                    event
                    for code in turns[first : first + 32]
                    for event in ((PRESS, code, 0, 0), (RELEASE, code, 0, 0))
                ]
            )

    def drag(self, path: Sequence[tuple[int, int]], button: Button, duration: float) -> None:
        """Press at the first point, go through the others, release at the last."""
        self.move(*path[0])
        # Programs decide at each of these points what the drag means, so let them keep up.
        self.press(button)
        self.quiesce()
        stops = list(strides(path))
        began = time.monotonic()
        for index, place in enumerate(stops, start=1):
            self.move(*place)
            ahead = began + duration * index / len(stops) - time.monotonic()
            if ahead > 0:
                self.pause(ahead)  # the pace that was asked for
            else:
                self.quiesce()
        self.release(button)

    def let_go(self) -> None:
        """Release the buttons that we pressed."""
        self._send(*[(RELEASE, code, 0, 0) for code in sorted(self.held)])

    def release_all(self) -> None:
        """No button is down."""
        with self.display.limited():
            mask = self.display.core.QueryPointer(self.display.root).reply().mask
        held = [code for code in range(1, 6) if mask & (1 << (7 + code))]
        self._send(*[(RELEASE, code, 0, 0) for code in (*held, 8, 9)])

    def _send(self, *events: tuple[int, int, int, int]) -> None:
        display = self.display
        with display.limited():
            for kind, detail, x, y in events:
                root = display.root if kind == MOTION else xproto.Window._None
                display.xtest.FakeInput(kind, detail, 0, root, x, y, 0)
                if kind != MOTION:
                    (self.held.add if kind == PRESS else self.held.discard)(detail)
            there = display.core.QueryPointer(display.root).reply()
        if any(event[0] == MOTION for event in events):
            self.placed = (there.root_x, there.root_y)


def strides(path: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The points of a path with others put between them, none far from the next; the first is left out."""
    stops: list[tuple[int, int]] = []
    for (x0, y0), (x1, y1) in itertools.pairwise(path):
        count = max(FEWEST_STOPS, round(max(abs(x1 - x0), abs(y1 - y0)) / DRAG_STRIDE))
        stops += [
            (x0 + round((x1 - x0) * i / count), y0 + round((y1 - y0) * i / count))
            for i in range(1, count + 1)
        ]
    return stops
