"""D-Bus messages as bytes: method calls out, their answers in.

Trees are thousands of small values, and reading them is most of what accessibility costs. So a signature is
compiled once into nested readers, and the part of a call that never changes is kept. What comes in is written
by applications that an agent can influence: whatever is not a message is a ``MalformedMessage``.
"""

from __future__ import annotations

import functools
import struct
from collections.abc import Callable
from typing import Any, NamedTuple

__all__ = ["BusReply", "Inbox", "MalformedMessage", "encode_call"]

LARGEST = 1 << 24  # bytes; a tree of ten thousand widgets takes three million
DEEPEST = 32  # types within types
BASIC = frozenset("ybnqiuxtdsogh")  # types of which a dictionary may have keys
RETURN, ERROR = 2, 3
REPLY_SERIAL, SIGNATURE = 5, 8
_UINT, _HEAD = struct.Struct("<I"), struct.Struct("<4sIII")
_FIXED = {"y": "B", "n": "h", "q": "H", "b": "I", "i": "i", "u": "I", "x": "q", "t": "Q", "d": "d", "h": "I"}
_ALIGN = {"s": 4, "o": 4, "g": 1, "a": 4, "(": 8, "{": 8, "v": 1}

#: Reads a value at a place of a buffer: -> the value, and where it ends.
Reader = Callable[[bytes, int], tuple[Any, int]]


class MalformedMessage(Exception):
    """What came is not D-Bus, or not as it says it is."""


class BusReply(NamedTuple):
    """The reply to a call."""

    serial: int
    """Of the call."""
    failed: bool
    signature: str
    """The types of the body: what was asked for may be answered with anything."""
    body: tuple[Any, ...]


# Calls.


def encode_call(
    serial: int,
    path: str,
    interface: str,
    member: str,
    destination: str | None = None,
    signature: str | None = None,
    body: tuple[Any, ...] = (),
) -> bytes:
    """A method call; arguments may be strings and 32-bit integers."""
    fields, content = _fixed_part(interface, member, destination, signature, body)
    fields += _text_field(1, "o", path)
    head = _HEAD.pack(b"l\x01\x00\x01", len(content), serial, len(fields))
    return head + fields + b"\0" * (-len(fields) % 8) + content


@functools.lru_cache(maxsize=4096)
def _fixed_part(
    interface: str, member: str, destination: str | None, signature: str | None, body: tuple[Any, ...]
) -> tuple[bytes, bytes]:
    """All fields but the path, filled up so that it can follow, and the arguments."""
    fields = _text_field(2, "s", interface)
    fields = _aligned(fields, 8) + _text_field(3, "s", member)
    if destination is not None:
        fields = _aligned(fields, 8) + _text_field(6, "s", destination)
    content = b""
    if signature:
        fields = _aligned(fields, 8) + bytes((SIGNATURE, 1)) + b"g\0" + bytes((len(signature),))
        fields += signature.encode() + b"\0"
        for kind, value in zip(signature, body, strict=True):
            if kind == "s":
                raw = value.encode()
                content = _aligned(content, 4) + _UINT.pack(len(raw)) + raw + b"\0"
            elif kind in "iu":
                content = _aligned(content, 4) + struct.pack(f"<{_FIXED[kind]}", value)
            else:
                raise ValueError(f"arguments of type {kind!r} are not needed here")
    return _aligned(fields, 8), content


def _text_field(code: int, kind: str, text: str) -> bytes:
    raw = text.encode()
    return bytes((code, 1)) + kind.encode() + b"\0" + _UINT.pack(len(raw)) + raw + b"\0"


def _aligned(raw: bytes, step: int) -> bytes:
    return raw + b"\0" * (-len(raw) % step)


# Answers.


class Inbox:
    """Puts a stream of bytes together to answers; signals and calls from the other side are left out."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def add(self, data: bytes) -> list[BusReply]:
        """The answers that these bytes complete."""
        buffer = self._buffer
        buffer += data
        answers, start = [], 0
        while len(buffer) - start >= 16:
            size = _size(buffer, start)
            if len(buffer) - start < size:
                break
            answer = _decode(bytes(buffer[start : start + size]))
            if answer is not None:
                answers.append(answer)
            start += size
        del buffer[:start]
        return answers


def _size(buffer: bytearray, start: int) -> int:
    kind, body, _serial, fields = _HEAD.unpack_from(buffer, start)
    if kind[:1] != b"l":
        raise MalformedMessage("not a message in the byte order of this machine")
    size = 16 + fields + (-fields % 8) + body
    if size > LARGEST:
        raise MalformedMessage(f"a message of {size} bytes")
    return int(size)


def _decode(raw: bytes) -> BusReply | None:
    if raw[1] not in (RETURN, ERROR):
        return None
    try:
        serial, signature, place = _read_fields(raw)
        if serial is None:
            return None
        body = _reader_of(f"({signature})")(raw, place)[0] if signature else ()
    except (struct.error, IndexError, ValueError, RecursionError) as error:
        raise MalformedMessage(f"an answer that can't be read: {error}") from error
    return BusReply(serial, raw[1] == ERROR, signature, body)


def _read_fields(raw: bytes) -> tuple[int | None, str, int]:
    """Which call it answers, the signature of the body, and where that begins."""
    end = 16 + _UINT.unpack_from(raw, 12)[0]
    place, serial, signature = 16, None, ""
    while place < end:
        place += -place % 8
        code, kind = raw[place], raw[place + 2 : place + 3]
        if raw[place + 1] != 1:
            raise ValueError("a field of a header is a single value")
        place += 4
        if kind == b"g":
            length = raw[place]
            if code == SIGNATURE:
                signature = raw[place + 1 : place + 1 + length].decode("ascii")
            place += length + 2
        elif kind in (b"s", b"o"):
            place += 5 + _UINT.unpack_from(raw, place)[0]
        elif kind == b"u":
            if code == REPLY_SERIAL:
                serial = int(_UINT.unpack_from(raw, place)[0])
            place += 4
        else:
            raise ValueError(f"a field of type {kind!r} in a header")
    return serial, signature, end + (-end % 8)


@functools.lru_cache(maxsize=512)
def _reader_of(signature: str) -> Reader:
    """What reads one value of that type."""
    reader, rest = _compile(signature, 0)
    if rest != len(signature):
        raise ValueError(f"{signature!r} is more than one type")
    return reader


def _compile(signature: str, at: int, depth: int = 0) -> tuple[Reader, int]:
    kind = signature[at]
    if depth > DEEPEST:
        raise ValueError("types are nested too deeply")
    if kind in _FIXED:
        return _fixed(kind), at + 1
    if kind in "so":
        return _read_text, at + 1
    if kind == "g":
        return _read_signature, at + 1
    if kind == "v":
        return _read_variant, at + 1
    if kind == "a":
        if signature[at + 1] == "{":
            return _entries(signature, at + 1, depth + 1)
        element, end = _compile(signature, at + 1, depth + 1)
        if signature[at + 1] == "u":
            return _read_uints, end
        return _array(element, _align_of(signature[at + 1]), entries=False), end
    if kind == "(":
        fields, at = [], at + 1
        while signature[at] != ")":
            field, at = _compile(signature, at, depth + 1)
            fields.append(field)
        if not fields:
            raise ValueError("a structure without fields")
        return _structure(tuple(fields)), at + 1
    raise ValueError(f"{kind!r} is not a type")


def _entries(signature: str, at: int, depth: int) -> tuple[Reader, int]:
    """A dictionary: an array of pairs, whose first types are such that Python can hash them."""
    if signature[at + 1] not in BASIC:
        raise ValueError("a dictionary whose keys are no simple values")
    key, end = _compile(signature, at + 1, depth + 1)
    value, end = _compile(signature, end, depth + 1)
    if signature[end] != "}":
        raise ValueError("an entry of a dictionary is a pair")
    return _array(_structure((key, value)), 8, entries=True), end + 1


def _align_of(kind: str) -> int:
    return _ALIGN.get(kind) or struct.calcsize(_FIXED[kind])


def _fixed(kind: str) -> Reader:
    code = struct.Struct(f"<{_FIXED[kind]}")
    size, unpack, truth = code.size, code.unpack_from, kind == "b"

    def read(raw: bytes, at: int) -> tuple[Any, int]:
        at += -at % size
        value = unpack(raw, at)[0]
        return bool(value) if truth else value, at + size

    return read


def _read_text(raw: bytes, at: int) -> tuple[Any, int]:
    at += -at % 4
    begin = at + 4
    end = begin + _UINT.unpack_from(raw, at)[0]
    if end >= len(raw):
        raise ValueError("a text that is longer than its message")
    return str(raw[begin:end], "utf-8", "replace"), end + 1


def _read_signature(raw: bytes, at: int) -> tuple[Any, int]:
    end = at + 1 + raw[at]
    return raw[at + 1 : end].decode("ascii"), end + 1


def _read_variant(raw: bytes, at: int) -> tuple[Any, int]:
    signature, at = _read_signature(raw, at)
    value, at = _reader_of(signature)(raw, at)
    return (signature, value), at


def _read_uints(raw: bytes, at: int) -> tuple[Any, int]:
    at += -at % 4
    size = _UINT.unpack_from(raw, at)[0]
    return list(struct.unpack_from(f"<{size // 4}I", raw, at + 4)), at + 4 + size


def _array(element: Reader, align: int, *, entries: bool) -> Reader:
    def read(raw: bytes, at: int) -> tuple[Any, int]:
        at += -at % 4
        size = _UINT.unpack_from(raw, at)[0]
        at += 4
        at += -at % align
        end = at + size
        if end > len(raw):
            raise ValueError("a list that is longer than its message")
        found: list[Any] = []
        append = found.append
        while at < end:
            value, at = element(raw, at)
            append(value)
        return dict(found) if entries else found, at

    return read


def _structure(fields: tuple[Reader, ...]) -> Reader:
    def read(raw: bytes, at: int) -> tuple[Any, int]:
        at += -at % 8
        values: list[Any] = []
        append = values.append
        for field in fields:
            value, at = field(raw, at)
            append(value)
        return tuple(values), at

    return read
