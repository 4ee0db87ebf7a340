"""A sandbox's seat: its screen, pointer and keyboard, and the proof that the next user finds them untouched."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import xcffib.xproto as xproto

from operant.config.desktop import SettleConfig
from operant.desktop.display import Display
from operant.desktop.input import Input
from operant.desktop.screen import Framebuffer
from operant.desktop.server_state import ServerState, read_server_state, remove_strangers
from operant.desktop.settle import settle
from operant.desktop.windows import window_manager_name
from operant.errors import DesktopStartError
from operant.types import Action, ActionKind, Monitor, Point, StepResult

__all__ = ["Seat"]

BACKGROUND = 0x3B5266  # a calm blue-grey: a desktop, not a dead screen
REST = Point(0.985, 0.985)  # where the pointer waits, away from most windows
QUIESCE_S = 0.3
STEP_S = 0.001  # how long to wait between two looks at the programs


class Seat:
    """What sits between an owner and the X server of a sandbox. 

    ``activity`` tells how many of its threads run, and how many turns on a processor all have had so far.
    """

    def __init__(
        self, display: Display, framebuffer: Framebuffer, activity: Callable[[], tuple[int, int]]
    ) -> None:
        self.display = display
        self.framebuffer = framebuffer
        self.activity = activity
        self.input = Input(display, self.quiesce)
        self._pristine: tuple[ServerState, npt.NDArray[np.uint8]] | None = None
        display.watch_damage()

    def prepare(self, monitors: tuple[Monitor, ...], timeout_s: float) -> None:
        """Make a fresh server the desktop that every episode starts from, and remember what it is like."""
        display = self.display
        if len(monitors) > 1 or (monitors[0].width, monitors[0].height) != tuple(display.size):
            display.set_monitors(monitors)
        self.wait_for_window_manager(timeout_s)
        with display.limited():
            display.core.ChangeWindowAttributes(display.root, xproto.CW.BackPixel, [BACKGROUND])
            display.core.ClearArea(False, display.root, 0, 0, 0, 0)
        self.rest()
        self.quiesce()
        self._pristine = (read_server_state(display), self.framebuffer.bgrx().copy())

    def wait_for_window_manager(self, timeout_s: float) -> None:
        deadline = time.monotonic() + timeout_s
        while window_manager_name(self.display) is None:
            # It announces itself by properties of the root window, which we hear of.
            if not self.display.wait_events(min(0.25, deadline - time.monotonic())) and time.monotonic() > deadline:
                raise DesktopStartError("the window manager did not start", hint="operant doctor")

    def rest(self) -> None:
        """Nothing pressed or locked, no key bound by us, the pointer out of the way."""
        self.input.release_all()
        self.input.keyboard.unbind()
        self.input.pointer.move(*REST.to_pixel(self.display.size))

    def restore(self, timeout_s: float) -> list[str]:
        """Bring the seat back to how it was prepared; returns what is still different after so long."""
        assert self._pristine is not None
        before, pixels = self._pristine
        self.rest()
        deadline = time.monotonic() + timeout_s
        while True:
            now = read_server_state(self.display)
            if now.keys() - before.keys():
                remove_strangers(self.display, before, now)
                now = read_server_state(self.display)
            different = [name for name in before.keys() | now.keys() if before.get(name) != now.get(name)]
            if not different and not np.array_equal(pixels, self.framebuffer.bgrx()):
                different = ["pixels"]
            if not different or time.monotonic() >= deadline:
                return sorted(different)
            self.display.wait_events(STEP_S)

    # Seeing and doing.

    def frame(self) -> npt.NDArray[np.uint8]:
        return self.framebuffer.frame()

    def perform(self, action: Action, config: SettleConfig) -> StepResult:
        self.display.forget_damage()
        self.input.perform(action)
        if action.kind is ActionKind.WAIT and action.duration:
            time.sleep(action.duration)  # waiting so long is the action
        return settle(self.display, config, self.busy)

    def quiesce(self) -> None:
        """Return when every program has dealt with what was sent and sleeps, or after a bounded time."""
        deadline = time.monotonic() + QUIESCE_S
        while self.busy() and time.monotonic() < deadline:
            self.display.wait_events(STEP_S)

    def busy(self) -> bool:
        """Whether any program has something to do: one look can miss work that is just being handed on."""
        first = self.activity()
        return first[0] > 0 or self.activity() != first

    def close(self) -> None:
        self.display.close()
        self.framebuffer.close()
