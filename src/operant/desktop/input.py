"""Canonical actions as pointer and keyboard events on an X display."""

from __future__ import annotations

import time
from collections.abc import Callable

from operant.actions.keys import canonical_key
from operant.desktop.display import Display
from operant.desktop.keyboard import Keyboard
from operant.desktop.pointer import Pointer
from operant.errors import InvalidAction
from operant.types import Action, ActionKind, Point, ScrollUnit

__all__ = ["PIXELS_PER_NOTCH", "Input"]

PIXELS_PER_NOTCH = 100.0


class Input:
    """Hands that are quick: every call returns when the server has taken the events.

    ``quiesce`` waits until the programs have dealt with what was sent; it is called only where a burst of
    events could be misread (drags, keys that are bound anew). ``pause`` waits so many seconds and is called
    wherever an action may be stopped halfway, by an exception that it raises.
    """

    def __init__(
        self, display: Display, quiesce: Callable[[], None], pause: Callable[[float], None] = time.sleep
    ) -> None:
        self.display = display
        self.pause = pause
        self.pointer = Pointer(display, quiesce, pause)
        self.keyboard = Keyboard(display, quiesce, pause)

    def perform(self, action: Action) -> None:
        """Do it. Waiting, looking and ending need no hands, so they do nothing here."""
        handler = _HANDLERS.get(action.kind)
        if handler is not None:
            handler(self, action)
        elif action.kind is ActionKind.CALL:
            raise InvalidAction(
                f"{action.function} is an application's API, which pointer and keyboard can't call"
            )

    def release_all(self) -> None:
        self.pointer.release_all()
        self.keyboard.release_all()

    def let_go(self) -> None:
        """Release what was pressed through here and nothing else: a live screen's user has hands too."""
        self.pointer.let_go()
        self.keyboard.let_go()

    def _pixel(self, point: Point | None) -> tuple[int, int] | None:
        return None if point is None else point.to_pixel(self.display.size)

    def _move(self, action: Action) -> None:
        place = self._pixel(action.point)
        if place:
            self.pointer.move(*place)

    def _click(self, action: Action) -> None:
        with_modifiers = _keys(action.modifiers)
        if not with_modifiers:
            self.pointer.click(self._pixel(action.point), action.button, action.clicks)
            return
        self.keyboard.press(with_modifiers)
        try:
            self.pointer.click(self._pixel(action.point), action.button, action.clicks)
        finally:
            self.keyboard.release(with_modifiers)

    def _button(self, action: Action) -> None:
        self._move(action)
        down = action.kind is ActionKind.MOUSE_DOWN
        (self.pointer.press if down else self.pointer.release)(action.button)

    def _drag(self, action: Action) -> None:
        path = [point.to_pixel(self.display.size) for point in action.path]
        if len(path) == 1:
            path.insert(0, self.pointer.position())
        modifiers = _keys(action.modifiers)
        self.keyboard.press(modifiers)
        try:
            self.pointer.drag(path, action.button, action.duration)
        finally:
            self.keyboard.release(modifiers)

    def _scroll(self, action: Action) -> None:
        self._move(action)
        per_notch = PIXELS_PER_NOTCH if action.unit is ScrollUnit.PIXEL else 1.0
        modifiers = _keys(action.modifiers)
        self.keyboard.press(modifiers)
        try:
            self.pointer.scroll(_notches(action.dx / per_notch), _notches(action.dy / per_notch))
        finally:
            self.keyboard.release(modifiers)

    def _key(self, action: Action) -> None:
        keys = _keys(action.keys)
        self.keyboard.press(keys)
        if action.kind is ActionKind.HOLD:
            self.pause(action.duration)  # how long to hold is what the action says
        self.keyboard.release(keys)

    def _key_down(self, action: Action) -> None:
        self.keyboard.press(_keys(action.keys))

    def _key_up(self, action: Action) -> None:
        self.keyboard.release(_keys(action.keys))

    def _type(self, action: Action) -> None:
        self.keyboard.type(action.text)


_HANDLERS: dict[ActionKind, Callable[[Input, Action], None]] = {
    ActionKind.MOVE: Input._move,
    ActionKind.CLICK: Input._click,
    ActionKind.MOUSE_DOWN: Input._button,
    ActionKind.MOUSE_UP: Input._button,
    ActionKind.DRAG: Input._drag,
    ActionKind.SCROLL: Input._scroll,
    ActionKind.KEY: Input._key,
    ActionKind.HOLD: Input._key,
    ActionKind.KEY_DOWN: Input._key_down,
    ActionKind.KEY_UP: Input._key_up,
    ActionKind.TYPE: Input._type,
}


def _keys(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(canonical_key(name) for name in names)


def _notches(amount: float) -> int:
    """Whole notches; any movement at all is at least one."""
    if amount == 0:
        return 0
    return max(1, round(abs(amount))) * (1 if amount > 0 else -1)
