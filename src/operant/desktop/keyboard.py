"""Keys and text over XTEST: every Unicode character, whatever layout the server has.

A character that the layout has is typed with its own key. Any other one is bound to a key that the layout
leaves empty. A client looks a key up when it handles the event, not when the event was sent, so a bound
key is not bound again before the program that has the focus has dealt with all its events: it answers a
ping, or where it knows no pings all programs have come to rest (``quiesce``).

Buttons that keys press (the digits of a calculator) stay down for a tenth of a second and take no second press
meanwhile. So where the focus is not on a text field (``takes_text``), a key waits until its button is up again.
"""

from __future__ import annotations

import time
import unicodedata
from collections.abc import Callable, Iterable, Sequence

import xcffib.keysymdef as keysymdef
import xcffib.xf86keysym as xf86keysym
import xcffib.xproto as xproto

from operant.actions.keys import KEYSYM_NAMES
from operant.desktop.display import CORE_KEYBOARD, Display
from operant.desktop.layout import Layout, Stroke, make_layout, read_keys
from operant.desktop.windows import active_window
from operant.errors import ApplicationHung, DesktopError, InvalidAction

__all__ = ["Keyboard", "keysym_of"]

PRESS, RELEASE = 2, 3  # XTEST event types
BATCH = 64  # characters between round trips: the server's event queue is finite
NUM_LOCK = 0x10  # changes the keypad and nothing that text is typed with
DRAINED_S = 15.0  # how long a program may take to deal with what was typed
BUTTON_S = (
    0.105  # a button that a key pressed is up again after 100 ms, in Qt (animateClick) as in galculator
)
PRESSED_S = 0.3  # a key that was pressed so long ago has been dealt with, and its button is up again
BINDINGS = 3  # how often keys are bound anew when another client changes the map meanwhile
_CONTROLS = {
    "\n": keysymdef.XK_Return,
    "\r": keysymdef.XK_Return,
    "\t": keysymdef.XK_Tab,
    "\b": keysymdef.XK_BackSpace,
}


def keysym_of(character: str) -> int:
    """The keysym that types this one character."""
    if character in _CONTROLS:
        return int(_CONTROLS[character])
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
    symbol = KEYSYM_NAMES[name]
    found = getattr(keysymdef, "XK_" + symbol, None)
    if symbol.startswith("XF86"):
        found = getattr(xf86keysym, symbol.replace("XF86", "XF86XK_", 1), None)
    if found is None:
        raise InvalidAction(f"the key {name!r} has no keysym")
    return int(found)


class Keyboard:
    def __init__(
        self, display: Display, quiesce: Callable[[], None], pause: Callable[[float], None] = time.sleep
    ) -> None:
        self.display = display
        self.quiesce = quiesce
        self.pause = pause
        self.takes_text: Callable[[], bool] = lambda: True
        self.held: set[int] = set()  # keycodes that we pressed and have not released
        self._layout = Layout({}, [])
        self._group = -1
        self._symbols: dict[int, list[int]] = {}  # what we bound: two keysyms to a keycode
        self._bound_at: dict[int, None] = {}  # keysyms in the order in which they were bound
        self._pressed: dict[tuple[str, ...], list[int]] = {}
        self._struck: dict[int, float] = {}  # keysyms of characters, and when each was last sent

    # Keys.

    def press(self, keys: Sequence[str]) -> None:
        characters = [keysym_of(key) for key in keys if len(keys) == len(key) == 1]
        if self._hits_pressed_buttons(characters):
            self._wait_for_buttons()
        codes = self._keycodes(keys)
        self._remember(characters)
        self._pressed[tuple(keys)] = codes
        self._fake(PRESS, codes)

    def release(self, keys: Sequence[str]) -> None:
        # The very keys that went down: pressing them may have changed the layout.
        codes = self._pressed.pop(tuple(keys), None) or self._keycodes(keys)
        self._fake(RELEASE, reversed(codes))

    def let_go(self) -> None:
        """Release the keys that we pressed."""
        self._fake(RELEASE, sorted(self.held))
        self._pressed.clear()

    def _keycodes(self, keys: Sequence[str]) -> list[int]:
        keysyms = [keysym_of_key(key) for key in keys]
        self._refresh()
        strokes = self._strokes(keysyms)
        codes = [stroke.keycode for stroke in strokes]
        shift = self._shift()
        if any(stroke.shift for stroke in strokes) and shift not in codes:
            codes.insert(0, shift)
        return codes

    def _fake(self, kind: int, keycodes: Iterable[int]) -> None:
        with self.display.limited():
            for keycode in keycodes:
                self.display.xtest.FakeInput(kind, keycode, 0, xproto.Window._None, 0, 0, 0)
                (self.held.add if kind == PRESS else self.held.discard)(keycode)
            self.display.core.GetInputFocus().reply()

    def _strokes(self, keysyms: Sequence[int]) -> list[Stroke]:
        """The strokes that give these keysyms, binding keys where the layout has none."""
        wanted = dict.fromkeys(keysyms)
        for _ in range(BINDINGS):
            self._bind([keysym for keysym in wanted if not self._layout.find(keysym)], wanted)
            found = [self._layout.find(keysym) for keysym in keysyms]
            if None not in found:
                return found  # type: ignore[return-value]
        raise DesktopError("the keyboard layout has no empty key to bind", hint="reset the desktop")

    def _shift(self) -> int:
        return self._strokes([keysymdef.XK_Shift_L])[0].keycode

    # Text.

    def type(self, text: str) -> None:
        """Type exactly this text; a newline is Return and a tab is Tab."""
        keysyms = [keysym_of(character) for character in text.replace("\r\n", "\n")]
        locked, latched = self._refresh()
        in_the_way = locked & ~NUM_LOCK
        if in_the_way or latched:
            self._lock(in_the_way, 0, latched)
        try:
            if self._hits_pressed_buttons(keysyms):
                self._type_on_buttons(keysyms)
            else:
                self._type_all(keysyms)
            if in_the_way or len(keysyms) > BATCH:
                self.drain()  # a long text takes a program longer than a step is watched
        finally:
            if in_the_way:
                self._lock(in_the_way, in_the_way)

    def _type_all(self, keysyms: list[int]) -> None:
        start = 0
        while start < len(keysyms):
            start = self._type_some(keysyms, start)
        self._remember(keysyms[-BATCH:])

    def _type_some(self, keysyms: list[int], start: int) -> int:
        """Type as far as the empty keys reach without binding one twice; returns where to go on."""
        used: dict[int, None] = {}
        room = len(self._layout.spare)
        end = start
        while end < len(keysyms):
            keysym = keysyms[end]
            if keysym not in used and keysym not in self._layout.strokes:
                if len(used) >= room:
                    break
                used[keysym] = None
            end += 1
        shift = self._shift()
        strokes = self._strokes(keysyms[start : max(end, start + 1)])
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

    # Buttons.

    def _hits_pressed_buttons(self, keysyms: Sequence[int]) -> bool:
        """Whether these keys, sent at once, would reach buttons that they or the last keys have just pressed."""
        lately = time.monotonic() - PRESSED_S
        self._struck = {keysym: sent for keysym, sent in self._struck.items() if sent > lately}
        repeated = len(set(keysyms)) < len(keysyms) or any(keysym in self._struck for keysym in keysyms)
        return repeated and not self.takes_text()

    def _type_on_buttons(self, keysyms: Sequence[int]) -> None:
        run: list[int] = []
        for keysym in keysyms:
            if keysym in run or keysym in self._struck:
                self._type_all(run)
                self._wait_for_buttons()
                run = []
            run.append(keysym)
        self._type_all(run)

    def _wait_for_buttons(self) -> None:
        """Return when every button that the keys so far have pressed is up again.

        The time counts from when the program has dealt with them, and it is asked once more afterwards: on a busy
        machine it may be late to see that the time is over.
        """
        self._drain_fully()
        self.pause(BUTTON_S)
        self._drain_fully()
        self._struck.clear()

    def _remember(self, keysyms: Iterable[int]) -> None:
        self._struck.update(dict.fromkeys(keysyms, time.monotonic()))

    def _drain_fully(self) -> None:
        if not self.drain():
            raise ApplicationHung(
                f"the window with the focus has not taken the keys that were typed for {DRAINED_S:g} s",
                hint="it hangs; typing on would give it other characters than those asked for",
            )

    def drain(self) -> bool:
        """Wait until the program with the focus has dealt with every key; False if it does not."""
        display = self.display
        window = active_window(display)
        if window and display.can_ping(window):
            return display.ping(window, DRAINED_S)
        self.quiesce()
        return True

    # The layout.

    def _refresh(self) -> tuple[int, int]:
        """Read the layout again if it has changed since; returns the locked and the latched modifiers."""
        display = self.display
        with display.limited():
            state = display.xkb.GetState(CORE_KEYBOARD).reply()
        display.read_events()
        if display.keymap_changed or state.group != self._group:
            self._group = state.group
            self._read_layout()
        return int(state.lockedMods), int(state.latchedMods)

    def _read_layout(self) -> None:
        self.display.keymap_changed = False
        keys = read_keys(self.display)
        ours = self._symbols.items()
        self._symbols = {code: row for code, row in ours if keys[code].row(self._group) == row}
        self._layout = make_layout(keys, self._group, self._symbols)

    def _bind(self, new: Sequence[int], needed: Iterable[int]) -> None:
        """Give each new keysym an empty key, leaving alone those that ``needed`` ones sit on."""
        if not new:
            return
        bound = self._layout.bound
        kept = {bound[keysym] for keysym in needed if keysym in bound}
        taken = {stroke: keysym for keysym, stroke in bound.items()}
        free = [stroke for stroke in self._layout.spare if stroke not in kept]
        # Never-used keys first, then those bound longest ago.
        age = {keysym: index for index, keysym in enumerate(self._bound_at)}
        free.sort(key=lambda stroke: age.get(taken[stroke], 0) if stroke in taken else -1)
        chosen = free[: len(new)]
        if any(stroke in taken for stroke in chosen):
            self._drain_fully()
        for keysym, stroke in zip(new, chosen, strict=False):
            self._bound_at.pop(keysym, None)
            self._bound_at[keysym] = None
            row = self._symbols.setdefault(stroke.keycode, [0, 0])
            row[stroke.shift] = keysym
        with self.display.limited():
            for code in {stroke.keycode for stroke in chosen}:
                row = self._symbols[code]
                row[:] = [row[0] or row[1], row[1] or row[0]]
                self.display.core.ChangeKeyboardMapping(1, code, 2, row)
            self.display.core.GetInputFocus().reply()
        self.display.read_events()
        # What the keys mean now is for the server to say: another client may have loaded another map meanwhile.
        self._read_layout()

    def unbind(self) -> None:
        """Empty the keys that we bound."""
        with self.display.limited():
            for code in self._symbols:
                self.display.core.ChangeKeyboardMapping(1, code, 1, [0])
            self.display.core.GetInputFocus().reply()
        self._symbols.clear()
        self._bound_at.clear()
        self.display.keymap_changed = True

    # State.

    def _lock(self, affected: int, locked: int, unlatched: int = 0) -> None:
        with self.display.limited():
            self.display.xkb.LatchLockState(CORE_KEYBOARD, affected, locked, False, 0, unlatched, False, 0)
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
