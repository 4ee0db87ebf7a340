"""A client of a browser's DevTools over a pipe: messages of JSON that end with a NUL byte.

Imports nothing from its neighbours, so the owner of a desktop uses it as well. Answers come from a program of the
desktop, so their size and time are bounded. One client talks at a time: what an earlier one left unread is skipped.
"""

from __future__ import annotations

import json
import random
import socket
import time
from typing import Any, Dict, List, Optional

LARGEST = 64 << 20  # bytes of one message
CHUNK = 1 << 16
ANSWER_S = 5.0
MOST_EVENTS = 1000


class DevToolsError(Exception):
    """The browser refused a command, or is gone."""


class DevToolsTimeout(DevToolsError):
    """The browser did not answer in time."""


class DevTools:
    """The connection to one browser."""

    def __init__(self, pipe: socket.socket) -> None:
        self._pipe = pipe
        self._left = bytearray()
        # Numbers of another client's commands must not be taken for ours.
        self._number = random.SystemRandom().randrange(1, 1 << 20) << 10
        self.events: List[Dict[str, Any]] = []

    def close(self) -> None:
        self._pipe.close()

    def __enter__(self) -> DevTools:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def command(
        self,
        method: str,
        parameters: Optional[Dict[str, Any]] = None,
        session: Optional[str] = None,
        timeout_s: float = ANSWER_S,
    ) -> Dict[str, Any]:
        """What a command answers. ``session`` names the page that it is for."""
        self._number += 1
        message: Dict[str, Any] = {"id": self._number, "method": method, "params": parameters or {}}
        if session is not None:
            message["sessionId"] = session
        deadline = time.monotonic() + timeout_s
        try:
            self._pipe.settimeout(timeout_s)
            self._pipe.sendall(json.dumps(message).encode() + b"\0")
        except OSError as error:
            raise _lost(error, method, timeout_s) from None
        while True:
            answer = self._receive(deadline, method, timeout_s)
            if answer.get("id") == self._number:
                break
        if "error" in answer:
            said = answer["error"]
            raise DevToolsError(str(said.get("message", said) if isinstance(said, dict) else said)[:500])
        result = answer.get("result")
        return result if isinstance(result, dict) else {}

    def wait_event(self, method: str, timeout_s: float) -> Optional[Dict[str, Any]]:
        """The parameters of the next event of that name; None if none comes in time."""
        deadline = time.monotonic() + timeout_s
        while True:
            for event in self.events:
                if event["method"] == method:
                    self.events.remove(event)
                    return dict(event.get("params") or {})
            if time.monotonic() >= deadline:
                return None
            try:
                self._receive(deadline, method, timeout_s)
            except DevToolsTimeout:
                return None

    def _receive(self, deadline: float, what: str, timeout_s: float) -> Dict[str, Any]:
        """The next message that can be read; events are kept."""
        while True:
            end = self._left.find(b"\0")
            if end >= 0:
                raw = bytes(self._left[:end])
                del self._left[: end + 1]
                try:
                    message = json.loads(raw)
                except (ValueError, RecursionError):
                    continue  # the rest of a message that another client began to read
                if isinstance(message, dict):
                    if isinstance(message.get("method"), str):
                        self.events = [*self.events[-MOST_EVENTS:], message]
                    return message
                continue
            if len(self._left) > LARGEST:
                raise DevToolsError("the browser's answer to %s is too long" % what)
            seconds = deadline - time.monotonic()
            try:
                if seconds <= 0:
                    raise socket.timeout
                self._pipe.settimeout(seconds)
                chunk = self._pipe.recv(CHUNK)
            except OSError as error:
                raise _lost(error, what, timeout_s) from None
            if not chunk:
                raise DevToolsError("the browser is gone")
            self._left += chunk


def _lost(error: OSError, what: str, timeout_s: float) -> DevToolsError:
    if isinstance(error, socket.timeout):
        return DevToolsTimeout("the browser did not answer %s within %g s" % (what, timeout_s))
    return DevToolsError("the browser is gone")
