"""How fast the service is: the load comes from this process, the service is another one, both on loopback.

The same questions are asked of two services, one after the other: one that answers together what comes together,
and one with batches of one. ``batching_gain`` is their ratio with 16 clients. The model is the one that is named;
``stand-in`` is a small network of fixed random weights whose cost is that of a real one of its size.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
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
import numpy as np
from PIL import Image

from operant.bench.record import percentile
from operant.errors import ServiceNotReady

__all__ = ["GOALS", "STAND_IN", "family", "measure_service", "running_service"]

Progress = Callable[[str], None]

GOALS: dict[str, tuple[float, bool]] = {
    "batching_gain": (1.5, False),
    "errors": (0.0, True),
    "stream_fps": (15.0, False),
    "idle_cpu_percent": (5.0, True),
}

STAND_IN = "operant.agents.stand_in:StandInAgent"
PREDICT = "/api/v1/agent/predict"
SCREEN = (320, 200)  # what a small policy looks at; decoding a larger one would measure Pillow
CLIENTS = 16
IDLE_DESKTOPS = 8
BUSY = "operant.agents.stand_in:TypingAgent"


def measure_service(progress: Progress, *, seconds: float = 10.0, agent: str = STAND_IN) -> dict[str, Any]:
    """Everything; each kind of load gets so many seconds."""
    result: dict[str, Any] = {"agent": agent, "screen": list(SCREEN), "errors": 0}
    with running_service(agent, desktops=1, batch=CLIENTS) as (url, _):
        progress("one client")
        alone = asyncio.run(_load(url, 1, seconds))
        progress(f"{CLIENTS} clients")
        together = asyncio.run(_load(url, CLIENTS, seconds))
    with running_service(agent, desktops=1, batch=1) as (url, _):
        progress(f"{CLIENTS} clients, batches of one")
        single = asyncio.run(_load(url, CLIENTS, seconds))
    result |= {
        "predict_rps_1": alone["rps"],
        "predict_p95_ms_1": alone["p95_ms"],
        "predict_rps_16": together["rps"],
        "predict_p95_ms_16": together["p95_ms"],
        "unbatched_rps_16": single["rps"],
        "batching_gain": together["rps"] / single["rps"],
    }
    result["errors"] += alone["errors"] + together["errors"] + single["errors"]
    with running_service(BUSY, desktops=IDLE_DESKTOPS, batch=CLIENTS) as (url, pid):
        progress("a live stream while an agent works")
        result |= _measure_stream(url, seconds)
        progress(f"{IDLE_DESKTOPS} idle desktops")
        result["idle_cpu_percent"] = _measure_idle(url, pid, seconds)
    return result


# Load.


async def _load(url: str, clients: int, seconds: float) -> dict[str, Any]:
    """Each client asks again as soon as it has its answer."""
    picture, latencies, errors = _picture(), list[float](), 0
    body = {"instruction": "Click the brightest spot.", "deterministic": "true"}

    async def client(session: httpx.AsyncClient, until: float, kept: list[float] | None) -> int:
        failed = 0
        while time.perf_counter() < until:
            began = time.perf_counter()
            files = {"screenshot": ("screen.jpg", picture, "image/jpeg")}
            answer = await session.post(PREDICT, data=body, files=files)
            failed += answer.status_code != 200
            if kept is not None:
                kept.append(time.perf_counter() - began)
        return failed

    limits = httpx.Limits(max_connections=clients)
    async with httpx.AsyncClient(base_url=url, timeout=30.0, limits=limits) as session:
        await asyncio.gather(*(client(session, time.perf_counter() + 1.0, None) for _ in range(clients)))
        began = time.perf_counter()
        failed = await asyncio.gather(*(client(session, began + seconds, latencies) for _ in range(clients)))
        took = time.perf_counter() - began
    errors = sum(failed)
    return {"rps": len(latencies) / took, "p95_ms": 1000 * percentile(latencies, 0.95), "errors": errors}


def _picture() -> bytes:
    noise = np.random.default_rng(0).integers(0, 255, (SCREEN[1] // 8, SCREEN[0] // 8, 3), np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(noise).resize(SCREEN).save(buffer, "JPEG", quality=80)
    return buffer.getvalue()


# A live desktop.


def _measure_stream(url: str, seconds: float) -> dict[str, Any]:
    """Pictures a second at full size while an agent acts; a screen that does not change sends none."""
    from websockets.sync.client import connect

    with httpx.Client(base_url=url, timeout=60.0) as client:
        session = client.post("/api/v1/sessions", json={"launch": ["mousepad"]}).json()["id"]
        task = {"instruction": "hello there", "session": session, "max_steps": 1000, "wait": False}
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
    """Of one core: the service and all of its desktops, leased and with an application, while nobody asks."""
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
        # One question at a time is one core's work; more threads for it only take turns with the load.
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
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
