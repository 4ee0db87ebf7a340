"""One kept connection to an X server: requests with a time limit, properties, damage and monitors.

Knows X11 and nothing above it: not whose server it is (a sandbox's or the user's own), nor what an
action is.
"""

from __future__ import annotations

import contextlib
import os
import socket
import struct
import time
from collections.abc import Iterator, Sequence
from typing import Any

import xcffib
import xcffib.damage
import xcffib.randr
import xcffib.xfixes
import xcffib.xkb
import xcffib.xproto as xproto
import xcffib.xtest

from operant.desktop.readiness import wait_readable
from operant.desktop.watchdog import watchdog
from operant.errors import DesktopDied, DesktopTimeout
from operant.types import Monitor, Size

__all__ = ["Display"]

REPLY_S = 5.0
NON_EMPTY = 3  # damage report level: one event, then silence until the damage is taken
_NO_REGION = 0
PONGS = xproto.EventMask.SubstructureNotify | xproto.EventMask.StructureNotify
CORE_KEYBOARD = 0x100
ALL_PARTS = 0xFF  # of a keyboard map


class Display:
    """A connection that stays open. Use ``over`` for a connected socket and ``named`` for ``:0`` and the like."""

    def __init__(
        self, connection: xcffib.Connection, sock: socket.socket, timeout_s: float = REPLY_S
    ) -> None:
        self.connection = connection
        self.core = connection.core
        self.timeout_s = timeout_s
        self._sock = sock
        self._atoms: dict[str, int] = {}
        self._damage = 0
        self._damaged = False
        self._pings = self._ponged = 0x0FEED000  # ours, and not the window manager's, which are times
        self.keymap_changed = True
        self.properties_changed = True
        screen = connection.get_setup().roots[0]
        self.root: int = screen.root
        self.size = Size(screen.width_in_pixels, screen.height_in_pixels)
        self.fd: int = connection.get_file_descriptor()
        self.xtest = connection(xcffib.xtest.key)
        self.randr = connection(xcffib.randr.key)
        self.xkb = connection(xcffib.xkb.key)
        with self.limited():
            answers = [self.xkb.UseExtension(1, 0), self.randr.QueryVersion(1, 5)]
            self._listen(xproto.EventMask.PropertyChange)
            for answer in answers:
                answer.reply()
            # Without this, a change of layout that leaves the keycodes as they are is kept from us. All
            # events of XKB have one code on the wire, that of the first.
            changes = xcffib.xkb.EventType.NewKeyboardNotify | xcffib.xkb.EventType.MapNotify
            self.xkb.SelectEvents(CORE_KEYBOARD, changes, 0, changes, ALL_PARTS, ALL_PARTS, [])

    @classmethod
    def over(cls, sock: socket.socket, timeout_s: float = REPLY_S) -> Display:
        """Speak X over a socket that is connected already; takes the socket over."""
        ours = sock.dup()
        with _translated(ours, timeout_s):
            return cls(xcffib.Connection(fd=sock.detach()), ours, timeout_s)

    @classmethod
    def named(cls, name: str, timeout_s: float = REPLY_S) -> Display:
        """A server of this machine's by its display name; the user's authority file is used."""
        try:
            connection = xcffib.Connection(display=name)
        except xcffib.ConnectionException as error:
            raise DesktopDied(f"no X server answers at display {name!r}", hint="check $DISPLAY") from error
        ours = socket.socket(fileno=os.dup(connection.get_file_descriptor()))
        return cls(connection, ours, timeout_s)

    def close(self) -> None:
        self.connection.disconnect()
        self._sock.close()

    # Asking and waiting.

    @contextlib.contextmanager
    def limited(self, seconds: float | None = None) -> Iterator[None]:
        """Requests in here are answered within the limit, or the connection is cut and a typed error raised."""
        with _translated(self._sock, seconds or self.timeout_s):
            yield

    def sync(self) -> None:
        """Return when the server has done everything that was asked."""
        with self.limited():
            self.core.GetInputFocus().reply()

    def raw(self, cookie: Any) -> bytes:
        """An answer's bytes without its sequence number, which is different every time."""
        data = bytes(self.connection.wait_for_reply(cookie.sequence).buf)
        return data[:2] + b"\0\0" + data[4:]

    def atom(self, name: str) -> int:
        if name not in self._atoms:
            with self.limited():
                self._atoms[name] = self.core.InternAtom(False, len(name), name).reply().atom
        return self._atoms[name]

    def atoms(self, *names: str) -> list[int]:
        """Several atoms in one round trip."""
        missing = [name for name in names if name not in self._atoms]
        if missing:
            with self.limited():
                cookies = [self.core.InternAtom(False, len(name), name) for name in missing]
                self._atoms.update(
                    (name, cookie.reply().atom) for name, cookie in zip(missing, cookies, strict=True)
                )
        return [self._atoms[name] for name in names]

    def ask_property(self, window: int, name: str, length: int = 1024) -> Any:
        """A cookie for a property of any type, read with ``words`` or ``text``."""
        return self.core.GetProperty(False, window, self.atom(name), xproto.GetPropertyType.Any, 0, length)

    def set_text_property(self, window: int, name: str, text: str) -> None:
        data = text.encode("latin-1")
        with self.limited():
            self.core.ChangeProperty(
                xproto.PropMode.Replace, window, self.atom(name), xproto.Atom.STRING, 8, len(data), data
            )

    @staticmethod
    def words(reply: Any) -> tuple[int, ...]:
        """A reply of 32-bit values: windows, cardinals, atoms."""
        data = reply.value.buf()
        return struct.unpack(f"={len(data) // 4}I", data[: len(data) // 4 * 4]) if reply.format == 32 else ()

    @staticmethod
    def text(reply: Any) -> str:
        data: bytes = reply.value.buf()
        return data.decode("latin-1" if reply.type == xproto.Atom.STRING else "utf-8", "replace")

    # What changed.

    def watch_damage(self) -> None:
        """From now on, notice whenever anything is drawn anywhere on the screen."""
        damage = self.connection(xcffib.damage.key)
        with self.limited():
            damage.QueryVersion(1, 1).reply()
            self._damage = self.connection.generate_id()
            damage.Create(self._damage, self.root, NON_EMPTY)
        self._damage_extension = damage
        self.sync()

    def forget_damage(self) -> None:
        """Whatever was drawn until now does not count."""
        self.read_events()
        self._rearm()

    def _rearm(self) -> None:
        if self._damaged:
            self._damaged = False
            try:
                self._damage_extension.Subtract(self._damage, _NO_REGION, _NO_REGION)
                self.connection.flush()
            except xcffib.ConnectionException as error:
                raise DesktopDied("the display is gone") from error

    def wait_damage(self, seconds: float) -> bool:
        """True as soon as something is drawn; False when nothing was for so long."""
        deadline = time.monotonic() + seconds
        self.read_events()
        while not self._damaged:
            if not self.wait_events(deadline - time.monotonic()):
                return False
        self._rearm()
        return True

    def wait_events(self, seconds: float) -> bool:
        """Wait until the server says anything, and take note of it; False if it stays silent."""
        if self.read_events():
            return True  # it had come along with an answer
        ready = wait_readable(self.fd, seconds)
        if ready:
            self.read_events()
        return ready

    def read_events(self) -> bool:
        """Take note of what the server has said; whether it had said anything."""
        any_read = False
        while True:
            try:
                event = self.connection.poll_for_event()
            except xcffib.ConnectionException as error:
                raise DesktopDied("the display is gone") from error
            except xcffib.Error:
                continue  # a late answer to a request on a window that has gone since
            if event is None:
                return any_read
            any_read = True
            if isinstance(event, xcffib.damage.NotifyEvent):
                self._damaged = True
            elif isinstance(event, xproto.PropertyNotifyEvent):
                self.properties_changed = True
            elif isinstance(event, (xproto.MappingNotifyEvent, xcffib.xkb.NewKeyboardNotifyEvent)):
                self.keymap_changed = True
            elif isinstance(event, xproto.ClientMessageEvent) and event.type == self._atoms.get(
                "WM_PROTOCOLS"
            ):
                self._ponged = event.data.data32[1]

    # Whether a program has dealt with what was sent to it.

    def can_ping(self, window: int) -> bool:
        """Whether the program behind a window says that it answers pings."""
        with self.limited():
            try:
                protocols = self.words(self.ask_property(window, "WM_PROTOCOLS").reply())
            except xproto.WindowError:
                return False
        return self.atom("_NET_WM_PING") in protocols

    def ping(self, window: int, seconds: float) -> bool:
        """True when the program behind the window has come to this, and so to all events before it.

        The answer goes to clients that listen for changes below the root window, or, from Qt, of the root window itself.
        """
        self._pings += 1
        number = self._pings
        kind, protocol = self.atoms("WM_PROTOCOLS", "_NET_WM_PING")
        message = struct.pack("=BBHII5I", 33, 32, 0, window, kind, protocol, number, window, 0, 0)
        self._listen(xproto.EventMask.PropertyChange | PONGS)
        try:
            with self.limited():
                self.core.SendEvent(False, window, xproto.EventMask.NoEvent, message)
                self.core.GetInputFocus().reply()
            deadline = time.monotonic() + seconds
            while self._ponged != number:
                if not self.wait_events(deadline - time.monotonic()) and time.monotonic() >= deadline:
                    return False
            return True
        finally:
            self._listen(xproto.EventMask.PropertyChange)

    def _listen(self, mask: int) -> None:
        with self.limited():
            self.core.ChangeWindowAttributes(self.root, xproto.CW.EventMask, [mask])
            self.connection.flush()

    # Geometry.

    def set_monitors(self, monitors: Sequence[Monitor]) -> None:
        """Split the screen into regions that applications take for monitors."""
        millimetres_per_pixel = 25.4 / 96
        with self.limited():
            # An output that no region claims would go on as a monitor of its own, over the whole screen.
            outputs = list(self.randr.GetScreenResourcesCurrent(self.root).reply().outputs)
            for index, monitor in enumerate(monitors):
                claimed = outputs if index == 0 else []
                info = xcffib.randr.MonitorInfo.synthetic(
                    self.atom(f"OPERANT-{index}"), index == 0, False, len(claimed),
                    monitor.x, monitor.y, monitor.width, monitor.height,
                    int(monitor.width * millimetres_per_pixel), int(monitor.height * millimetres_per_pixel), claimed,
                )  # fmt: skip
                self.randr.SetMonitor(self.root, info)
        self.sync()

    def monitors(self) -> list[Monitor]:
        with self.limited():
            found = self.randr.GetMonitors(self.root, True).reply().monitors
        return [Monitor(m.x, m.y, m.width, m.height) for m in found]


@contextlib.contextmanager
def _translated(sock: socket.socket, seconds: float) -> Iterator[None]:
    with watchdog.limit(sock, seconds) as limit:
        try:
            yield
        except xcffib.ConnectionException as error:
            if limit.expired:
                raise DesktopTimeout(
                    f"the display did not answer within {seconds:g} s",
                    hint="a program may hold a grab of the server; reset or replace the desktop",
                ) from error
            raise DesktopDied("the display is gone") from error
