"""Checked reading of what strangers sent: models, clients, files.

Knows no action format. Every complaint is an ``ActionParseError`` that quotes the offending part,
shortened; every size is bounded, so that no payload can make a parser hang, recurse or run out of memory.
"""

from __future__ import annotations

import difflib
import math
import reprlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TypeVar

from operant.errors import ActionParseError, InvalidAction

__all__ = [
    "MAX_CHARS",
    "MAX_DEPTH",
    "MAX_ITEMS",
    "Fields",
    "check_text",
    "json_value",
    "malformed",
    "quoting",
]

MAX_CHARS = 100_000
#: Actions in a payload, points in a path, keys in a chord.
MAX_ITEMS = 1000
MAX_DEPTH = 16
#: Past this no coordinate, scroll or duration makes sense; a float holds every integer below it exactly.
MAX_NUMBER = 1e9
MAX_QUOTED = 80

Choice = TypeVar("Choice")


class _Quote(reprlib.Repr):
    """``repr`` that is short whatever the value: the plain one fails on huge integers and deep lists."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel, self.maxstring, self.maxdict, self.maxlist, self.maxtuple = 3, MAX_QUOTED, 4, 4, 4

    def repr_int(self, x: int, level: int) -> str:
        return repr(x) if x.bit_length() < 128 else f"an integer of {x.bit_length()} bits"

    def repr_instance(self, x: object, level: int) -> str:
        return repr(x) if x is None or isinstance(x, bool | float) else f"<{type(x).__name__}>"


def quoted(part: object) -> str:
    text = part if isinstance(part, str) else _Quote().repr(part)
    return text if len(text) <= MAX_QUOTED else text[: MAX_QUOTED - 3] + "..."


def malformed(message: str, part: object, hint: str | None = None) -> ActionParseError:
    """The error to raise about ``part`` of a payload."""
    return ActionParseError(message, offending=quoted(part) or "''", hint=hint)


def nearest(word: str, choices: Iterable[str]) -> str | None:
    """A hint that names the closest valid word."""
    close = difflib.get_close_matches(word[:MAX_QUOTED], list(choices), n=1)
    return f"did you mean {close[0]!r}?" if close else None


@contextmanager
def quoting(part: object) -> Iterator[None]:
    """Let whatever makes an action impossible inside this block be an error about ``part``."""
    try:
        yield
    except ActionParseError:
        raise
    except InvalidAction as error:
        raise malformed(error.message, part, error.hint) from None


def check_text(value: object) -> str:
    """A string of bounded length. Half a surrogate pair is refused: it can be neither typed nor stored."""
    if not isinstance(value, str):
        raise malformed("not a text", value)
    if len(value) > MAX_CHARS:
        raise malformed(f"a text of {len(value)} characters, over the limit of {MAX_CHARS}", value)
    if any("\ud800" <= character <= "\udfff" for character in value):
        raise malformed("a text with half of a surrogate pair", value)
    return value


def check_number(value: object, what: str = "number") -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise malformed(f"{what} is not a number", value)
    # The comparison comes first: isfinite fails on an integer that no float can hold.
    if not (-MAX_NUMBER <= value <= MAX_NUMBER) or not math.isfinite(value):
        raise malformed(f"{what} is out of range", value)
    return float(value)


def json_value(value: object, depth: int = MAX_DEPTH) -> object:
    """The value, if it is one that JSON can hold without loss."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return check_text(value)
    if isinstance(value, int) and -(2**63) <= value < 2**63:
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, list | dict):
        if depth == 0:
            raise malformed("lists nested too deeply", value)
        if isinstance(value, list):
            return [json_value(item, depth - 1) for item in value]
        return {check_text(key): json_value(item, depth - 1) for key, item in value.items()}
    raise malformed("not a JSON value", value)


def check_items(value: object, what: str) -> list[object]:
    """A list that is neither empty nor too long."""
    if not isinstance(value, list | tuple):
        raise malformed(f"not a list of {what}", value)
    if not 0 < len(value) <= MAX_ITEMS:
        raise malformed(f"a list of {len(value)} {what}, not of 1 to {MAX_ITEMS}", value)
    return list(value)


def batch(payload: object) -> list[object]:
    """A payload that may be one action or a list of them, as a list."""
    return check_items(payload, "actions") if isinstance(payload, list | tuple) else [payload]


class Fields:
    """The named values of one action. Absent and None are the same; a field that is not read is an error."""

    def __init__(self, values: object, what: str) -> None:
        if not isinstance(values, Mapping):
            raise malformed(f"{what} is not an object", values)
        for name in values:
            if not isinstance(name, str):
                raise malformed(f"{what} has a field whose name is not a text", name)
        self._values: Mapping[str, object] = values
        self._read: set[str] = set()
        self.what = what

    def __contains__(self, name: str) -> bool:
        return self._values.get(name) is not None

    def take(self, name: str) -> object:
        """The value as it came, or None."""
        self._read.add(name)
        return self._values.get(name)

    def need(self, name: str) -> object:
        if name not in self:
            raise malformed(f"{self.what} needs {name}", self._values)
        return self.take(name)

    def ignore(self, *names: str) -> None:
        """Accept fields that change nothing in the action."""
        self._read.update(names)

    def number(self, name: str, default: float | None = None) -> float:
        if default is not None and name not in self:
            self.ignore(name)
            return float(default)
        return check_number(self.need(name), name)

    def integer(self, name: str, default: int | None = None) -> int:
        number = self.number(name, default)
        if not number.is_integer():
            raise malformed(f"{name} is not a whole number", number)
        return int(number)

    def flag(self, name: str, default: bool) -> bool:
        value = self.take(name)
        if value is not None and not isinstance(value, bool):
            raise malformed(f"{name} is neither true nor false", value)
        return default if value is None else value

    def text(self, name: str, default: str | None = None) -> str:
        if default is not None and name not in self:
            self.ignore(name)
            return default
        return check_text(self.need(name))

    def choice(self, name: str, choices: Mapping[str, Choice], default: str | None = None) -> Choice:
        return choose(name, self.text(name, default), choices)

    def end(self) -> None:
        """Complain about a field that was not read."""
        for name, value in self._values.items():
            if name not in self._read and value is not None:
                raise malformed(f"{self.what} takes no such field", name, nearest(name, self._read))


def choose(what: str, word: str, choices: Mapping[str, Choice]) -> Choice:
    """What a word stands for; an unknown one gets the nearest as a hint."""
    if word not in choices:
        raise malformed(f"unknown {what}", word, nearest(word, choices) or one_of(choices))
    return choices[word]


def one_of(choices: Collection[str]) -> str | None:
    return f"one of {', '.join(choices)}" if len(choices) <= 8 else None
