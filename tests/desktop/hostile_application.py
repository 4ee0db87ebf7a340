"""An accessible application that answers whatever it likes. Runs inside a desktop, on the standard library alone.

``hostile_application.py MODE``: registers like any toolkit does, then answers every call in a way that no
toolkit would. Prints ``registered`` when it can be asked.
"""

from __future__ import annotations

import os
import random
import socket
import struct
import sys
import threading
import time
from collections.abc import Iterator

ROOT = "/org/a11y/atspi/accessible/root"
SHOWING = 1 << 25 | 1 << 30
ITEM = "((so)(so)(so)iiassusau)"


def aligned(raw: bytes, step: int) -> bytes:
    return raw + b"\0" * (-len(raw) % step)


def text(value: str | bytes) -> bytes:
    raw = value if isinstance(value, bytes) else value.encode()
    return struct.pack("<I", len(raw)) + raw + b"\0"


def field(code: int, kind: str, value: str | int) -> bytes:
    head = bytes((code, 1)) + kind.encode() + b"\0"
    if kind == "g":
        return head + bytes((len(str(value)),)) + str(value).encode() + b"\0"
    return head + (struct.pack("<I", value) if kind == "u" else text(str(value)))


def message(kind: int, serial: int, fields: list[bytes], body: bytes = b"") -> bytes:
    listed = b""
    for one in fields:
        listed = aligned(listed, 8) + one
    return (
        aligned(struct.pack("<cBBBIII", b"l", kind, 0, 1, len(body), serial, len(listed)) + listed, 8) + body
    )


def read(line: socket.socket) -> Iterator[tuple[int, int, dict[int, str], bytes]]:
    """Messages that come in: kind, serial, the texts of the header and the body."""
    buffer = b""
    while True:
        while len(buffer) >= 16:
            _order, kind, _flags, _version, body, serial, length = struct.unpack_from("<cBBBIII", buffer)
            size = 16 + length + (-length % 8) + body
            if len(buffer) < size:
                break
            found, at = {}, 16
            while at < 16 + length:
                at += -at % 8
                code, type_ = buffer[at], buffer[at + 2 : at + 3]
                at += 4
                if type_ == b"g":
                    at += buffer[at] + 2
                elif type_ == b"u":
                    at += 4
                else:
                    (count,) = struct.unpack_from("<I", buffer, at)
                    found[code] = buffer[at + 4 : at + 4 + count].decode()
                    at += 5 + count
            yield kind, serial, found, buffer[size - body : size]
            buffer = buffer[size:]
        data = line.recv(1 << 16)
        if not data:
            return
        buffer += data


def objects(paths: list[str], name: str) -> bytes:
    body = b""
    for path in paths:
        body = aligned(body, 8)
        body += text(name)
        body = aligned(body, 4) + text(path)
    return struct.pack("<I", len(body)) + b"\0" * 4 + body


def items(name: str, count: int, chain: bool) -> bytes:
    """What a cache holds: so many widgets that are shown, side by side or each within the one before."""
    parts, place = [], 0
    for number in range(-1, count):
        parent = ROOT if not chain or number <= 0 else f"/w/{number - 1}"
        one = b""
        for path in (f"/w/{number}" if number >= 0 else ROOT, ROOT, parent):
            one = aligned(one, 8) + text(name)
            one = aligned(one, 4) + text(path)
        one = (
            aligned(one, 4) + struct.pack("<ii", -number, -5 if number >= 0 else count) + struct.pack("<I", 0)
        )
        one = aligned(one, 4) + text("x" * 50)
        one = aligned(one, 4) + struct.pack("<I", 0xFFFFFFFF)
        one = aligned(one, 4) + text("")
        one = aligned(one, 4) + struct.pack("<III", 8, SHOWING, 0)
        body = b"\0" * (-place % 8) + one
        place += len(body)
        parts.append(body)
    whole = b"".join(parts)
    return struct.pack("<I", len(whole)) + b"\0" * 4 + whole


RANDOM = random.Random(15)
ODD = [
    ("", b""),
    ("i", struct.pack("<i", -1)),
    ("as", struct.pack("<I", 0)),
    ("au", struct.pack("<I", 0)),
    ("a{sv}", struct.pack("<II", 0, 0)),
    ("v", b"\x01i\0" + b"\0" + struct.pack("<i", -7)),
    ("v", b"\x02as\0" + struct.pack("<I", 0)),
    ("d", struct.pack("<d", float("nan"))),
    ("s", text("not what you asked for")),
    ("(iiii)", struct.pack("<iiii", -1, -1, -(2**31), 2**31 - 1)),
    ("ai", struct.pack("<Iii", 8, 1, 2)),
    ("b", struct.pack("<I", 1)),
]


def crowd(mode: str, name: str, member: str, path: str, body: bytes) -> tuple[str, bytes] | None:
    """A container that claims a billion children, and never answers again once it is asked for all of them."""
    if member == "Get" and b"ChildCount" in body:
        count = {ROOT: 1, "/crowd": 10**9}.get(path, 0)
        return "v", b"\x01i\0\0" + struct.pack("<i", count)
    if member == "GetChildren" and path == ROOT:
        return "a(so)", objects(["/crowd"], name)
    if member == "GetChildren":
        time.sleep(3600)
    if member == "GetChildAtIndex":
        return "(so)", aligned(text(name), 4) + text(f"/crowd/{struct.unpack('<i', body)[0]}")
    if mode == "crowd":
        return None
    if member == "GetInterfaces":
        listed = text("org.a11y.atspi.Component")
        return "as", struct.pack("<I", len(listed)) + listed
    if member == "GetAccessibleAtPoint":  # cells of 100 x 20 pixels
        x, y, _kind = struct.unpack("<iiI", body)
        return "(so)", aligned(text(name), 4) + text(f"/crowd/c{x // 100}_{y // 20}")
    if member == "GetExtents" and path.startswith("/crowd/c"):
        column, row = map(int, path.removeprefix("/crowd/c").split("_"))
        return "(iiii)", struct.pack("<iiii", column * 100, row * 20, 100, 20)
    if member == "GetExtents":
        return "(iiii)", struct.pack("<iiii", 0, 0, 400, 200)
    return None


def answer(mode: str, name: str, member: str, path: str, body: bytes) -> tuple[str, bytes]:
    right = {
        "GetRole": ("u", struct.pack("<I", 0x7FFFFFFF)),
        "GetState": ("au", struct.pack("<III", 8, SHOWING, 0)),
        "GetInterfaces": ("as", struct.pack("<I", 0)),
        "Get": ("v", b"\x01s\0\0" + text("odd")),
        "GetChildren": ("a(so)", objects([], name)),
        "GetItems": ("i", b"\0\0\0\0"),
        "GetApplicationBusAddress": ("s", text("")),
    }
    if mode in ("crowd", "sheet"):
        return crowd(mode, name, member, path, body) or right.get(member) or ("", b"")
    if mode == "types" and member != "Get":
        return RANDOM.choice(ODD)
    if mode == "names" and member == "Get":
        return "v", RANDOM.choice([b"\x01i\0\0" + struct.pack("<i", 3), b"\x02as\0" + struct.pack("<I", 0)])
    if mode == "empty" and member == "GetState":
        return "au", struct.pack("<I", 0)
    if mode == "negative" and member == "GetItems":
        return f"a{ITEM}", items(name, 50, chain=False)
    if mode == "huge" and member == "GetItems":
        return f"a{ITEM}", items(name, 25_000, chain=False)
    if mode == "long" and member == "Get":
        return "v", b"\x01s\0\0" + text("x" * 12_000_000)
    if mode == "chain" and member == "GetItems":
        return f"a{ITEM}", items(name, 5_000, chain=True)
    if mode == "cycle" and member == "GetChildren":
        return "a(so)", objects([ROOT, path, "/a", "/b", "/a"], name)
    if mode == "endless" and member == "GetChildren":
        return "a(so)", objects([f"/n{RANDOM.getrandbits(60)}" for _ in range(3)], name)
    if mode in ("direct", "garbage") and member == "GetApplicationBusAddress":
        return "s", text("unix:path=" + os.environ["HOME"] + "/direct")
    return right.get(member, RANDOM.choice(ODD))


def serve(line: socket.socket, mode: str, name: str, *, direct: bool) -> None:
    for number, (kind, serial, found, sent) in enumerate(read(line), 1000):
        if kind != 1:
            continue
        if direct and mode == "garbage":
            line.sendall(RANDOM.randbytes(64))
            continue
        signature, body = answer(mode, name, found.get(3, ""), found.get(1, ""), sent)
        if direct and mode == "direct":  # nobody stands between that checks texts
            signature, body = "s", text(b"\xff\xfe\xed\x80\0\xc3")
        fields = [field(5, "u", serial)]
        if 7 in found:
            fields.append(field(6, "s", found[7]))
        if signature:
            fields.append(field(8, "g", signature))
        line.sendall(message(2, number, fields, body))


def listen(mode: str, name: str) -> None:
    server = socket.socket(socket.AF_UNIX)
    server.bind(os.environ["HOME"] + "/direct")
    server.listen()

    def accept() -> None:
        while True:
            line = server.accept()[0]
            said = b""
            while b"DATA" not in said:
                said += line.recv(512)
            line.sendall(b"DATA\r\nOK 0123456789abcdef0123456789abcdef\r\n")
            while b"BEGIN" not in said:
                said += line.recv(7)
            serve(line, mode, name, direct=True)

    threading.Thread(target=accept, daemon=True).start()


def main(mode: str) -> None:
    line = socket.socket(socket.AF_UNIX)
    line.connect(os.environ["DBUS_SESSION_BUS_ADDRESS"].partition("=")[2].partition(",")[0])
    line.sendall(b"\0AUTH EXTERNAL\r\nDATA\r\n")
    said = b""
    while said.count(b"\r\n") < 2:
        said += line.recv(512)
    line.sendall(b"BEGIN\r\n")
    bus = [field(1, "o", "/org/freedesktop/DBus"), field(6, "s", "org.freedesktop.DBus")]
    line.sendall(message(1, 1, [*bus, field(2, "s", "org.freedesktop.DBus"), field(3, "s", "Hello")]))
    name = next(found[6] for _kind, _serial, found, _body in read(line) if 6 in found)
    if mode in ("direct", "garbage"):
        listen(mode, name)
    shown = "no such name" if mode == "impostor" else name
    registry = [field(1, "o", ROOT), field(2, "s", "org.a11y.atspi.Socket"), field(3, "s", "Embed")]
    registry += [field(6, "s", "org.a11y.atspi.Registry"), field(8, "g", "(so)")]
    line.sendall(message(1, 2, registry, aligned(text(shown), 4) + text(ROOT)))
    print("registered", flush=True)
    serve(line, mode, name, direct=False)


if __name__ == "__main__":
    main(sys.argv[1])
