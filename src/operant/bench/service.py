"""How fast the service is: the load comes from this process, the service is another one, both on loopback.

The same questions, screenshots of a real desktop at its full size, are asked of two services, one after the other:
one that answers together what comes together, and one with batches of one. ``batching_gain`` is their ratio with 16
clients; both get the load in turns, so that a machine that slows down in between slows both.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx

from operant.bench.clients import Load, load, predict_question
from operant.errors import ServiceNotReady

__all__ = ["GOALS", "family", "measure_service", "running_service"]

Progress = Callable[[str], None]

GOALS: dict[str, tuple[float, bool]] = {
    "batching_gain": (1.5, False),
    "errors": (0.0, True),
    "stream_fps": (15.0, False),
    "idle_cpu_percent": (5.0, True),
}

CLIENTS = 16
TURNS = 2
IDLE_DESKTOPS = 8
WORDS = "the quick brown fox jumps over the lazy dog"
BUSY = "operant.agents.fixed:TypingAgent"


def measure_service(
    progress: Progress, *, seconds: float = 10.0, agent: str = "hierarchical"
) -> dict[str, Any]:
    """Everything; each kind of load gets so many seconds."""
    with (
        running_service(agent, desktops=1, batch=CLIENTS) as (url, _),
        running_service(agent, desktops=1, batch=1) as (single_url, _),
    ):
        question = predict_question(_screenshot(url))
        progress("one client")
        alone = asyncio.run(load(url, 1, seconds, question))
        httpx.post(f"{url}/api/v1/monitoring/reset-metrics")
        together, single = Load(), Load()
        for _ in range(TURNS):
            progress(f"{CLIENTS} clients")
            together += asyncio.run(load(url, CLIENTS, seconds / TURNS, question))
            progress(f"{CLIENTS} clients, batches of one")
            single += asyncio.run(load(single_url, CLIENTS, seconds / TURNS, question))
        info = httpx.get(f"{url}/api/v1/agent/model-info").json()
        batch = httpx.get(f"{url}/api/v1/monitoring/metrics").json()["mean_batch_size"]
    result: dict[str, Any] = {
        "agent": agent,
        "fingerprint": info["fingerprint"],
        "question_kb": len(question) / 1024,
        "predict_rps_1": alone.rps,
        "predict_p95_ms_1": alone.p95_ms,
        "predict_rps_16": together.rps,
        "predict_p95_ms_16": together.p95_ms,
        "unbatched_rps_16": single.rps,
        "unbatched_p95_ms_16": single.p95_ms,
        "batching_gain": together.rps / single.rps,
        "mean_batch": batch,
        "errors": alone.errors + together.errors + single.errors,
    }
    with running_service(BUSY, desktops=IDLE_DESKTOPS, batch=CLIENTS) as (url, pid):
        progress("a live stream while an agent works")
        result |= _measure_stream(url, seconds)
        progress(f"{IDLE_DESKTOPS} idle desktops")
        result["idle_cpu_percent"] = _measure_idle(url, pid, seconds)
    return result


# Questions.


def _screenshot(url: str) -> bytes:
    """An editor on a desktop of the service."""
    with httpx.Client(base_url=url, timeout=60.0) as client:
        session = client.post("/api/v1/sessions", json={"launch": ["mousepad"]}).json()["id"]
        picture = client.get(f"/api/v1/sessions/{session}/frame", params={"encoding": "jpeg"})
        client.delete(f"/api/v1/sessions/{session}")
        return picture.raise_for_status().content


# A live desktop.


def _measure_stream(url: str, seconds: float) -> dict[str, Any]:
    """Pictures a second at full size while an agent acts; a screen that does not change sends none."""
    from websockets.sync.client import connect

    with httpx.Client(base_url=url, timeout=60.0) as client:
        session = client.post("/api/v1/sessions", json={"launch": ["mousepad"]}).json()["id"]
        task = {"instruction": WORDS, "session": session, "max_steps": 1000, "wait": False}
        attempt = client.post("/api/v1/agent/complete-task", json=task).json()["id"]
        frames = size = 0
        stream = f"{url.replace('http', 'ws')}/api/v1/sessions/{session}/stream?fps=30"
        with connect(stream, max_size=None) as viewer:
            began = time.perf_counter()
            while (took := time.perf_counter() - began) < seconds:
                with contextlib.suppress(TimeoutError):
                    message = viewer.recv(timeout=0.5)
                    if isinstance(message, bytes):
                        frames, size = frames + 1, size + len(message)
                        number = int.from_bytes(message[:4], "big")
                        viewer.send(json.dumps({"type": "ack", "frame": number}))
        client.delete(f"/api/v1/agent/attempts/{attempt}")
        client.delete(f"/api/v1/sessions/{session}")
    return {"stream_fps": frames / took, "stream_kb_per_frame": size / 1024 / max(1, frames)}


def _measure_idle(url: str, pid: int, seconds: float) -> float:
    """Of one core: the service and all of its desktops, leased and with an application, without requests."""
    with httpx.Client(base_url=url, timeout=60.0) as client:
        for _ in range(IDLE_DESKTOPS):
            client.post("/api/v1/sessions", json={"launch": ["mousepad"]}).raise_for_status()
    time.sleep(3.0)
    pids = family(pid)
    before, began = _cpu_s(pids), time.perf_counter()
    time.sleep(seconds)
    return 100 * (_cpu_s(pids) - before) / (time.perf_counter() - began)


def family(root: int) -> list[int]:
    """A process and everything below it."""
    found, left = [], [root]
    while left:
        pid = left.pop()
        found.append(pid)
        for path in Path(f"/proc/{pid}/task").glob("*/children"):
            with contextlib.suppress(OSError):
                left += [int(child) for child in path.read_text().split()]
    return found


def _cpu_s(pids: list[int]) -> float:
    ticks = 0
    for pid in pids:
        with contextlib.suppress(OSError, ValueError):
            words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            ticks += int(words[11]) + int(words[12])
    return ticks / os.sysconf("SC_CLK_TCK")


# The service, in another process.


@contextlib.contextmanager
def running_service(agent: str, *, desktops: int, batch: int) -> Iterator[tuple[str, int]]:
    """Its address and its process id."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    settings = {
        "OPERANT_BATCH_SIZE": str(batch),
        "OPERANT_REQUESTS_PER_S": "100000",
        "OPERANT_REQUEST_BURST": "100000",
    }
    command = [sys.executable, "-m", "operant", "serve", "--port", str(port), "--agent", agent]
    command += ["--desktops", str(desktops), "--no-dashboard", "--log-level", "WARNING"]
    with tempfile.TemporaryDirectory() as directory:
        process = subprocess.Popen(command, cwd=directory, env={**os.environ, **settings})
        try:
            url = f"http://127.0.0.1:{port}"
            _await_ready(process, url)
            yield url, process.pid
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(60)


def _await_ready(process: subprocess.Popen[bytes], url: str, timeout_s: float = 120.0) -> None:
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline and process.poll() is None:
        with contextlib.suppress(httpx.HTTPError):
            if httpx.get(f"{url}/ready").status_code == 200:
                return
        time.sleep(0.2)
    raise ServiceNotReady("the service did not come up", hint="operant serve says why")
