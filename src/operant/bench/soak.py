"""A service that is treated badly for a while: tasks are done and questions asked while desktops are killed at random.

It must go on serving, lose no episode that it said was finished, and leave no process behind. What it may do is
say 503 for a desktop that was killed under a session: such answers are counted apart.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx

from operant.bench.service import family, running_service
from operant.desktop.inside.kernel import adopt_orphans

__all__ = ["GOALS", "soak"]

Progress = Callable[[str], None]

GOALS: dict[str, tuple[float, bool]] = {
    "unexpected_answers": (0.0, True),
    "never_ended": (0.0, True),
    "episodes_lost": (0.0, True),
    "processes_left": (0.0, True),
}

DESKTOPS = 3
WORKERS = 2
"""Tasks under way at once; the third desktop is the session that is asked about."""
KILL_EVERY_S = 4.0
ASK_EVERY_S = 0.5
LEAVE_S = 5.0  # how long processes have to be gone once the service has ended
VICTIMS = ("Xvfb", "bwrap", "openbox", "galculator")
KNOWN = frozenset({"desktop_failed", "no_free_desktop", "session_expired", "application_failed"})


def soak(
    progress: Progress, *, seconds: float = 600.0, seed: int = 0, agent: str = "hierarchical"
) -> dict[str, Any]:
    """The agent is asked about a session, the oracle does tasks, and something dies every few seconds."""
    adopt_orphans()  # whatever the service lets go of becomes ours, and is counted
    seen = _Seen()
    until = time.monotonic() + seconds
    kills: Counter[str] = Counter()
    with (
        running_service(agent, desktops=DESKTOPS, batch=16) as (url, pid),
        httpx.Client(base_url=url, timeout=180.0) as client,
        ThreadPoolExecutor(WORKERS + 1) as threads,
    ):
        tasks = [row["id"] for row in client.get("/api/v1/tasks", params={"search": "calculator"}).json()]
        until = time.monotonic() + seconds
        working = [
            threads.submit(_do_tasks, url, tasks, random.Random(seed + worker), until, seen)
            for worker in range(WORKERS)
        ]
        working.append(threads.submit(_ask, url, until, seen))
        draw = random.Random(seed)
        while time.monotonic() < until:
            time.sleep(KILL_EVERY_S)
            kills[_kill_one(pid, draw)] += 1
            progress(
                f"{until - time.monotonic():.0f} s left: {dict(seen.outcomes)}, {sum(kills.values())} kills"
            )
        for one in working:
            one.result()
        lost = sum(client.get(f"/api/v1/episodes/{name}").status_code != 200 for name in seen.finished)
        said = client.get("/api/v1/monitoring/metrics").json()
    return {
        "seconds": seconds,
        "agent": agent,
        "attempts": sum(seen.outcomes.values()),
        "outcomes": dict(seen.outcomes),
        "questions": seen.answers["200"],
        "answers": dict(seen.answers),
        "kills": dict(kills),
        "desktops_replaced": said["desktops"]["replaced"],
        "unexpected_answers": len(seen.unexpected),
        "unexpected": seen.unexpected[:10],
        "never_ended": seen.never_ended,
        "episodes_finished": len(seen.finished),
        "episodes_lost": lost,
        "processes_left": _left(),
    }


class _Seen:
    """What the clients saw; shared by their threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.outcomes: Counter[str] = Counter()
        self.answers: Counter[str] = Counter()
        self.finished: list[str] = []
        self.unexpected: list[str] = []
        self.never_ended = 0

    def answer(self, answer: httpx.Response) -> None:
        with self._lock:
            code = "" if answer.is_success else str(answer.json().get("code"))
            self.answers[f"{answer.status_code} {code}".strip()] += 1
            if not answer.is_success and code not in KNOWN:
                self.unexpected.append(f"{answer.status_code} {answer.text[:300]}")

    def attempt(self, said: dict[str, Any] | None) -> None:
        with self._lock:
            if said is None:
                self.never_ended += 1
                return
            self.outcomes[str(said["outcome"] or said["status"])] += 1
            if said["episode"]:
                self.finished.append(said["episode"])


def _do_tasks(url: str, tasks: list[str], draw: random.Random, until: float, seen: _Seen) -> None:
    with httpx.Client(base_url=url, timeout=180.0) as client:
        while time.monotonic() < until:
            body = {
                "task_id": draw.choice(tasks),
                "seed": draw.randrange(1000),
                "wait": False,
                "model": "oracle",
            }
            started = client.post("/api/v1/agent/complete-task", json=body)
            seen.answer(started)
            if started.status_code == 202:
                seen.attempt(_wait(client, started.json()["id"]))


def _wait(client: httpx.Client, name: str, timeout_s: float = 180.0) -> dict[str, Any] | None:
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        said: dict[str, Any] = client.get(f"/api/v1/agent/attempts/{name}").json()
        if said["status"] not in ("queued", "running"):
            return said
        time.sleep(0.1)
    return None


def _ask(url: str, until: float, seen: _Seen) -> None:
    body = {"instruction": "Compute 2 + 3 with the calculator."}
    with httpx.Client(base_url=url, timeout=60.0) as client:
        while time.monotonic() < until:
            seen.answer(client.post("/api/v1/agent/predict", json=body))
            time.sleep(ASK_EVERY_S)


def _kill_one(root: int, draw: random.Random) -> str:
    """Kill a display, a window manager, an application or a whole sandbox of the service; returns which."""
    found: list[tuple[int, str]] = []
    for pid in family(root)[1:]:
        with contextlib.suppress(OSError):
            name = Path(f"/proc/{pid}/comm").read_text().strip()
            if name in VICTIMS:
                found.append((pid, name))
    if not found:
        return "nothing"
    pid, name = draw.choice(found)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGKILL)
    return name


def _left() -> int:
    """Descendants that outlived the service; what has ended is not one of them."""
    deadline = time.monotonic() + LEAVE_S
    while left := [pid for pid in family(os.getpid())[1:] if not _ended(pid)]:
        if time.monotonic() > deadline:
            break
        time.sleep(0.1)
    return len(left)


def _ended(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True
