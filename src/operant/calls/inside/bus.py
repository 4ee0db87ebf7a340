"""A small D-Bus client for the desktop's session bus, on which applications are also accessible.

Speaks the protocol itself, because a desktop has no library for it. Every wait has a limit.
"""

from __future__ import annotations

import contextlib
import os
import socket
import struct
import time
from typing import Any, Dict, Iterator, List, Sequence, Tuple

from refusal import Refused

ANSWER_S = 3.0
LARGEST = 1 << 24  # bytes of an answer
FIXED = {"y": "B", "n": "h", "q": "H", "b": "I", "i": "i", "u": "I", "x": "q", "t": "Q", "d": "d"}
ALIGNED = {"s": 4, "o": 4, "g": 1, "a": 4, "(": 8, "{": 8, "v": 1}
METHOD_CALL, RETURN, ERROR = 1, 2, 3
NO_REPLY = 1
REPLY_SERIAL = 5


class SessionBus:
    """A connection to the session bus."""

    def __init__(self) -> None:
        address = os.environ["DBUS_SESSION_BUS_ADDRESS"]
        self._sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._sock.settimeout(ANSWER_S)
        self._sock.connect(address.partition("path=")[2].partition(",")[0])
        self._sock.sendall(b"\0AUTH EXTERNAL " + str(os.getuid()).encode().hex().encode() + b"\r\n")
        said = b""
        while not said.endswith(b"\r\n"):
            chunk = self._sock.recv(512)
            if not chunk:
                raise Refused("the session bus is gone")
            said += chunk
        if not said.startswith(b"OK "):
            raise Refused("the session bus refused a connection")
        self._sock.sendall(b"BEGIN\r\n")
        self._serial = 0
        self._buffer = bytearray()
        daemon = "org.freedesktop.DBus"
        self.call(daemon, "/org/freedesktop/DBus", daemon, "Hello")

    def close(self) -> None:
        self._sock.close()

    def call(
        self,
        destination: str,
        path: str,
        interface: str,
        member: str,
        signature: str = "",
        arguments: Sequence[Any] = (),
        timeout_s: float = ANSWER_S,
    ) -> Tuple[Any, ...]:
        """What a method answers. One that fails or is silent is ``Refused``."""
        self.tell(destination, path, interface, member, signature, arguments, flags=0)
        return self._answer(member, time.monotonic() + timeout_s)

    def tell(
        self,
        destination: str,
        path: str,
        interface: str,
        member: str,
        signature: str = "",
        arguments: Sequence[Any] = (),
        flags: int = NO_REPLY,
    ) -> None:
        """Call a method without waiting for its answer: one that opens a dialog answers when that is closed."""
        self._serial += 1
        body = BusWriter()
        for kind, value in zip(types_of(signature), arguments):  # noqa: B905 - Python 3.9
            body.write(kind, value)
        fields: List[Tuple[int, Tuple[str, Any]]] = [
            (1, ("o", path)),
            (2, ("s", interface)),
            (3, ("s", member)),
            (6, ("s", destination)),
        ]
        if signature:
            fields.append((8, ("g", signature)))
        head = BusWriter()
        head.data += struct.pack("<cBBBII", b"l", METHOD_CALL, flags, 1, len(body.data), self._serial)
        head.write("a(yv)", fields)
        head.pad(8)
        self._sock.sendall(bytes(head.data + body.data))

    def _answer(self, member: str, deadline: float) -> Tuple[Any, ...]:
        while True:
            kind, fields, body = self._message(member, deadline)
            if fields.get(REPLY_SERIAL) != self._serial or kind not in (RETURN, ERROR):
                continue
            found = BusReader(body)
            values = tuple(found.read(one) for one in types_of(fields.get(8, "")))
            if kind == ERROR:
                raise Refused("%s: %s" % (member, values[0] if values else "it failed"))
            return values

    def _message(self, member: str, deadline: float) -> Tuple[int, Dict[int, Any], bytes]:
        self._fill(16, member, deadline)
        kind = self._buffer[1]
        length, _serial, fields = struct.unpack_from("<III", self._buffer, 4)
        start = 16 + fields + (-fields % 8)
        if start + length > LARGEST:
            raise Refused("an application answers with too much")
        self._fill(start + length, member, deadline)
        raw = bytes(self._buffer[: start + length])
        del self._buffer[: start + length]
        head = BusReader(raw[: 16 + fields])
        head.place = 12
        return kind, dict(head.read("a(yv)")), raw[start:]

    def _fill(self, size: int, member: str, deadline: float) -> None:
        while len(self._buffer) < size:
            self._sock.settimeout(max(0.01, deadline - time.monotonic()))
            try:
                chunk = self._sock.recv(1 << 18)
            except socket.timeout:
                raise Refused("the application does not answer (%s)" % member) from None
            if not chunk:
                raise Refused("the session bus is gone")
            self._buffer += chunk


_kept: List[SessionBus] = []


@contextlib.contextmanager
def session_bus() -> Iterator[SessionBus]:
    """The connection of this process. It is kept: applications forget clients that leave, and are slow to meet new ones."""
    if not _kept:
        _kept.append(SessionBus())
    try:
        yield _kept[0]
    except BaseException:
        # An answer may still be under way.
        _kept.pop().close()
        raise


class BusWriter:
    """Puts a message together. A variant is written as (signature, value)."""

    def __init__(self) -> None:
        self.data = bytearray()

    def pad(self, step: int) -> None:
        self.data += b"\0" * (-len(self.data) % step)

    def write(self, kind: str, value: Any) -> None:
        first = kind[0]
        if first in FIXED:
            self.pad(struct.calcsize(FIXED[first]))
            self.data += struct.pack("<" + FIXED[first], value)
        elif first in "so":
            raw = value.encode()
            self.pad(4)
            self.data += struct.pack("<I", len(raw)) + raw + b"\0"
        elif first == "g":
            self.data += bytes((len(value),)) + value.encode() + b"\0"
        elif first == "v":
            self.write("g", value[0])
            self.write(value[0], value[1])
        elif first == "a":
            self._array(kind[1:], list(value.items()) if isinstance(value, dict) else value)
        else:
            self.pad(8)
            for one, part in zip(types_of(kind[1:-1]), value):  # noqa: B905
                self.write(one, part)

    def _array(self, kind: str, values: Sequence[Any]) -> None:
        self.pad(4)
        place = len(self.data)
        self.data += b"\0\0\0\0"
        self.pad(alignment(kind))
        start = len(self.data)
        for value in values:
            self.write(kind, value)
        struct.pack_into("<I", self.data, place, len(self.data) - start)


class BusReader:
    """Takes a message apart."""

    def __init__(self, raw: bytes) -> None:
        self.raw = raw
        self.place = 0

    def read(self, kind: str) -> Any:
        first = kind[0]
        self.place += -self.place % alignment(kind)
        if first in FIXED:
            (value,) = struct.unpack_from("<" + FIXED[first], self.raw, self.place)
            self.place += struct.calcsize(FIXED[first])
            return bool(value) if first == "b" else value
        if first in "sog":
            size = self.raw[self.place] if first == "g" else struct.unpack_from("<I", self.raw, self.place)[0]
            begin = self.place + (1 if first == "g" else 4)
            self.place = begin + size + 1
            return self.raw[begin : begin + size].decode("utf-8", "replace")
        if first == "v":
            return self.read(self.read("g"))
        if first == "a":
            size = struct.unpack_from("<I", self.raw, self.place)[0]
            self.place += 4
            self.place += -self.place % alignment(kind[1:])
            end, found = self.place + size, []
            while self.place < end:
                found.append(self.read(kind[1:]))
            return dict(found) if kind[1] == "{" else found
        return tuple(self.read(one) for one in types_of(kind[1:-1]))


def alignment(kind: str) -> int:
    return ALIGNED.get(kind[0]) or struct.calcsize(FIXED[kind[0]])


def types_of(signature: str) -> List[str]:
    """The single types that a signature is made of."""
    found, place = [], 0
    while place < len(signature):
        begin, depth = place, 0
        while True:
            depth += {"(": 1, "{": 1, ")": -1, "}": -1}.get(signature[place], 0)
            place += 1
            if depth == 0 and signature[place - 1] != "a":
                break
        found.append(signature[begin:place])
    return found
