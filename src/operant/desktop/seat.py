"""A sandbox's seat: its screen, pointer and keyboard, and the proof that the next user finds them untouched."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import xcffib.xproto as xproto

from operant.config.desktop import SettleConfig
from operant.desktop.display import Display
from operant.desktop.focus import ClickToFocus
from operant.desktop.input import Input
from operant.desktop.program_activity import ProgramActivity
from operant.desktop.screen import Framebuffer
from operant.desktop.server_state import (
    ServerState,
    differences,
    is_lasting,
    read_server_state,
    remove_strangers,
)
from operant.desktop.settle import settle
from operant.desktop.windows import window_manager_answers, window_manager_name
from operant.errors import DesktopStartError
from operant.types import Action, ActionKind, Monitor, Point, Size, StepResult

__all__ = ["Seat"]

BACKGROUND = 0x3B5266  # a calm blue-grey: a desktop, not a dead screen
REST = Point(0.985, 0.985)  # where the pointer waits, away from most windows
ARROW = (68, 69)  # the glyphs of the arrow and of its mask in the cursor font
BLACK, WHITE = (0, 0, 0), (0xFFFF, 0xFFFF, 0xFFFF)
QUIESCE_S = 0.3
BEFORE_BINDING_S = 5.0  # a key that is bound anew too early gives a program other text than was asked for
WINDOW_MANAGER_S = 3.0  # how long the window manager may take to answer on a busy machine
PRESSES = frozenset({ActionKind.CLICK, ActionKind.MOUSE_DOWN, ActionKind.DRAG})
DOUBLE_CLICK_PX = 8  # farther apart, no toolkit takes two clicks for a double click
STEP_S = 0.001  # how long to wait between two looks at the programs


class Seat:
    """What sits between an owner and the X server of a sandbox.

    ``programs`` tells what they are doing, ``takes_text`` whether the widget with the focus is made for text.
    """

    def __init__(
        self,
        display: Display,
        framebuffer: Framebuffer,
        programs: ProgramActivity,
        takes_text: Callable[[], bool],
    ) -> None:
        self.display = display
        self.framebuffer = framebuffer
        self.programs = programs
        self.input = Input(display, self.quiesce)
        self.focus = ClickToFocus(display)
        self.input.keyboard.quiesce = functools.partial(self.quiesce, BEFORE_BINDING_S)
        self.input.keyboard.takes_text = takes_text
        self._cursor = self._probe = 0
        self._pristine: tuple[ServerState, npt.NDArray[np.uint8]] | None = None
        self._typed_at = 0.0
        self._clicked: tuple[float, Action | None] = (0.0, None)
        display.watch_damage()

    def prepare(self, monitors: tuple[Monitor, ...], bus_address: str, timeout_s: float) -> None:
        """Make a fresh server the desktop that every episode starts from, and remember what it is like."""
        display = self.display
        # Programs look here for the accessibility bus, and then for the service of inside/bus_locator.py.
        display.set_text_property(display.root, "AT_SPI_BUS", bus_address)
        if len(monitors) > 1 or (monitors[0].width, monitors[0].height) != tuple(display.size):
            display.set_monitors(monitors)
        self.wait_for_window_manager(timeout_s)
        with display.limited():
            font, self._cursor = display.connection.generate_id(), display.connection.generate_id()
            display.core.OpenFont(font, len("cursor"), "cursor")
            display.core.CreateGlyphCursor(self._cursor, font, font, *ARROW, *BLACK, *WHITE)
            display.core.CloseFont(font)
            self._probe = display.connection.generate_id()
            display.core.CreateWindow(
                0, self._probe, display.root, -1, -1, 1, 1, 0, xproto.WindowClass.InputOnly, 0, 0, []
            )
        self.rest()
        self.quiesce()
        self._pristine = (read_server_state(display), self.framebuffer.bgrx().copy())

    def wait_for_window_manager(self, timeout_s: float) -> None:
        deadline = time.monotonic() + timeout_s
        while window_manager_name(self.display) is None:
            # It announces itself by properties of the root window, which we hear of.
            if (
                not self.display.wait_events(min(0.25, deadline - time.monotonic()))
                and time.monotonic() > deadline
            ):
                raise DesktopStartError("the window manager did not start", hint="operant doctor")

    def window_manager_answers(self) -> bool:
        return window_manager_answers(self.display, self._probe, WINDOW_MANAGER_S)

    def rest(self) -> None:
        """Nothing pressed or locked, no key bound by us, pointer out of the way, background as it was."""
        display = self.display
        with display.limited():
            look = [BACKGROUND, self._cursor]
            display.core.ChangeWindowAttributes(display.root, xproto.CW.BackPixel | xproto.CW.Cursor, look)
            display.core.ClearArea(False, display.root, 0, 0, 0, 0)
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
            different = differences(before, now)
            if any(map(is_lasting, different)):
                return different
            if different:
                remove_strangers(self.display, before, now)
                now = read_server_state(self.display)
                different = differences(before, now)
            if not different and not np.array_equal(pixels, self.framebuffer.bgrx()):
                different = ["pixels"]
            if not different:
                # One that was told to exit still answers what was in its queue, so it is asked a second time.
                answers = self.window_manager_answers() and self.window_manager_answers()
                return [] if answers else ["window manager"]
            if time.monotonic() >= deadline:
                return different
            self.display.wait_events(STEP_S)

    # Seeing and doing.

    def frame(self) -> npt.NDArray[np.uint8]:
        return self.framebuffer.frame()

    def perform(self, action: Action, config: SettleConfig) -> StepResult:
        self._keep_human_pace(action, config)
        self.display.forget_damage()
        if action.kind is ActionKind.TYPE:
            return self._type(action, config)
        if action.kind in PRESSES:
            # A drag along one point begins where the pointer is.
            place = action.path[0] if len(action.path) > 1 else action.point
            self.focus.before_press(place.to_pixel(self.display.size) if place is not None else None)
        self.input.perform(action)
        if action.kind is ActionKind.CLICK:
            self._clicked = (time.monotonic(), action)
        elif action.kind is ActionKind.WAIT:
            if action.duration:
                time.sleep(action.duration)  # waiting so long is the action
            elif self.display.wait_damage(config.wait_ms / 1000):
                return replace(self.settle(config), changed=True)
        return self.settle(config)

    def _type(self, action: Action, config: SettleConfig) -> StepResult:
        """Type the text; an Enter at its end, which submits, waits until the rest has been taken in."""
        submits = action.text.endswith("\n") and action.text.strip() != ""
        self.programs.rest()
        self.input.perform(replace(action, text=action.text[:-1]) if submits else action)
        result = self.settle(config)
        self._typed_at = time.monotonic()
        return self.perform(Action.key("enter"), config) if submits else result

    def settle(self, config: SettleConfig) -> StepResult:
        return settle(self.display, config, self.programs)

    def _keep_human_pace(self, action: Action, config: SettleConfig) -> None:
        """Not faster than applications can tell apart what people never do that fast.

        GTK's entries with completion swallow an Enter or a click while they wait for the next letter, which is a timer
        of a tenth of a second. Two clicks of two actions on the same spot would be taken for a double click.
        """
        if action.kind in (ActionKind.KEY, ActionKind.CLICK, ActionKind.DRAG):
            self._wait_for_completion(config)
        now = time.monotonic()
        when, last = self._clicked
        if (
            action.kind is ActionKind.CLICK
            and last is not None
            and _same_spot(action, last, self.display.size)
        ):
            _wait_until(when + config.between_clicks_ms / 1000, now)

    def _wait_for_completion(self, config: SettleConfig) -> None:
        """Return when no program has a timer that typing set, or a bounded time after the last letter."""
        deadline = self._typed_at + config.after_typing_ms / 1000
        while time.monotonic() < deadline and self.programs.busy(within_ms=int(config.after_typing_ms)):
            self.display.wait_events(STEP_S)

    def quiesce(self, limit_s: float = QUIESCE_S) -> None:
        """Return when every program has dealt with what was sent and sleeps, or after a bounded time."""
        deadline = time.monotonic() + limit_s
        while self.programs.busy(surely=True) and time.monotonic() < deadline:
            self.display.wait_events(STEP_S)

    def close(self) -> None:
        self.display.close()
        self.framebuffer.close()


def _wait_until(moment: float, now: float) -> float:
    if moment > now:
        time.sleep(moment - now)
        return moment
    return now


def _same_spot(action: Action, other: Action, size: Size) -> bool:
    """Whether a toolkit would take both for clicks on one place; no place means where the pointer is."""
    if action.button is not other.button:
        return False
    if action.point is None or other.point is None:
        return True
    (x, y), (u, v) = action.point.to_pixel(size), other.point.to_pixel(size)
    return abs(x - u) <= DOUBLE_CLICK_PX and abs(y - v) <= DOUBLE_CLICK_PX
