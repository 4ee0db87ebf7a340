"""Calls of functions, carried out by a process inside the episode: started by the first call, killed with the episode.

The process has the rights and limits of the episode's own programs, so programs of the agent may meddle with it. What
it answers is therefore bounded before it is read. A call that does not return in time is killed with its process;
the next call starts another. Knows nothing of what the functions do.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import signal
import socket
import struct
import time
from collections.abc import Mapping, Sequence
from typing import Any

from operant.calls.declaration import Function
from operant.desktop.channel import Channel
from operant.desktop.programs import spawn
from operant.errors import CallFailed, CallTimeout, DesktopError, OperantError

__all__ = ["CallRunner"]

LENGTH = struct.Struct(">I")
LONGEST_ANSWER = 512 * 1024  # bytes; the process itself keeps results to 64 KB, which escapes make longer
START_S = 5.0  # what the first call may take beyond its own limit
CHUNK = 1 << 16


class CallRunner:
    """The process of one episode that carries out calls."""

    def __init__(self, episode: Channel, argv: Sequence[str]) -> None:
        self._episode = episode
        self._argv = list(argv)
        self._sock: socket.socket | None = None
        self._pid = 0
        self._number = 0
        self.last_inside_ms = 0.0
        """How long the last function took by its own process, which may lie: for measurements only."""

    def call(self, function: Function, arguments: Mapping[str, Any]) -> str:
        """What the function answers; ``CallFailed`` says why it could not."""
        seconds = function.time_limit_s
        if self._sock is None:
            self._start()
            seconds += START_S
        self._number += 1
        request = {
            "number": self._number,
            "module": function.module or f"api.{function.api}",
            "function": function.name,
            "arguments": dict(arguments),
        }
        deadline = time.monotonic() + seconds
        try:
            self._send(json.dumps(request).encode(), deadline)
            while (answer := self._receive(deadline)).get("number") != self._number:
                if answer.get("want") == "devtools":
                    self._hand_over_browser(deadline)
        except TimeoutError as error:
            self.close()
            raise CallTimeout(
                f"{function.full_name} did not return within {function.time_limit_s:g} s and was ended"
            ) from error
        except (OSError, ValueError, RecursionError) as error:
            self.close()
            raise CallFailed(f"{function.full_name}: the process that carries out calls is gone") from error
        took = answer.get("took_ms")
        self.last_inside_ms = float(took) if isinstance(took, int | float) else 0.0
        if isinstance(said := answer.get("error"), str):
            raise CallFailed(f"{function.full_name}: {said}")
        result = answer.get("result")
        if not isinstance(result, str):
            self.close()
            raise CallFailed(f"{function.full_name} answered nothing that can be read")
        return result

    def close(self) -> None:
        """End the process, and what it is running; applications that it opened stay."""
        sock, self._sock = self._sock, None
        if sock is None:
            return
        sock.close()
        with contextlib.suppress(OSError, DesktopError):
            self._episode.call("signal", pid=self._pid, signal=int(signal.SIGKILL), group=True)

    def forget(self) -> None:
        """Let go of a process that ends with its episode."""
        sock, self._sock = self._sock, None
        if sock is not None:
            sock.close()

    # Inside.

    def _start(self) -> None:
        ours, theirs = socket.socketpair()
        try:
            self._pid = spawn(self._episode, self._argv, (theirs.fileno(),))
        except DesktopError:
            ours.close()
            raise
        except (OperantError, OSError) as error:
            ours.close()
            why = getattr(error, "message", str(error))
            raise CallFailed(f"no process for calls could be started: {why}") from error
        finally:
            theirs.close()
        self._sock = ours

    def _hand_over_browser(self, deadline: float) -> None:
        """Give the process the pipe to the browser's DevTools; it is held by the episode's process 1, which stays."""
        fds: list[int] = []
        said: dict[str, str] = {}
        try:
            fds = [self._episode.call("devtools").fd]
        except OSError as error:
            said = {"error": "the browser is not running: windows.open_application starts chromium"}
            if error.errno != errno.ENOTCONN:
                said = {"error": str(error)}
        try:
            self._send(json.dumps(said).encode(), deadline, fds)
        finally:
            for fd in fds:
                os.close(fd)

    def _send(self, data: bytes, deadline: float, fds: Sequence[int] = ()) -> None:
        assert self._sock is not None
        self._sock.settimeout(max(0.001, deadline - time.monotonic()))
        head = LENGTH.pack(len(data))
        if fds:
            socket.send_fds(self._sock, [head], list(fds))
        else:
            self._sock.sendall(head)
        self._sock.sendall(data)

    def _receive(self, deadline: float) -> dict[str, Any]:
        size = LENGTH.unpack(self._exactly(LENGTH.size, deadline))[0]
        if size > LONGEST_ANSWER:
            raise ValueError(f"an answer of {size} bytes")
        answer = json.loads(self._exactly(size, deadline))
        if not isinstance(answer, dict):
            raise ValueError("an answer that is no object")
        return answer

    def _exactly(self, size: int, deadline: float) -> bytes:
        assert self._sock is not None
        data = bytearray()
        while len(data) < size:
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError
            self._sock.settimeout(left)
            chunk = self._sock.recv(min(CHUNK, size - len(data)))
            if not chunk:
                raise ConnectionResetError("the other end is closed")
            data += chunk
        return bytes(data)
