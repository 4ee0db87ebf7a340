"""The user's X display: frames through mss, input through XTEST, stillness through X Damage.

Knows nothing of consent or panic: the caller of ``perform`` hands in the pause that may stop an action.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from operant.actions.keys import canonical_key
from operant.config.desktop import SettleConfig
from operant.desktop.accessibility import read_tree, takes_text
from operant.desktop.display import Display
from operant.desktop.input import Input
from operant.desktop.keyboard import keysym_of, keysym_of_key
from operant.desktop.live_accessibility import LiveAccessibility
from operant.desktop.live_frames import ScreenGrabber
from operant.desktop.live_screen import Pause
from operant.desktop.protocol import Capability
from operant.desktop.settle import settle
from operant.desktop.windows import list_windows
from operant.errors import AccessibilityError, DesktopDied, DesktopError, LiveScreenRefused
from operant.types import Action, ActionKind, Monitor, Node, Size, StepResult, Window

__all__ = ["X11Screen"]

OF_WAYLAND = "XWAYLAND"  # the extension by which an X server inside a Wayland session owns up to it
NEEDED = ("XTEST", "DAMAGE", "RANDR", "XKEYBOARD")
BREATH_S = 0.01  # between batches of keys: what the server has taken already, a panic can't take back
# Programs of the user's can't be watched, so a screen that stays still for so long stands for their having
# dealt with what was sent: little for each motion of a drag, more before a key is bound anew.
BETWEEN_MOTIONS = SettleConfig(first_change_ms=8.0, quiet_ms=8.0, cap_ms=60.0)
BEFORE_BINDING = SettleConfig(first_change_ms=60.0, quiet_ms=40.0, cap_ms=500.0)


class X11Screen:
    """A ``LiveScreen`` over one kept connection."""

    capabilities = frozenset({Capability.WINDOWS, Capability.ACCESSIBILITY})

    def __init__(self, name: str | None, *, cursor: bool, environ: Mapping[str, str] = os.environ) -> None:
        self.name = display_name(name, environ)
        try:
            self.display = Display.named(self.name)
        except DesktopDied as error:
            raise LiveScreenRefused(
                error.message, hint="check $DISPLAY, and that you may use that display (XAUTHORITY)"
            ) from error
        try:
            self._refuse_unusable()
            self.display.watch_damage()
            self.refresh()
        except BaseException:
            self.display.close()
            raise
        self._frames = ScreenGrabber(display=self.name, with_cursor=cursor)
        self._pause: Pause = time.sleep
        self._drawn = False
        self._closed = False
        self.input = Input(self.display, self._between_motions, self._breathe)
        self.input.keyboard.quiesce = self._before_binding
        self._accessibility = LiveAccessibility(self.display, environ)
        self.input.keyboard.takes_text = lambda: takes_text(self._accessibility, self.display)

    def _refuse_unusable(self) -> None:
        display = self.display
        names = (*NEEDED, OF_WAYLAND)
        with display.limited():
            asked = [display.core.QueryExtension(len(name), name) for name in names]
            present = {name for name, answer in zip(names, asked, strict=True) if answer.reply().present}
        if OF_WAYLAND in present:
            raise LiveScreenRefused(
                f"display {self.name!r} is part of a Wayland session, most of which it does not show",
                hint="log in to an X11 session ('... on Xorg'), or use a sandboxed desktop",
            )
        missing = [name for name in NEEDED if name not in present]
        if missing:
            raise LiveScreenRefused(f"the X server at {self.name!r} lacks {', '.join(missing)}")

    # Where things are.

    @property
    def placed(self) -> tuple[int, int] | None:
        return self.input.pointer.placed

    @placed.setter
    def placed(self, place: tuple[int, int] | None) -> None:
        self.input.pointer.placed = place

    def refresh(self) -> None:
        display = self.display
        with display.limited():
            geometry = display.core.GetGeometry(display.root).reply()
        self.size = display.size = Size(geometry.width, geometry.height)
        self.monitors: tuple[Monitor, ...] = tuple(display.monitors()) or (Monitor(0, 0, *self.size),)

    def pointer(self) -> tuple[int, int]:
        return self.input.pointer.position()

    def windows(self) -> list[Window]:
        return list_windows(self.display)

    def accessibility(self, scope: str, app: str | None, timeout_s: float, limit: int) -> Node:
        try:
            return read_tree(
                self._accessibility,
                self.display,
                self.frame,
                scope,
                app=app,
                timeout_s=timeout_s,
                limit=limit,
            )
        except AccessibilityError:
            self._accessibility.close()  # the session may have a new bus the next time
            raise

    def environment(self) -> dict[str, str]:
        return {"DISPLAY": self.name}

    # Seeing and doing.

    def frame(self) -> npt.NDArray[np.uint8]:
        return self._frames.grab(Monitor(0, 0, *self.size))

    def check(self, action: Action) -> None:
        for key in (*action.keys, *action.modifiers):
            keysym_of_key(canonical_key(key))
        if action.kind is ActionKind.TYPE:
            for character in action.text:
                keysym_of(character)

    def perform(self, action: Action, pause: Pause) -> None:
        self._pause = pause
        self._drawn = False
        self.display.forget_damage()
        self.input.perform(action)

    def settle(self, config: SettleConfig) -> StepResult:
        result = settle(self.display, config, None)
        return replace(result, changed=result.changed or self._drawn)

    def _breathe(self, seconds: float) -> None:
        self._pause(max(seconds, BREATH_S))

    def _between_motions(self) -> None:
        self._pause(0.0)
        self._drawn |= settle(self.display, BETWEEN_MOTIONS, None).changed

    def _before_binding(self) -> None:
        self._pause(0.0)
        self._drawn |= settle(self.display, BEFORE_BINDING, None).changed

    # Going away.

    def let_go(self) -> None:
        self.input.let_go()

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        self._accessibility.close()
        self._frames.close()
        with contextlib.suppress(DesktopError):  # a display that is gone holds no key down
            self.let_go()
            self.input.keyboard.unbind()
        self.display.close()


def display_name(name: str | None, environ: Mapping[str, str]) -> str:
    """The X display to use: the one named, or the one of the session."""
    found = name or environ.get("DISPLAY")
    if found:
        return found
    if environ.get("WAYLAND_DISPLAY"):
        raise LiveScreenRefused(
            "this is a Wayland session, which lets no program see or operate the others",
            hint="log in to an X11 session ('... on Xorg'), or use a sandboxed desktop",
        )
    raise LiveScreenRefused(
        "there is no screen here: $DISPLAY is not set", hint="set DISPLAY, or use a sandboxed desktop"
    )
