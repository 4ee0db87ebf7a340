"""A service that is treated badly for a while: tasks are done while desktops are killed at random.

It must go on serving, lose no episode that it said was finished, and leave no process behind.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx

from operant.bench.service import family, running_service

__all__ = ["GOALS", "soak"]

Progress = Callable[[str], None]

GOALS: dict[str, tuple[float, bool]] = {
    "server_errors": (0.0, True),
    "episodes_lost": (0.0, True),
    "processes_left": (0.0, True),
}

DESKTOPS = 3
KILL_EVERY_S = 4.0
VICTIMS = ("Xvfb", "bwrap", "openbox")


def soak(progress: Progress, *, seconds: float = 600.0, seed: int = 0) -> dict[str, Any]:
    """Tasks one after another, a kill every few seconds."""
    draw = random.Random(seed)
    outcomes: Counter[str] = Counter()
    statuses: Counter[int] = Counter()
    finished: list[str] = []
    kills = 0
    with (
        running_service("oracle", desktops=DESKTOPS, batch=1) as (url, pid),
        httpx.Client(base_url=url, timeout=120.0) as client,
    ):
        tasks = [row["id"] for row in client.get("/api/v1/tasks", params={"search": "calculator"}).json()]
        began, killed_at = time.monotonic(), time.monotonic()
        while (elapsed := time.monotonic() - began) < seconds:
            if time.monotonic() - killed_at > KILL_EVERY_S:
                kills += _kill_one(pid, draw)
                killed_at = time.monotonic()
            body = {"task_id": draw.choice(tasks), "seed": draw.randrange(1000), "wait": False}
            started = client.post("/api/v1/agent/complete-task", json=body)
            statuses[started.status_code] += 1
            said = _wait(client, started.json()["id"]) if started.status_code == 202 else {}
            outcomes[str(said.get("outcome") or said.get("status"))] += 1
            if said.get("episode"):
                finished.append(said["episode"])
            progress(f"{elapsed:.0f} of {seconds:.0f} s: {dict(outcomes)}, {kills} kills")
        lost = sum(client.get(f"/api/v1/episodes/{name}").status_code != 200 for name in finished)
        replaced = client.get("/api/v1/monitoring/metrics").json()["desktops"]["replaced"]
        alive = family(pid)
    time.sleep(2.0)
    return {
        "seconds": seconds,
        "attempts": sum(outcomes.values()),
        "outcomes": dict(outcomes),
        "kills": kills,
        "desktops_replaced": replaced,
        "server_errors": sum(count for status, count in statuses.items() if status >= 500),
        "episodes_finished": len(finished),
        "episodes_lost": lost,
        "processes_left": sum(Path(f"/proc/{one}").exists() for one in alive),
    }


def _wait(client: httpx.Client, name: str, timeout_s: float = 120.0) -> dict[str, Any]:
    deadline = time.monotonic() + timeout_s
    while True:
        said: dict[str, Any] = client.get(f"/api/v1/agent/attempts/{name}").json()
        if said["status"] not in ("queued", "running") or time.monotonic() > deadline:
            return said
        time.sleep(0.1)


def _kill_one(root: int, draw: random.Random) -> int:
    """Kill a display, a window manager or a whole sandbox of the service; returns how many were hit."""
    found = []
    for pid in family(root)[1:]:
        with contextlib.suppress(OSError):
            if Path(f"/proc/{pid}/comm").read_text().strip() in VICTIMS:
                found.append(pid)
    if not found:
        return 0
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(draw.choice(found), signal.SIGKILL)
    return 1
