"""The user's screen on macOS and Windows: frames through mss, input through PyAutoGUI.

Never imported on X11, where PyAutoGUI is not installed either (it overwrites python-xlib's files). What
PyAutoGUI would get wrong in silence is refused: keys and characters that it drops, sideways scrolls on
Windows that it turns into vertical ones. Knows nothing of consent or panic.
"""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from operant.actions.keys import canonical_key, pyautogui_name
from operant.actions.scrolling import as_notches
from operant.config.desktop import SettleConfig
from operant.desktop.live_frames import ScreenGrabber
from operant.desktop.live_screen import Pause
from operant.desktop.protocol import Capability
from operant.errors import AccessibilityError, InvalidAction, LiveScreenRefused
from operant.types import Action, ActionKind, Button, Monitor, Node, Size, StepResult, Window

__all__ = ["HiDpi", "PyAutoGuiScreen"]

#: What PyAutoGUI's scroll counts, for one notch: lines of ten pixels on macOS, 120ths of a notch on Windows.
UNITS_PER_NOTCH = MappingProxyType({"darwin": 10, "win32": 120})
BUTTONS = (Button.LEFT, Button.MIDDLE, Button.RIGHT)
TEXT_CHUNK = 16  # characters between two looks for the panic gesture
DRAG_STRIDE_S = 0.02
SETTLE_POLL_S = 0.01  # between two looks at the screen while it settles


@dataclass(frozen=True, slots=True)
class HiDpi:
    """Between pixels of the frame and the units in which the platform places its pointer.

    ``area`` is all monitors together in those units; it starts below zero where a monitor stands left of the
    main one or above it. ``size`` is the same area in physical pixels, two by two for each unit on Retina.
    """

    area: Monitor
    size: Size

    def to_units(self, x: int, y: int) -> tuple[int, int]:
        """The unit that holds the centre of a pixel."""
        return (
            self.area.x + int((x + 0.5) * self.area.width / self.size.width),
            self.area.y + int((y + 0.5) * self.area.height / self.size.height),
        )

    def to_pixel(self, x: float, y: float) -> tuple[int, int]:
        """The first pixel of a unit, kept on the screen."""
        column = int((x - self.area.x) * self.size.width / self.area.width)
        row = int((y - self.area.y) * self.size.height / self.area.height)
        return min(max(column, 0), self.size.width - 1), min(max(row, 0), self.size.height - 1)

    def monitor(self, units: Monitor) -> Monitor:
        """A monitor as a region of the frame."""
        across, down = self.size.width / self.area.width, self.size.height / self.area.height
        return Monitor(
            round((units.x - self.area.x) * across),
            round((units.y - self.area.y) * down),
            round(units.width * across),
            round(units.height * down),
        )


class PyAutoGuiScreen:
    """A ``LiveScreen``. ``gui`` is the pyautogui module and ``frames`` what grabs the screen."""

    capabilities: frozenset[Capability] = frozenset()

    def __init__(
        self, gui: Any = None, frames: ScreenGrabber | None = None, platform: str = sys.platform
    ) -> None:
        self._gui = gui or _import_pyautogui()
        # Its own corner gesture would take the agent's moves for the user's, and its pause is a fixed sleep.
        self._gui.FAILSAFE = False
        self._gui.PAUSE = 0
        self._frames = frames or ScreenGrabber()
        self._platform = platform
        self._held_keys: list[str] = []
        self._held_buttons: list[str] = []
        self.placed: tuple[int, int] | None = None
        self._found: list[Monitor] = []
        self._before: npt.NDArray[np.uint8] | None = None
        self.refresh()

    # Where things are.

    def refresh(self) -> None:
        found = self._frames.monitors()
        if found == self._found:
            return
        self._found, (area, *monitors) = found, found
        height, width = self._frames.grab(area).shape[:2]
        self.size = Size(width, height)
        self._hidpi = HiDpi(area, self.size)
        self.monitors: tuple[Monitor, ...] = tuple(self._hidpi.monitor(one) for one in monitors or [area])

    def pointer(self) -> tuple[int, int]:
        x, y = self._gui.position()
        return self._hidpi.to_pixel(x, y)

    def windows(self) -> list[Window]:
        raise LiveScreenRefused("windows can't be listed on this platform", hint="only X11 tells of them")

    def accessibility(self, scope: str, app: str | None, timeout_s: float, limit: int) -> Node:
        raise AccessibilityError("no accessibility trees of the live screen here", hint="only X11 has them")

    def environment(self) -> dict[str, str]:
        return {}

    # Seeing and doing.

    def frame(self) -> npt.NDArray[np.uint8]:
        return self._frames.grab(self._hidpi.area)

    def check(self, action: Action) -> None:
        if action.button not in BUTTONS:
            raise InvalidAction(f"PyAutoGUI has no {action.button.value} button")
        if action.dx and self._platform == "win32":
            raise InvalidAction(
                "PyAutoGUI can't scroll sideways on Windows", hint="hold shift and scroll down"
            )
        self._key_names((*action.keys, *action.modifiers))
        if action.kind is ActionKind.TYPE:
            for character in _lines(action.text):
                if not self._gui.isValidKey(character):
                    raise InvalidAction(f"PyAutoGUI can't type {character!r}", hint="it knows ASCII only")

    def perform(self, action: Action, pause: Pause) -> None:
        self._before = self.frame()
        handler = _HANDLERS.get(action.kind)
        if handler is None:
            return
        modifiers = self._key_names(action.modifiers)
        self._press(modifiers)
        handler(self, action, pause)
        self._release(modifiers)

    def settle(self, config: SettleConfig) -> StepResult:
        """Watch frames, for nothing tells when something is drawn."""
        began = time.monotonic()
        last = self.frame() if self._before is None else self._before
        changed = False
        still_since = began
        while True:
            now = self.frame()
            at = time.monotonic()
            if not np.array_equal(now, last):
                last, changed, still_since = now, True, at
            window = config.quiet_ms if changed else config.first_change_ms
            settled = at - still_since >= window / 1000
            if settled or at - began >= config.cap_ms / 1000:
                self._before = None
                return StepResult(changed=changed, settled=settled, waited_ms=(at - began) * 1000)
            time.sleep(SETTLE_POLL_S)

    def let_go(self) -> None:
        for button in tuple(self._held_buttons):
            self._button_up(button)
        self._release(tuple(self._held_keys))

    def close(self) -> None:
        self.let_go()
        self._frames.close()

    # Pointer.

    def _place(self, pixel: tuple[int, int], go: Callable[..., None], **more: Any) -> None:
        go(*self._hidpi.to_units(*pixel), _pause=False, **more)
        self.placed = self.pointer()

    def _move(self, action: Action, _pause: Pause) -> None:
        if action.point is not None:
            self._place(action.point.to_pixel(self.size), self._gui.moveTo)

    def _click(self, action: Action, pause: Pause) -> None:
        self._move(action, pause)
        self._gui.click(clicks=action.clicks, button=action.button.value, _pause=False)

    def _button(self, action: Action, pause: Pause) -> None:
        self._move(action, pause)
        (self._button_down if action.kind is ActionKind.MOUSE_DOWN else self._button_up)(action.button.value)

    def _button_down(self, button: str) -> None:
        self._held_buttons.append(button)
        self._gui.mouseDown(button=button, _pause=False)

    def _button_up(self, button: str) -> None:
        self._gui.mouseUp(button=button, _pause=False)
        self._held_buttons = [held for held in self._held_buttons if held != button]

    def _drag(self, action: Action, pause: Pause) -> None:
        path = [point.to_pixel(self.size) for point in action.path]
        if len(path) == 1:
            path.insert(0, self.pointer())
        button = action.button.value
        self._place(path[0], self._gui.moveTo)
        self._button_down(button)
        for pixel in _paced(path, action.duration):
            pause(DRAG_STRIDE_S)
            # macOS tells drags from moves; elsewhere this is a move.
            self._place(pixel, self._gui.dragTo, button=button, mouseDownUp=False)
        self._button_up(button)

    def _scroll(self, action: Action, pause: Pause) -> None:
        self._move(action, pause)
        notches = as_notches(action)
        unit = UNITS_PER_NOTCH.get(self._platform, 1)
        if notches.dy:
            self._gui.scroll(-_whole(notches.dy) * unit, _pause=False)
        if notches.dx:
            self._gui.hscroll(_whole(notches.dx) * unit, _pause=False)

    # Keyboard.

    def _key_names(self, keys: Sequence[str]) -> tuple[str, ...]:
        names = []
        for key in keys:
            canonical = canonical_key(key)
            mac_super = canonical == "super" and self._platform == "darwin"
            name = "command" if mac_super else pyautogui_name(canonical)
            if name is None or not self._gui.isValidKey(name):
                raise InvalidAction(f"PyAutoGUI has no key {key!r} on this platform")
            names.append(name)
        return tuple(names)

    def _press(self, names: Sequence[str]) -> None:
        for name in names:
            self._held_keys.append(name)
            self._gui.keyDown(name, _pause=False)

    def _release(self, names: Sequence[str]) -> None:
        for name in reversed(names):
            self._gui.keyUp(name, _pause=False)
            self._held_keys = [held for held in self._held_keys if held != name]

    def _keys(self, action: Action, pause: Pause) -> None:
        names = self._key_names(action.keys)
        if action.kind is not ActionKind.KEY_UP:
            self._press(names)
        if action.kind is ActionKind.HOLD:
            pause(action.duration)
        if action.kind is not ActionKind.KEY_DOWN:
            self._release(names)

    def _type(self, action: Action, pause: Pause) -> None:
        text = _lines(action.text)
        for start in range(0, len(text), TEXT_CHUNK):
            pause(0.0)
            self._gui.write(text[start : start + TEXT_CHUNK], _pause=False)


_HANDLERS: dict[ActionKind, Callable[[PyAutoGuiScreen, Action, Pause], None]] = {
    ActionKind.MOVE: PyAutoGuiScreen._move,
    ActionKind.CLICK: PyAutoGuiScreen._click,
    ActionKind.MOUSE_DOWN: PyAutoGuiScreen._button,
    ActionKind.MOUSE_UP: PyAutoGuiScreen._button,
    ActionKind.DRAG: PyAutoGuiScreen._drag,
    ActionKind.SCROLL: PyAutoGuiScreen._scroll,
    ActionKind.KEY: PyAutoGuiScreen._keys,
    ActionKind.KEY_DOWN: PyAutoGuiScreen._keys,
    ActionKind.KEY_UP: PyAutoGuiScreen._keys,
    ActionKind.HOLD: PyAutoGuiScreen._keys,
    ActionKind.TYPE: PyAutoGuiScreen._type,
}


def _import_pyautogui() -> Any:
    try:
        import pyautogui
    except ImportError as error:
        raise LiveScreenRefused("this needs PyAutoGUI", hint="pip install pyautogui") from error
    return pyautogui


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n")


def _whole(notches: float) -> int:
    """Whole notches; any movement at all is at least one."""
    return max(1, round(abs(notches))) * (1 if notches > 0 else -1)


def _paced(path: Sequence[tuple[int, int]], duration: float) -> list[tuple[int, int]]:
    """The pixels to go through, as many on each leg as the time that was asked for has strides."""
    legs = list(itertools.pairwise(path))
    count = max(4, round(duration / DRAG_STRIDE_S / max(1, len(legs))))
    return [
        (x0 + round((x1 - x0) * i / count), y0 + round((y1 - y0) * i / count))
        for (x0, y0), (x1, y1) in legs
        for i in range(1, count + 1)
    ]
