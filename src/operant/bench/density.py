"""How many desktops one process carries: start them, open an application on each, step them in turn, end them."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from operant.bench.desktop import weight_mb
from operant.desktop.pool import DesktopPool
from operant.desktop.protocol import Desktop
from operant.desktop.sandbox import SandboxDesktop
from operant.errors import OperantError
from operant.types import Action

__all__ = ["measure_density"]

LEASE_S = 600.0  # for the last desktop of a thousand on a busy machine


def measure_density(
    progress: Callable[[str], None], *, count: int = 64, steps: int = 5, application: str = "mousepad"
) -> dict[str, Any]:
    """``count`` desktops at once. Without an ``application`` they stay empty, and a step is a key."""
    before = _own_children()
    files = len(os.listdir("/proc/self/fd"))
    with _desktops(count, progress) as (desktops, start_s):
        progress("memory of the empty desktops")
        empty_mb = _total_mb(desktops)
        opened = time.perf_counter()
        for number, desktop in enumerate(desktops if application else (), 1):
            progress(f"opening {application}: {number}/{count}")
            desktop.launch(application)
        open_s = time.perf_counter() - opened
        began = time.perf_counter()
        for turn in range(steps):
            for desktop in desktops:
                desktop.perform(Action.key("abcdefghij"[turn % 10]))
            progress(f"stepping {count} desktops in turn: {turn + 1}/{steps}")
        stepping_s = time.perf_counter() - began
        survivors = sum(_alive(desktop) for desktop in desktops)
        total_mb = _total_mb(desktops)
        files = len(os.listdir("/proc/self/fd")) - files
        progress("ending them")
        ending = time.perf_counter()
    return {
        "desktops": count,
        "application": application or None,
        "survivors": survivors,
        "start_s": start_s,
        "start_per_s": count / start_s,
        "open_s": open_s,
        "end_s": time.perf_counter() - ending,
        "mb_empty": empty_mb / count,
        "mb_each": total_mb / count,
        "gb_total": total_mb / 1024,
        "open_files_each": files / count,
        "steps_per_s": count * steps / stepping_s,
        "left_processes": len(_own_children() - before),
    }


@contextlib.contextmanager
def _desktops(count: int, progress: Callable[[str], None]) -> Iterator[tuple[list[Desktop], float]]:
    began = time.perf_counter()
    with DesktopPool(count) as pool, contextlib.ExitStack() as stack:
        desktops = []
        for number in range(1, count + 1):
            desktops.append(stack.enter_context(pool.lease(timeout_s=LEASE_S)))
            progress(f"starting desktops: {number}/{count}")
        yield desktops, time.perf_counter() - began
        stack.pop_all()  # the pool closes them: none is reset for another lease


def _alive(desktop: Desktop) -> bool:
    try:
        desktop.check()
    except (OperantError, OSError):
        return False
    return True


def _total_mb(desktops: list[Desktop]) -> float:
    return sum(weight_mb(desktop) for desktop in desktops if isinstance(desktop, SandboxDesktop))


def _own_children() -> set[int]:
    children = set()
    for task in Path("/proc/self/task").iterdir():
        with contextlib.suppress(OSError):
            children |= {int(pid) for pid in (task / "children").read_text().split()}
    return children
