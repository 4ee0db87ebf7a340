"""A D-Bus connection over a socket that is connected already, built for many calls in flight.

Authenticates as the user who opened the socket (another user, in another namespace), bounds the calls in flight,
and has one deadline for all of them.
"""

from __future__ import annotations

import collections
import itertools
import re
import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from operant.desktop.messages import BusReply, Inbox, MalformedMessage, encode_call
from operant.desktop.readiness import wait_readable, wait_writable
from operant.errors import AccessibilityError

__all__ = ["ApplicationGone", "Bus", "BusCall", "BusError"]

MOST_BYTES = 1 << 27  # of the answers to calls that are made together
NAME = re.compile(r":[\w.-]{1,254}|[A-Za-z_-][\w-]*(\.[\w-]+)+", re.ASCII)
PATH = re.compile(r"/|(/\w+)+", re.ASCII)
IN_FLIGHT = 64  # replies to more than a few hundred calls overflow the sockets on the way


@dataclass(frozen=True, slots=True)
class BusCall:
    """A method call: who, which object, what, and the types of what is to be answered.

    An answer of other types is a failure of the other side like any other, so that a caller never
    meets a value that it can't use.
    """

    destination: str
    path: str
    interface: str
    member: str
    signature: str | None = None
    body: tuple[Any, ...] = ()
    answer: str = field(kw_only=True)


class BusError(Exception):
    """The other side answered that it could not, or answered something else than was asked for."""


class ApplicationGone(AccessibilityError):
    """The other side closed the connection."""


class Bus:
    """A client of a message bus, or with ``direct`` of one application without a bus between."""

    def __init__(self, sock: socket.socket, deadline: float, *, direct: bool = False) -> None:
        self._sock = sock
        self._inbox = Inbox()
        self._serials = itertools.count(1)
        self._direct = direct
        self._allowed = MOST_BYTES
        self._authenticate(deadline)
        if not direct:
            hello = BusCall(
                "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "Hello", answer="s"
            )
            self.call(hello, deadline)
        sock.setblocking(False)

    def _authenticate(self, deadline: float) -> None:
        # No name given: the bus takes the credentials that the kernel keeps for the socket.
        self._sock.settimeout(max(0.01, deadline - time.monotonic()))
        try:
            self._sock.sendall(b"\0AUTH EXTERNAL\r\nDATA\r\n")
            answer = b""
            while answer.count(b"\r\n") < 2:
                chunk = self._sock.recv(512)
                if not chunk or len(answer) > 4096:
                    break
                answer += chunk
            if b"OK " not in answer:
                raise AccessibilityError(f"the bus refused us: {answer[:80]!r}")
            self._sock.sendall(b"BEGIN\r\n")
        except OSError as error:
            raise AccessibilityError("the bus did not answer") from error

    def call(self, call: BusCall, deadline: float) -> tuple[Any, ...]:
        """One call's answer; raises BusError if the other side could not."""
        answer = self.call_all([call], deadline)[0]
        if isinstance(answer, BusError):
            raise answer
        return answer

    def call_all(self, calls: Sequence[BusCall], deadline: float) -> list[tuple[Any, ...] | BusError]:
        """Every call's answer in order, many calls being under way at a time."""
        answers: list[tuple[Any, ...] | BusError | None] = [None] * len(calls)
        waiting: dict[int, int] = {}
        queue = collections.deque(enumerate(calls))
        outgoing = bytearray()
        self._allowed = MOST_BYTES
        while queue or waiting:
            while queue and len(waiting) < IN_FLIGHT:
                index, call = queue.popleft()
                if not self._direct and not (NAME.fullmatch(call.destination) and PATH.fullmatch(call.path)):
                    answers[index] = BusError(
                        "no such name can be on a bus"
                    )  # which would drop us for asking
                    continue
                serial = next(self._serials)
                outgoing += encode_call(
                    serial, call.path, call.interface, call.member,
                    None if self._direct else call.destination, call.signature, call.body,
                )  # fmt: skip
                waiting[serial] = index
            if not waiting:
                break
            self._send(outgoing, deadline)
            for answer in self._receive(deadline):
                found = waiting.pop(answer.serial, None)
                if found is not None:
                    answers[found] = _body(calls[found], answer)
        return answers  # type: ignore[return-value]

    def _send(self, outgoing: bytearray, deadline: float) -> None:
        while outgoing:
            self._wait(deadline, writing=True)
            try:
                del outgoing[: self._sock.send(outgoing)]
            except BlockingIOError:
                continue
            except OSError as error:
                raise ApplicationGone("the application went away") from error

    def _receive(self, deadline: float) -> list[BusReply]:
        self._wait(deadline, writing=False)
        try:
            data = self._sock.recv(1 << 18)
        except BlockingIOError:
            return []
        except OSError as error:
            raise ApplicationGone("the application went away") from error
        if not data:
            raise ApplicationGone("the application went away")
        self._allowed -= len(data)
        if self._allowed < 0:
            raise AccessibilityError("an application answers with more than any window can show")
        try:
            return self._inbox.add(data)
        except MalformedMessage as error:
            raise AccessibilityError(f"an application does not speak D-Bus properly: {error}") from error

    def _wait(self, deadline: float, *, writing: bool) -> None:
        left = max(0.0, deadline - time.monotonic())
        wait = wait_writable if writing else wait_readable
        if not wait(self._sock.fileno(), left):
            raise AccessibilityError(
                "the accessibility tree was not read in time", hint="is an application hung?"
            )

    def close(self) -> None:
        self._sock.close()


def _body(call: BusCall, answer: BusReply) -> tuple[Any, ...] | BusError:
    if answer.failed:
        return BusError(str(answer.body)[:200])
    if answer.signature != call.answer:
        return BusError(f"{call.member} is answered with {call.answer!r}, and not {answer.signature[:40]!r}")
    return answer.body
