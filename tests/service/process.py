"""``operant serve`` as people start it: a process of its own."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import httpx
from tests.service.conftest import wait_for

READY_S = 90.0  # a busy machine imports torch for a while


@dataclass
class ServeProcess:
    """The process, its address and the file with its log."""

    process: subprocess.Popen[bytes]
    url: str
    log: Path


@contextlib.contextmanager
def serving(
    root: Path,
    *flags: str,
    headers: Mapping[str, str] | None = None,
    ended_by: signal.Signals = signal.SIGTERM,
    **environment: str,
) -> Iterator[ServeProcess]:
    """Runs ``operant serve`` in ``root`` with those flags; yields when it is ready, and sees that it ends well."""
    port = free_port()
    log = root / "log.jsonl"
    with open(log, "wb") as written:
        process = subprocess.Popen(
            [sys.executable, "-m", "operant", "serve", "--port", str(port), *flags],
            cwd=root,
            env={**os.environ, "LOG_FORMAT": "json", **environment},
            stderr=written,
        )
    try:
        served = ServeProcess(process, f"http://127.0.0.1:{port}", log)
        wait_for(lambda: is_ready(served, headers or {}), READY_S)
        yield served
    finally:
        process.send_signal(ended_by)
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
    assert process.returncode == (0 if ended_by is signal.SIGTERM else 130)
    assert "Traceback" not in log.read_text()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def is_ready(served: ServeProcess, headers: Mapping[str, str]) -> bool:
    assert served.process.poll() is None, served.log.read_text()
    try:
        return httpx.get(f"{served.url}/ready", headers=dict(headers), timeout=10.0).status_code == 200
    except httpx.HTTPError:
        return False
