"""The guest of a machine: waiting until it answers, and the desktop behind its address. Two protocols are spoken.

``operant`` is what ``operant desktop serve`` speaks, ``osworld`` what the server inside OSWorld's images speaks, on Linux
and Windows alike. Knows nothing of how machines are started.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import httpx

from operant.config.desktop import DesktopConfig
from operant.desktop.protocol import Desktop
from operant.desktop.remote import RemoteDesktop
from operant.desktop.remote.connection import check_url
from operant.errors import DesktopDied, DesktopStartError

__all__ = ["Guest", "Protocol", "free_port", "wait_for_guest"]

Protocol: TypeAlias = Literal["operant", "osworld"]
#: What is asked of a guest to see whether it is up.
SIGN_OF_LIFE: dict[str, str] = {"operant": "/health", "osworld": "/screenshot"}
PORTS: dict[str, int] = {"operant": 8765, "osworld": 5000}
FIRST_PAUSE_S = 0.1
LONGEST_PAUSE_S = 3.0
ASK_S = 10.0
PATIENCE_S = 2.0  # for a line that broke: a machine that is gone is replaced


@dataclass(frozen=True)
class Guest:
    """Where a machine's guest answers, and how to speak to it."""

    url: str
    protocol: Protocol
    token: str | None = None
    call_s: float = 30.0
    """Seconds for one call."""

    def connect(self, config: DesktopConfig) -> Desktop:
        """A desktop of its; closing it hangs up."""
        if self.protocol == "operant":
            return RemoteDesktop(
                self.url, config, token=self.token, timeout_s=self.call_s, patience_s=PATIENCE_S
            )
        from operant.desktop.providers.osworld import connect

        return connect(self.url, config, token=self.token, timeout_s=self.call_s)

    def answers(self, timeout_s: float = ASK_S) -> str | None:
        """None if it answers; otherwise why it does not."""
        path = SIGN_OF_LIFE[self.protocol]
        headers = {"authorization": f"Bearer {self.token}"} if self.token else {}
        try:
            with httpx.Client(trust_env=False) as client:
                answer = client.get(check_url(self.url) + path, timeout=timeout_s, headers=headers)
        except httpx.HTTPError as error:
            return str(error) or type(error).__name__
        return None if answer.status_code == 200 else f"{path} has status {answer.status_code}"


def wait_for_guest(guest: Guest, machine: str, timeout_s: float, ended: Callable[[], str | None]) -> None:
    """Return when the guest answers. ``ended`` says why it never will, once the machine has gone."""
    deadline, pause = time.monotonic() + timeout_s, FIRST_PAUSE_S
    while True:
        left = deadline - time.monotonic()
        why = guest.answers(max(0.1, min(ASK_S, left)))
        if why is None:
            return
        if gone := ended():
            raise DesktopDied(f"{machine} ended before its guest answered: {gone}")
        if time.monotonic() + pause > deadline:
            raise DesktopStartError(
                f"the guest of {machine} did not answer at {guest.url} within {timeout_s:g} s: {why}",
                hint=f"does it serve the protocol {guest.protocol}, and is its port open? raise boot_timeout_s if it is slow",
            )
        time.sleep(pause)
        pause = min(2 * pause, LONGEST_PAUSE_S)


def free_port(host: str = "127.0.0.1") -> int:
    """A port of this machine that nothing listens on now."""
    import socket

    with socket.socket() as probe:
        probe.bind((host, 0))
        return int(probe.getsockname()[1])
