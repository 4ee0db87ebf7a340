"""Says on the session bus where the accessibility bus is: the service ``org.a11y.Bus``.

Qt 6.4 shows its widgets only if this name is taken when the program starts. The usual service
(at-spi-bus-launcher) starts a second bus; here one bus serves as both. Only calls that arrive are answered,
and nothing waits for a client. A message that is too long or can't be read ends the service, not the episode.
"""

from __future__ import annotations

import errno
import socket
import struct

DAEMON = ("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus")
NAME = "org.a11y.Bus"
LONGEST = 1 << 16  # bytes of a message; real calls have a few hundred
CALL, RETURN, ERROR = 1, 2, 3
NO_REPLY_EXPECTED = 1
PATH, INTERFACE, MEMBER, ERROR_NAME, REPLY_SERIAL, DESTINATION, SENDER, SIGNATURE = range(1, 9)
#: The properties of ``org.a11y.Status``. A screen reader would have every key reported to it.
STATUS = {"IsEnabled": True, "ScreenReaderEnabled": False}


class BusLocator:
    """A connection to the bus that owns the name and answers calls to it."""

    def __init__(self, path: str) -> None:
        self._address = "unix:path=" + path
        self._received = b""
        self._serial = 2
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
        try:
            self.sock.connect(path)
            # All at once: the bus works them off in this order, before any program that starts later.
            self.sock.sendall(b"\0AUTH EXTERNAL\r\nDATA\r\nBEGIN\r\n" + _ask(1, "Hello"))
            self.sock.sendall(_ask(2, "RequestName", "su", _padded(_text(NAME), 4) + bytes(4)))
            while self._received.count(b"\r\n") < 2:  # the answers to AUTH and DATA
                chunk = self.sock.recv(4096)
                if not chunk:
                    raise OSError(errno.ECONNREFUSED, "the bus refused us")
                self._received += chunk
        except OSError:
            self.sock.close()
            raise
        self._received = self._received.split(b"\r\n", 2)[2]
        self.sock.setblocking(False)

    def fileno(self) -> int:
        return self.sock.fileno()

    def serve(self) -> bool:
        """Answer what has come; False if the service has ended."""
        try:
            chunk = self.sock.recv(LONGEST)
            self._received += chunk
            while chunk and len(self._received) >= 16:
                order, kind, flags = struct.unpack_from("<cBB", self._received)
                body, serial, fields = struct.unpack_from("<III", self._received, 4)
                begin = 16 + fields + -fields % 8
                if order != b"l" or begin + body > LONGEST:
                    chunk = b""  # of no client that we know
                elif len(self._received) < begin + body:
                    break
                else:
                    message = self._received[: begin + body]
                    self._received = self._received[begin + body :]
                    if kind == CALL and not flags & NO_REPLY_EXPECTED:
                        self._answer(serial, _fields(message, 16 + fields), message[begin:])
        except BlockingIOError:  # nothing there, or a client that does not read
            return True
        except (OSError, ValueError, IndexError, struct.error):
            chunk = b""
        if not chunk:
            self.sock.close()
        return bool(chunk)

    def _answer(self, serial: int, fields: dict[int, str], body: bytes) -> None:
        member, kind, head, content = fields.get(MEMBER), RETURN, b"", b""
        if member == "GetAddress":
            signature, content = "s", _text(self._address)
        elif member == "Get":
            signature, content = "v", b"\x01b\0\0" + struct.pack("<I", STATUS.get(_second_text(body), False))
        elif member == "GetAll":
            signature, content = "a{sv}", _properties()
        else:
            kind, signature = ERROR, ""
            head = _field(ERROR_NAME, "s", _text("org.freedesktop.DBus.Error.UnknownMethod"))
        head = _padded(head) + _field(REPLY_SERIAL, "u", struct.pack("<I", serial))
        head = _padded(head) + _field(DESTINATION, "s", _text(fields[SENDER]))
        self._serial += 1
        self.sock.send(_message(kind, self._serial, head, signature, content))


def _ask(serial: int, member: str, signature: str = "", content: bytes = b"") -> bytes:
    head = b""
    for code, kind, text in zip((DESTINATION, PATH, INTERFACE), "sos", DAEMON, strict=True):
        head = _padded(head) + _field(code, kind, _text(text))
    return _message(CALL, serial, _padded(head) + _field(MEMBER, "s", _text(member)), signature, content)


def _message(kind: int, serial: int, head: bytes, signature: str, content: bytes) -> bytes:
    if signature:
        head = _padded(head) + _field(SIGNATURE, "g", _short_text(signature))
    start = struct.pack("<cBBBIII", b"l", kind, 0, 1, len(content), serial, len(head))
    return start + _padded(head) + content


def _field(code: int, kind: str, value: bytes) -> bytes:
    return bytes((code,)) + _short_text(kind) + value


def _text(text: str) -> bytes:
    raw = text.encode()
    return struct.pack("<I", len(raw)) + raw + b"\0"


def _short_text(text: str) -> bytes:
    return bytes((len(text),)) + text.encode() + b"\0"


def _padded(raw: bytes, step: int = 8) -> bytes:
    return raw + bytes(-len(raw) % step)


def _properties() -> bytes:
    entries = b""
    for name, value in STATUS.items():
        entries = _padded(_padded(entries) + _text(name) + b"\x01b\0", 4) + struct.pack("<I", value)
    return struct.pack("<I", len(entries)) + bytes(4) + entries


def _fields(message: bytes, end: int) -> dict[int, str]:
    """The fields of a message that are texts. Raises ValueError if one is of a type that no call has."""
    found, place = {}, 16
    while place < end:
        place += -place % 8
        code, _, kind = struct.unpack_from("<BBc", message, place)
        place += 4
        if kind == b"g":
            place += message[place] + 2
        elif kind == b"u":
            place += -place % 4 + 4
        elif kind in (b"s", b"o"):
            found[code], place = _read_text(message, place)
        else:
            raise ValueError("a field of an unknown type")
    return found


def _read_text(raw: bytes, place: int) -> tuple[str, int]:
    place += -place % 4
    end = place + 4 + int(struct.unpack_from("<I", raw, place)[0])
    return raw[place + 4 : end].decode(), end + 1


def _second_text(body: bytes) -> str:
    """The second argument of a call; empty if that is no text."""
    try:
        return _read_text(body, _read_text(body, 0)[1])[0]
    except (ValueError, struct.error):
        return ""
