"""What the keys of an X server mean just now: which key, with or without Shift, gives a keysym.

XKB's tables say for each key how many layouts (groups) it takes part in and which modifiers choose its level,
so layouts of any kind come out right: several groups, keys on which Shift does nothing, keypads.
"""

from __future__ import annotations

import functools
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from operant.desktop.display import CORE_KEYBOARD, Display

__all__ = ["Keys", "Layout", "Stroke", "make_layout", "read_keys", "read_used_keys"]

SHIFT = 0x01
_TYPES, _SYMBOLS = 0x01, 0x02  # parts of an XKB map
_HEADER = 40  # bytes of the answer before the tables
_CLAMP, _REDIRECT = 0x40, 0x80  # what a key does with a group that it does not have; or it wraps around


@dataclass(frozen=True, slots=True)
class Stroke:
    """A key, and whether Shift goes with it."""

    keycode: int
    shift: bool


@dataclass(slots=True)
class Layout:
    """Keysyms and the strokes that give them, and the strokes of empty keys, which we bind as needed."""

    strokes: dict[int, Stroke]
    spare: list[Stroke]
    bound: dict[int, Stroke] = field(default_factory=dict)

    def find(self, keysym: int) -> Stroke | None:
        return self.strokes.get(keysym) or self.bound.get(keysym)


@dataclass(frozen=True, slots=True)
class Key:
    """One key's symbols, by group and level, and the level that Shift chooses in each group."""

    groups: tuple[tuple[int, ...], ...]
    shifted: tuple[int, ...]
    beyond: int

    @property
    def empty(self) -> bool:
        return not any(any(symbols) for symbols in self.groups)

    def row(self, group: int) -> list[int]:
        """The keysyms without and with Shift while that group is on."""
        count = len(self.groups)
        if not count:
            return [0, 0]
        if group >= count:
            redirected = min(self.beyond >> 4 & 3, count - 1)
            group = {_CLAMP: count - 1, _REDIRECT: redirected}.get(self.beyond & 0xC0, group % count)
        levels, shifted = self.groups[group], self.shifted[group]
        return [levels[0] if levels else 0, levels[shifted] if shifted < len(levels) else 0]


Keys = Mapping[int, Key]


def read_keys(display: Display) -> Keys:
    """Every key by its code, in one round trip."""
    return _keys(_read_map(display))


def read_used_keys(display: Display) -> Keys:
    """Only those that mean something."""
    return _used_keys(_read_map(display))


def _read_map(display: Display) -> bytes:
    with display.limited():
        return display.raw(display.xkb.GetMap(CORE_KEYBOARD, _TYPES | _SYMBOLS, *[0] * 16))


# Desktops have the same few maps all the time, and every reset asks.


@functools.lru_cache(maxsize=64)
def _used_keys(data: bytes) -> Keys:
    return {code: key for code, key in _keys(data).items() if not key.empty}


@functools.lru_cache(maxsize=64)
def _keys(data: bytes) -> Keys:
    types, first, keys = data[15], data[17], data[20]
    offset = _HEADER
    shifts: list[int] = []
    for _ in range(types):
        mask, _levels, entries, preserved = data[offset], data[offset + 4], data[offset + 5], data[offset + 6]
        offset += 8
        level = 0
        for entry in range(offset, offset + 8 * entries, 8):
            active, wanted, target = data[entry : entry + 3]
            if active and wanted == SHIFT & mask:
                level = target
        shifts.append(level)
        offset += 8 * entries + (4 * entries if preserved else 0)
    found: dict[int, Key] = {}
    for code in range(first, first + keys):
        kinds, about, width, count = struct.unpack_from("=4sBBH", data, offset)
        symbols = struct.unpack_from(f"={count}I", data, offset + 8)
        offset += 8 + 4 * count
        groups = tuple(symbols[index * width : (index + 1) * width] for index in range(about & 0x0F))
        found[code] = Key(groups, tuple(shifts[kind] if kind < types else 0 for kind in kinds), about)
    return found


def make_layout(keys: Mapping[int, Key], group: int, ours: Mapping[int, Sequence[int]]) -> Layout:
    """The layout while that group is on; ``ours`` are the keys that we bound and what they mean."""
    strokes: dict[int, Stroke] = {}
    for code, key in keys.items():
        if code not in ours:
            for shift, keysym in enumerate(key.row(group)):
                if keysym:
                    strokes.setdefault(keysym, Stroke(code, bool(shift)))
    empty = [code for code, key in keys.items() if code in ours or key.empty]
    bound = {row[level]: Stroke(code, bool(level)) for code, row in ours.items() for level in (1, 0)}
    return Layout(strokes, [Stroke(code, shift) for code in empty for shift in (False, True)], bound)
