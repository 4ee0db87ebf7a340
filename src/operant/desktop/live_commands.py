"""Commands on the user's own machine, run to their end with limits on time and output. Knows no screen."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import IO

from operant.errors import CommandTimeout, UnknownApplication
from operant.types import RunResult

__all__ = ["run_here"]

CHUNK = 1 << 16
STOP_POLL_S = 0.05  # between two looks whether to stop
DRAIN_S = 0.2  # for what is still in the pipes; children left running may keep those open for ever


def run_here(
    argv: Sequence[str],
    *,
    timeout_s: float,
    limit: int,
    stdin: bytes | None,
    env: Mapping[str, str],
    cwd: str | None,
    check: Callable[[], None],
) -> RunResult:
    """Run a program as this user, keeping ``limit`` bytes of each output; ``check`` raises to end it."""
    pipe = subprocess.PIPE
    try:
        process = subprocess.Popen(
            argv,
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            env={**os.environ, **env},
            cwd=cwd,
            start_new_session=True,
        )
    except FileNotFoundError as error:
        raise UnknownApplication(f"no program {argv[0]!r} on this machine") from error
    except PermissionError as error:
        raise UnknownApplication(f"{argv[0]!r} can't be executed") from error
    assert process.stdin
    assert process.stdout
    assert process.stderr
    out, err = _Output(process.stdout, limit), _Output(process.stderr, limit)
    threading.Thread(target=_feed, args=(process.stdin, stdin or b""), daemon=True).start()
    deadline = time.monotonic() + timeout_s
    try:
        while True:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(min(STOP_POLL_S, max(0.0, deadline - time.monotonic())))
                break
            check()
            if time.monotonic() >= deadline:
                raise CommandTimeout(f"{argv[0]} did not end within {timeout_s:g} s and was killed")
    except BaseException:
        _kill(process)
        raise
    return RunResult(process.returncode, out.kept(), err.kept(), out.truncated or err.truncated)


class _Output:
    """Reads a pipe to its end, so that the program never blocks, and keeps the beginning."""

    def __init__(self, pipe: IO[bytes], limit: int) -> None:
        self._bytes = bytearray()
        self.truncated = False
        self._thread = threading.Thread(target=self._read, args=(pipe, limit), daemon=True)
        self._thread.start()

    def _read(self, pipe: IO[bytes], limit: int) -> None:
        with pipe:
            while chunk := os.read(pipe.fileno(), CHUNK):
                room = limit - len(self._bytes)
                self.truncated |= len(chunk) > room
                self._bytes += chunk[: max(0, room)]

    def kept(self) -> bytes:
        self._thread.join(DRAIN_S)
        return bytes(self._bytes)


def _feed(pipe: IO[bytes], data: bytes) -> None:
    with contextlib.suppress(BrokenPipeError), pipe:
        pipe.write(data)


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End it and what it started."""
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.wait()
