"""Accessibility trees of the user's own session, over the bus that the session's programs speak on.

Finds the bus; ``accessibility`` reads the trees. Nothing is switched on: programs that were started without
accessibility stay without.
"""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast
from urllib.parse import unquote

from operant.desktop.accessibility import Accessibility
from operant.desktop.bus import Bus, BusCall, BusError
from operant.desktop.channel import Channel
from operant.desktop.display import Display
from operant.errors import AccessibilityError

__all__ = ["LiveAccessibility", "connect_bus"]

CONNECT_S = 2.0
ASK_LAUNCHER = BusCall("org.a11y.Bus", "/org/a11y/bus", "org.a11y.Bus", "GetAddress", answer="s")


class LiveAccessibility(Accessibility):
    """Trees of whatever runs on a live display."""

    def __init__(self, display: Display, environ: Mapping[str, str]) -> None:
        super().__init__(cast(Channel, None))  # there is no sandbox to go through
        self._display = display
        self._environ = environ

    def _connect(self, path: str) -> socket.socket:
        if path != "bus":
            return connect_bus(f"unix:path={path}")
        for address in self._addresses():
            with contextlib.suppress(OSError):
                return connect_bus(address)
        raise AccessibilityError(
            "no accessibility bus on the live screen",
            hint="switch accessibility on in the settings of the session, and log in anew",
        )

    def _memory_map(self, pid: int) -> str:
        return Path(f"/proc/{pid}/maps").read_text(errors="replace")

    def _addresses(self) -> Iterator[str]:
        """Where the bus may be, surest first: what the display says, the environment, the launcher."""
        display = self._display
        with display.limited():
            told = display.text(display.ask_property(display.root, "AT_SPI_BUS").reply())
        yield told
        yield self._environ.get("AT_SPI_BUS_ADDRESS", "")
        session = self._environ.get("DBUS_SESSION_BUS_ADDRESS", "")
        with contextlib.suppress(OSError, BusError, AccessibilityError), connect_bus(session) as sock:
            deadline = time.monotonic() + CONNECT_S
            answer: tuple[Any, ...] = Bus(sock, deadline).call(ASK_LAUNCHER, deadline)
            yield str(answer[0])


def connect_bus(address: str) -> socket.socket:
    """Connect to the first of a D-Bus address's alternatives that is a local socket and answers."""
    failure = OSError(f"no local socket in the bus address {address!r}")
    for alternative in address.split(";"):
        transport, _, pairs = alternative.partition(":")
        values = dict(pair.partition("=")[::2] for pair in pairs.split(",")) if transport == "unix" else {}
        place = values.get("path") or ("\0" + values["abstract"] if "abstract" in values else "")
        if not place:
            continue
        sock = socket.socket(socket.AF_UNIX)
        sock.settimeout(CONNECT_S)
        try:
            sock.connect(unquote(place))
            return sock
        except (OSError, ValueError) as error:  # the latter of names that no file can have
            sock.close()
            failure = error if isinstance(error, OSError) else OSError(str(error))
    raise failure
