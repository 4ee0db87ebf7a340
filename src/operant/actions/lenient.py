"""Reading what models write: strict about meaning, lenient about form.

Models write numbers and lists as text, ask for longer waits than we allow, and join keys that belong into a
list. All of that has one meaning and is accepted here. What could mean two things is refused as everywhere.
Knows no dialect.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress

from operant.actions.coordinates import Grid, pair
from operant.actions.keys import canonical_key, parse_chord
from operant.actions.payload import Fields, check_items, check_number, check_text, malformed
from operant.errors import ActionParseError
from operant.types import MAX_DURATION_S, Point

__all__ = ["LenientFields", "chord", "listed", "number", "place", "read_json", "unquoted"]

_NUMBER = re.compile(r"[+-]?(?:\d{1,20}(?:\.\d{0,20})?|\.\d{1,20})(?:[eE][+-]?\d{1,3})?", re.ASCII)
_NUMBERS = re.compile(r"[(\[]?([-+.\deE,;\s]{1,120})[)\]]?", re.ASCII)
_PLUS = re.compile(r"[ \t]{0,9}\+[ \t]{0,9}")
_FLAGS = {"true": True, "false": False}


def read_json(text: str) -> object:
    """The value of a JSON text; ``ActionParseError`` if it is none."""
    try:
        return json.loads(check_text(text))
    except (ValueError, RecursionError) as error:
        raise malformed(f"not JSON: {type(error).__name__}", text) from None


def number(value: object, what: str = "number") -> float:
    """A number, or a text that is one: 12, "12", " 12.5 "."""
    if isinstance(value, str) and _NUMBER.fullmatch(value[:60].strip()):
        return check_number(float(value), what)
    return check_number(value, what)


def unquoted(value: object) -> object:
    """The number of a text that is one; anything else as it is, for errors to quote it as it came."""
    return number(value) if isinstance(value, str) else value


def listed(value: object, what: str) -> list[object]:
    """A list, or a text that is one: [12, 6], "[12, 6]", "(12, 6)", "12 6"."""
    if not isinstance(value, str):
        return check_items(value, what)
    written = _NUMBERS.fullmatch(value[:200].strip())
    if written and len(value) <= 200:
        return check_items(re.split(r"[,;\s]+", written[1].strip(" ,;")), what)
    return check_items(read_json(value), what)


def place(value: object, grid: Grid) -> Point:
    """The point of [x, y], of "[x, y]" or of {"x": x, "y": y}."""
    if isinstance(value, Mapping):
        fields = LenientFields(value, "a point")
        numbers = [fields.number("x"), fields.number("y")]
        fields.end()
        return pair(numbers, grid)
    if not isinstance(value, Sequence | str):
        raise malformed("not a pair of coordinates", value)
    return pair([unquoted(item) for item in listed(value, "coordinates")], grid)


def chord(value: object, *, letters: bool = True) -> tuple[str, ...]:
    """The keys that are pressed together: ["CTRL", "A"], ["CTRL+A"], "ctrl+a" or "ctrl a".

    With ``letters``, a letter names its key and not the capital: models write "A" for the key.
    """
    words = [value] if isinstance(value, str) else check_items(value, "keys")
    keys: list[str] = []
    for word in words:
        keys += _keys(check_text(word))
    check_items(keys, "keys")
    return tuple(key.lower() if letters and len(key) == 1 and len(key.lower()) == 1 else key for key in keys)


def _keys(word: str) -> tuple[str, ...]:
    if len(word) == 1:
        return (canonical_key(word),)
    tidy = _PLUS.sub("+", word.strip())
    if tidy.startswith("[") and tidy.endswith("]") and len(tidy) > 2:
        return tuple(key for name in check_items(read_json(tidy), "keys") for key in _keys(check_text(name)))
    # Before the whole word: "ctrl l" is a chord, though Control_L is a key.
    for separator in "+ -":
        if separator in tidy:
            with suppress(ActionParseError):
                return parse_chord(tidy, separator)
    return (canonical_key(tidy or word),)


class LenientFields(Fields):
    """Fields whose numbers, flags and lists may be written as text."""

    def number(self, name: str, default: float | None = None) -> float:
        if default is not None and name not in self:
            self.ignore(name)
            return float(default)
        return number(self.need(name), name)

    def flag(self, name: str, default: bool) -> bool:
        value = self.take(name)
        if isinstance(value, str) and value.strip().lower() in _FLAGS:
            return _FLAGS[value.strip().lower()]
        return super().flag(name, default)

    def seconds(self, name: str, default: float | None = None) -> float:
        """A duration. A longer one than an action may have is shortened to the longest."""
        return min(self.number(name, default), MAX_DURATION_S)

    def place(self, name: str, grid: Grid) -> Point | None:
        value = self.take(name)
        return None if value is None else place(value, grid)

    def need_place(self, name: str, grid: Grid) -> Point:
        return place(self.need(name), grid)

    def x_and_y(self, grid: Grid, x: str = "x", y: str = "y") -> Point | None:
        """The point of two fields, or None if neither is there."""
        if x not in self and y not in self:
            self.ignore(x, y)
            return None
        return pair([self.number(x), self.number(y)], grid)
