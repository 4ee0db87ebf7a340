"""Keys and text over XTEST: every Unicode character, whatever layout the server has.

A character that the layout has is typed with its own key. Any other one is bound to a key that the layout
leaves empty. A client looks a key up when it handles the event, not when the event was sent, so a bound
key is not bound again before the programs have come to rest (``quiesce``).
"""

from __future__ import annotations

import time
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import xcffib.keysymdef as keysymdef
import xcffib.xf86keysym as xf86keysym
import xcffib.xproto as xproto

from operant.actions.keys import KEYSYM_NAMES
from operant.desktop.display import Display
from operant.errors import DesktopError, InvalidAction

__all__ = ["Keyboard", "keysym_of"]

PRESS, RELEASE = 2, 3  # XTEST event types
BATCH = 64  # characters between round trips: the server's event queue is finite
CORE_KEYBOARD = 0x100
CAPS_LOCK = 0x02
_CONTROLS = {"\n": keysymdef.XK_Return, "\r": keysymdef.XK_Return, "\t": keysymdef.XK_Tab, "\b": keysymdef.XK_BackSpace}


def keysym_of(character: str) -> int:
    """The keysym that types this one character."""
    if character in _CONTROLS:
        return _CONTROLS[character]
    code = ord(character)
    if 0x20 <= code <= 0x7E or 0xA0 <= code <= 0xFF:
        return code
    if unicodedata.category(character) in ("Cc", "Cs"):
        raise InvalidAction(
            f"the character U+{code:04X} can't be typed",
            hint="control characters and lone surrogates have no key; send a key action for keys",
        )
    return 0x01000000 | code


def keysym_of_key(name: str) -> int:
    """The keysym of a key by its canonical name; a single character stands for itself."""
    if len(name) == 1:
        return keysym_of(name)
    symbol = "XK_" + KEYSYM_NAMES[name]
    found = getattr(keysymdef, symbol, None) or getattr(xf86keysym, symbol, None)
    if found is None:
        raise InvalidAction(f"the key {name!r} has no keysym")
    return int(found)


@dataclass(frozen=True, slots=True)
class Stroke:
    """A key, and whether Shift goes with it."""

    keycode: int
    shift: bool


@dataclass(slots=True)
class Layout:
    """What the server's keys mean just now, and the empty keys that we bind as needed."""

    strokes: dict[int, Stroke]
    spare: list[Stroke]
    bound: dict[int, Stroke] = field(default_factory=dict)

    def find(self, keysym: int) -> Stroke | None:
        return self.strokes.get(keysym) or self.bound.get(keysym)


class Keyboard:
    def __init__(
        self, display: Display, quiesce: Callable[[], None], pause: Callable[[float], None] = time.sleep
    ) -> None:
        self.display = display
        self.quiesce = quiesce
        self.pause = pause
        self.held: set[int] = set()  # keycodes that we pressed and have not released
        self._layout = Layout({}, [])
        self._group = -1
        self._symbols: dict[int, list[int]] = {}

    # Keys.

    def press(self, keys: Sequence[str]) -> None:
        self._fake(PRESS, self._keycodes(keys))

    def release(self, keys: Sequence[str]) -> None:
        self._fake(RELEASE, reversed(self._keycodes(keys)))

    def let_go(self) -> None:
        """Release the keys that we pressed."""
        self._fake(RELEASE, sorted(self.held))

    def _keycodes(self, keys: Sequence[str]) -> list[int]:
        keysyms = [keysym_of_key(key) for key in keys]
        self._refresh()
        self._bind([keysym for keysym in dict.fromkeys(keysyms) if not self._layout.find(keysym)], keysyms)
        strokes = [self._stroke(keysym) for keysym in keysyms]
        codes = [stroke.keycode for stroke in strokes]
        shift = self._stroke(keysymdef.XK_Shift_L).keycode
        if any(stroke.shift for stroke in strokes) and shift not in codes:
            codes.insert(0, shift)
        return codes

    def _fake(self, kind: int, keycodes: Iterable[int]) -> None:
        with self.display.limited():
            for keycode in keycodes:
                self.display.xtest.FakeInput(kind, keycode, 0, xproto.Window._None, 0, 0, 0)
                (self.held.add if kind == PRESS else self.held.discard)(keycode)
            self.display.core.GetInputFocus().reply()

    def _stroke(self, keysym: int) -> Stroke:
        stroke = self._layout.find(keysym)
        if stroke is None:
            raise DesktopError(f"no key can be bound to keysym {keysym:#x}", hint="the layout has no empty key")
        return stroke

    # Text.

    def type(self, text: str) -> None:
        """Type exactly this text; a newline is Return and a tab is Tab."""
        keysyms = [keysym_of(character) for character in text.replace("\r\n", "\n")]
        caps = self._refresh() & CAPS_LOCK
        if caps:
            self._lock(CAPS_LOCK, 0)
        try:
            start = 0
            while start < len(keysyms):
                start = self._type_some(keysyms, start)
        finally:
            if caps:
                self.quiesce()
                self._lock(CAPS_LOCK, CAPS_LOCK)

    def _type_some(self, keysyms: list[int], start: int) -> int:
        """Type as far as the empty keys reach without binding one twice; returns where to go on."""
        new: list[int] = []
        used: dict[int, None] = {}
        end = start
        room = len(self._layout.spare)
        for end in range(start, len(keysyms) + 1):
            if end == len(keysyms):
                break
            keysym = keysyms[end]
            if keysym in used:
                continue
            on_layout = keysym in self._layout.strokes
            if not on_layout and sum(k not in self._layout.strokes for k in used) >= room:
                break
            used[keysym] = None
            if not self._layout.find(keysym):
                new.append(keysym)
        if end == start:
            raise DesktopError("the keyboard layout has no empty key to bind", hint="reset the desktop")
        self._bind(new, used)
        strokes = [self._stroke(keysym) for keysym in keysyms[start:end]]
        shift = self._stroke(keysymdef.XK_Shift_L).keycode
        for first in range(0, len(strokes), BATCH):
            if start or first:
                self.pause(0.0)
            codes: list[tuple[int, int]] = []
            for stroke in strokes[first : first + BATCH]:
                pair = [(PRESS, stroke.keycode), (RELEASE, stroke.keycode)]
                codes += [(PRESS, shift), *pair, (RELEASE, shift)] if stroke.shift else pair
            with self.display.limited():
                for kind, code in codes:
                    self.display.xtest.FakeInput(kind, code, 0, xproto.Window._None, 0, 0, 0)
                self.display.core.GetInputFocus().reply()
        return end

    # The layout.

    def _refresh(self) -> int:
        """Read the layout again if it has changed since; returns the locked modifiers."""
        display = self.display
        with display.limited():
            display.read_events()
            state = display.xkb.GetState(CORE_KEYBOARD).reply()
            if display.keymap_changed or state.group != self._group:
                display.keymap_changed = False
                self._group = state.group
                self._read_layout()
        return int(state.lockedMods)

    def _read_layout(self) -> None:
        setup = self.display.connection.get_setup()
        first, last = setup.min_keycode, setup.max_keycode
        reply = self.display.core.GetKeyboardMapping(first, last - first + 1).reply()
        width, symbols = reply.keysyms_per_keycode, list(reply.keysyms)
        rows = {first + i: symbols[i * width : (i + 1) * width] for i in range(last - first + 1)}
        ours = {code for code, row in self._symbols.items() if rows[code][:2] == row}
        strokes: dict[int, Stroke] = {}
        for code, row in rows.items():
            if code in ours:
                continue
            column = 2 * self._group if any(row[2 * self._group : 2 * self._group + 2]) else 0
            for level, keysym in enumerate(row[column : column + 2]):
                if keysym:
                    strokes.setdefault(keysym, Stroke(code, bool(level)))
        empty = [code for code, row in rows.items() if code in ours or not any(row)]
        spare = [Stroke(code, shift) for code in empty for shift in (False, True)]
        self._symbols = {code: row for code, row in self._symbols.items() if code in ours}
        bound = {row[level]: Stroke(code, bool(level)) for code, row in self._symbols.items() for level in (1, 0)}
        self._layout = Layout(strokes, spare, bound)

    def _bind(self, new: Sequence[int], needed: Iterable[int]) -> None:
        """Give each new keysym an empty key, leaving alone those that ``needed`` ones sit on."""
        if not new:
            return
        bound = self._layout.bound
        kept = {bound[keysym] for keysym in needed if keysym in bound}
        taken = {stroke: keysym for keysym, stroke in bound.items()}
        free = [stroke for stroke in self._layout.spare if stroke not in kept]
        # Never-used keys first, then those bound longest ago.
        age = {keysym: index for index, keysym in enumerate(bound)}
        free.sort(key=lambda stroke: age[taken[stroke]] if stroke in taken else -1)
        chosen = free[: len(new)]
        if any(stroke in taken for stroke in chosen):
            self.quiesce()
        for keysym, stroke in zip(new, chosen, strict=False):
            bound.pop(taken.get(stroke, 0), None)
            bound[keysym] = stroke
            row = self._symbols.setdefault(stroke.keycode, [0, 0])
            row[stroke.shift] = keysym
        with self.display.limited():
            for code in {stroke.keycode for stroke in chosen}:
                row = self._symbols[code]
                row[:] = [row[0] or row[1], row[1] or row[0]]
                self.display.core.ChangeKeyboardMapping(1, code, 2, row)
            self.display.core.GetInputFocus().reply()
            self.display.read_events()
        self.display.keymap_changed = False

    def unbind(self) -> None:
        """Empty the keys that we bound."""
        with self.display.limited():
            for code in self._symbols:
                self.display.core.ChangeKeyboardMapping(1, code, 1, [0])
            self.display.core.GetInputFocus().reply()
        self._symbols.clear()
        self.display.keymap_changed = True

    # State.

    def _lock(self, affected: int, locked: int) -> None:
        with self.display.limited():
            self.display.xkb.LatchLockState(CORE_KEYBOARD, affected, locked, False, 0, 0, False, 0)
            self.display.core.GetInputFocus().reply()

    def release_all(self) -> None:
        """No key is down, nothing is locked or latched, the first layout group is on."""
        display = self.display
        with display.limited():
            keys = display.core.QueryKeymap().reply().keys
            for code in range(8, 256):
                if keys[code // 8] & (1 << code % 8):
                    display.xtest.FakeInput(RELEASE, code, 0, xproto.Window._None, 0, 0, 0)
            display.xkb.LatchLockState(CORE_KEYBOARD, 0xFF, 0, True, 0, 0xFF, True, 0)
            display.core.GetInputFocus().reply()
