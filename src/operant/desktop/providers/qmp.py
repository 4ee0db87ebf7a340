"""QEMU's machine protocol (QMP): one command at a time over a socket. Knows nothing of desktops."""

from __future__ import annotations

import json
import socket
import threading
import time
from pathlib import Path
from typing import Any

from operant.errors import DesktopDied, DesktopError, DesktopTimeout

__all__ = ["QMP"]

ANSWER_S = 120.0  # saving memory to a slow disk takes a while


class QMP:
    """A connection to one QEMU. Safe for threads."""

    def __init__(self, path: Path, timeout_s: float = 10.0) -> None:
        self._lock = threading.Lock()
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(timeout_s)
        deadline = time.monotonic() + timeout_s
        while True:
            try:
                self._socket.connect(str(path))
                break
            except OSError as error:
                if time.monotonic() > deadline:
                    self._socket.close()
                    raise DesktopDied(f"QEMU does not listen at {path}: {error}") from error
                time.sleep(0.02)
        self._lines = self._socket.makefile("rb")
        self._socket.settimeout(ANSWER_S)
        self._read()  # the greeting
        self.call("qmp_capabilities")

    def call(self, command: str, **arguments: Any) -> Any:
        """What QEMU returns; what it refuses is a ``DesktopError``."""
        with self._lock:
            message = {"execute": command, **({"arguments": arguments} if arguments else {})}
            try:
                self._socket.sendall(json.dumps(message).encode() + b"\n")
            except OSError as error:
                raise DesktopDied(f"QEMU has ended: {error}") from error
            while True:
                answer = self._read()
                if "error" in answer:
                    raise DesktopError(f"QEMU refuses {command}: {answer['error'].get('desc')}")
                if "return" in answer:
                    return answer["return"]

    def monitor(self, line: str) -> str:
        """A command of the human monitor, which says what went wrong in its answer."""
        said = str(self.call("human-monitor-command", **{"command-line": line})).strip()
        if said:
            raise DesktopError(f"QEMU: {line}: {said}")
        return said

    def _read(self) -> dict[str, Any]:
        try:
            line = self._lines.readline()
        except TimeoutError as error:
            raise DesktopTimeout(f"QEMU did not answer within {ANSWER_S:g} s") from error
        except OSError as error:
            raise DesktopDied(f"QEMU has ended: {error}") from error
        if not line:
            raise DesktopDied("QEMU has ended")
        found: dict[str, Any] = json.loads(line)
        return found

    def close(self) -> None:
        self._lines.close()
        self._socket.close()
