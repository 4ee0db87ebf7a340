"""A small X11 client: windows as the window manager lists them, requests to it, and keys.

Speaks the protocol over the display's socket, because a desktop has no library for it. Knows nothing of calls.
"""

from __future__ import annotations

import os
import socket
import struct
import time
from typing import Callable, Dict, List, NamedTuple, Optional, Tuple, TypeVar

from refusal import Refused

ANSWER_S = 5.0
PAGER = 2  # the source of a request that the window manager obeys without second thoughts
SUBSTRUCTURE = 0x180000  # the events that a window manager listens for
SHELL_TYPES = ("_NET_WM_WINDOW_TYPE_DOCK", "_NET_WM_WINDOW_TYPE_DESKTOP")
MOST_BYTES = 1 << 22
Found = TypeVar("Found")


class TopWindow(NamedTuple):
    """A top-level window; the geometry is its client area in pixels."""

    id: int
    title: str
    wm_class: str
    x: int
    y: int
    width: int
    height: int
    focused: bool
    minimized: bool
    modal: bool
    """Whether it is a dialog that its application waits for."""


class XDisplay:
    """One connection to the display of this desktop."""

    def __init__(self) -> None:
        number = os.environ["DISPLAY"].rpartition(":")[2].partition(".")[0]
        self._sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._sock.settimeout(ANSWER_S)
        self._sock.connect("/tmp/.X11-unix/X" + number)
        self._sock.sendall(struct.pack("<BxHHHH2x", 0x6C, 11, 0, 0, 0))
        success, _major, _minor, words = struct.unpack("<BxHHH", self._exactly(8))
        setup = self._exactly(words * 4)
        if success != 1:
            raise Refused("the display refused a connection")
        vendor = struct.unpack_from("<H", setup, 16)[0]
        formats = setup[21]
        self.keycodes = (setup[26], setup[27])
        screen = 32 + vendor + (-vendor % 4) + 8 * formats
        self.root, self.width, self.height = struct.unpack_from("<I16xHH", setup, screen)
        self._sequence = 0
        self._atoms: Dict[str, int] = {}

    def close(self) -> None:
        self._sock.close()

    def __enter__(self) -> XDisplay:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Windows.

    def windows(self) -> List[TopWindow]:
        """The windows of applications, from the bottom of the stack to the top."""
        focused = (self._words(self.root, "_NET_ACTIVE_WINDOW") or [0])[0]
        shell = {self.atom(name) for name in SHELL_TYPES}
        hidden, modal = self.atom("_NET_WM_STATE_HIDDEN"), self.atom("_NET_WM_STATE_MODAL")
        found = []
        for window in self._words(self.root, "_NET_CLIENT_LIST_STACKING"):
            if shell & set(self._words(window, "_NET_WM_WINDOW_TYPE")):
                continue
            geometry = self._ask(14, 0, struct.pack("<I", window))
            place = self._ask(40, 0, struct.pack("<IIhh", window, self.root, 0, 0))
            if geometry is None or place is None:
                continue  # closed since it was listed
            width, height = struct.unpack_from("<HH", geometry, 16)
            x, y = struct.unpack_from("<hh", place, 12)
            states = self._words(window, "_NET_WM_STATE")
            title = self.text(window, "_NET_WM_NAME") or self.text(window, "WM_NAME")
            wm_class = self.text(window, "WM_CLASS").rstrip("\0").rpartition("\0")[2]
            found.append(
                TopWindow(
                    window,
                    title,
                    wm_class,
                    x,
                    y,
                    width,
                    height,
                    window == focused,
                    hidden in states,
                    modal in states,
                )
            )
        return found

    def owner(self, window: int) -> int:
        """The window that a dialog belongs to; 0 if it names none."""
        return (self._words(window, "WM_TRANSIENT_FOR") or [0])[0]

    def has_icons(self) -> bool:
        """Whether a window with the icons of the desktop lies behind all others."""
        kind = self.atom("_NET_WM_WINDOW_TYPE_DESKTOP")
        listed = self._words(self.root, "_NET_CLIENT_LIST_STACKING")
        return any(kind in self._words(window, "_NET_WM_WINDOW_TYPE") for window in listed)

    def work_area(self) -> Tuple[int, int, int, int]:
        """The part of the screen that no panel covers."""
        area = self._words(self.root, "_NET_WORKAREA")
        return (area[0], area[1], area[2], area[3]) if len(area) >= 4 else (0, 0, self.width, self.height)

    def borders(self, window: int) -> Tuple[int, int, int, int]:
        """What the window manager draws around it: left, right, top, bottom."""
        found = self._words(window, "_NET_FRAME_EXTENTS")
        return (found[0], found[1], found[2], found[3]) if len(found) >= 4 else (0, 0, 0, 0)

    def activate(self, window: int) -> None:
        self._tell(window, "_NET_ACTIVE_WINDOW", [PAGER, 0, 0, 0, 0])

    def place(self, window: int, x: int, y: int, width: int, height: int) -> None:
        """Put a window's client area there."""
        static_gravity, all_four = 10, 0b1111
        flags = static_gravity | all_four << 8 | PAGER << 12
        self._tell(window, "_NET_MOVERESIZE_WINDOW", [flags, x, y, width, height])

    def close_window(self, window: int) -> None:
        """As its close button would."""
        self._tell(window, "_NET_CLOSE_WINDOW", [0, PAGER, 0, 0, 0])

    def minimize(self, window: int) -> None:
        iconic = 3
        self._tell(window, "WM_CHANGE_STATE", [iconic, 0, 0, 0, 0])

    def maximize(self, window: int, on: bool) -> None:
        both = [self.atom("_NET_WM_STATE_MAXIMIZED_" + way) for way in ("HORZ", "VERT")]
        self._tell(window, "_NET_WM_STATE", [int(on), *both, PAGER, 0])

    def sync(self) -> None:
        """Return when the server has dealt with everything that was sent."""
        self._ask(43, 0, b"")  # who has the focus

    # Keys.

    def press(self, *keysyms: int) -> None:
        """Press these keys together and let go of them, in the window that has the focus."""
        opcode = self._extension("XTEST")
        codes = [self._keycode(keysym) for keysym in keysyms]
        press, release = 2, 3
        for kind, ordered in ((press, codes), (release, codes[::-1])):
            for code in ordered:
                self._send(opcode, 2, struct.pack("<BBxxII8xhh8x", kind, code, 0, 0, 0, 0))
        self.sync()

    def _extension(self, name: str) -> int:
        raw = name.encode()
        answer = self._ask(98, 0, struct.pack("<Hxx", len(raw)) + _padded(raw))
        if answer is None or not answer[8]:
            raise Refused("the display lacks " + name)
        return answer[9]

    def _keycode(self, keysym: int) -> int:
        first, last = self.keycodes
        count = last - first + 1
        answer = self._ask(101, 0, struct.pack("<BBxx", first, count))
        if answer is not None:
            per_code = answer[1]
            symbols = struct.unpack_from("<%dI" % (per_code * count), answer, 32)
            for index in range(count):
                if symbols[index * per_code] == keysym:
                    return first + index
        raise Refused("the keyboard has no such key")

    # The protocol.

    def atom(self, name: str) -> int:
        if name not in self._atoms:
            raw = name.encode()
            answer = self._ask(16, 0, struct.pack("<Hxx", len(raw)) + _padded(raw))
            self._atoms[name] = struct.unpack_from("<I", answer, 8)[0] if answer else 0
        return self._atoms[name]

    def _property(self, window: int, name: str) -> Tuple[int, bytes]:
        """Bits per value, and the bytes."""
        answer = self._ask(20, 0, struct.pack("<IIIII", window, self.atom(name), 0, 0, 4096))
        if answer is None:
            return 0, b""
        width = answer[1]
        length = struct.unpack_from("<I", answer, 16)[0] * width // 8
        return width, answer[32 : 32 + length]

    def _words(self, window: int, name: str) -> List[int]:
        width, raw = self._property(window, name)
        return list(struct.unpack("<%dI" % (len(raw) // 4), raw)) if width == 32 else []

    def text(self, window: int, name: str) -> str:
        return self._property(window, name)[1].decode("utf-8", "replace")

    def _tell(self, window: int, what: str, data: List[int]) -> None:
        event = struct.pack(
            "<BBHII5I", 33, 32, 0, window, self.atom(what), *(one & 0xFFFFFFFF for one in data)
        )
        self._send(25, 0, struct.pack("<II", self.root, SUBSTRUCTURE) + event)
        self.sync()

    def _send(self, opcode: int, detail: int, body: bytes) -> int:
        self._sock.sendall(struct.pack("<BBH", opcode, detail, 1 + len(body) // 4) + body)
        self._sequence = (self._sequence + 1) & 0xFFFF
        return self._sequence

    def _ask(self, opcode: int, detail: int, body: bytes) -> Optional[bytes]:
        """The answer to a request; None if it failed, as for a window that is gone."""
        wanted = self._send(opcode, detail, body)
        while True:
            head = self._exactly(32)
            sequence = struct.unpack_from("<H", head, 2)[0]
            if head[0] == 1:
                size = struct.unpack_from("<I", head, 4)[0] * 4
                head += self._exactly(size)
            if head[0] in (0, 1) and sequence == wanted:
                return head if head[0] == 1 else None

    def _exactly(self, size: int) -> bytes:
        if size > MOST_BYTES:
            raise Refused("the display answers with too much")
        data = bytearray()
        while len(data) < size:
            chunk = self._sock.recv(size - len(data))
            if not chunk:
                raise Refused("the display is gone")
            data += chunk
        return bytes(data)


def _padded(raw: bytes) -> bytes:
    return raw + b"\0" * (-len(raw) % 4)


def wait_until(condition: Callable[[], Found], seconds: float, pause_s: float = 0.01) -> Found:
    """What the condition returns once it is true; its last answer after so long."""
    deadline = time.monotonic() + seconds
    while True:
        found = condition()
        if found or time.monotonic() >= deadline:
            return found
        time.sleep(pause_s)
