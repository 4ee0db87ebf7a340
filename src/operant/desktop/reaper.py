"""Leftovers of owners that died: found by the mark in their environment and removed.

A sandbox can't outlive its owner (the kernel sees to that twice over), so this is for what the kernel has
no word in: desktops without isolation whose supervisor was killed too, and their directories.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import tempfile
from pathlib import Path

from operant.desktop.launch import BARE_PREFIX, MARK, NAMESPACE_MARK, process_namespace, start_time

__all__ = ["owner_lives", "reap"]


def reap() -> tuple[int, int]:
    """Kill marked processes and delete marked directories whose owner is gone; returns how many of each."""
    processes = 0
    here = process_namespace()
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            environment = (entry / "environ").read_text(errors="replace").split("\0")
        except OSError:
            continue
        marks = dict(item.partition("=")[::2] for item in environment)
        # Desktops of a container on this machine: their owner's pid is another process here, or none.
        if marks.get(NAMESPACE_MARK, here) != here:
            continue
        if MARK in marks and not owner_lives(marks[MARK]):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(int(entry.name), signal.SIGKILL)
                processes += 1
    directories = 0
    for path in Path(tempfile.gettempdir()).glob(BARE_PREFIX + "*"):
        if not owner_lives(path.name[len(BARE_PREFIX) :].rpartition("-")[0]):
            shutil.rmtree(path, ignore_errors=True)
            directories += 1
    return processes, directories


def owner_lives(mark: str) -> bool:
    """Whether the owner that a mark names still runs: its pid, and not another process of the same number."""
    pid, _, began = mark.partition(".")
    try:
        return start_time(int(pid)) == began
    except (OSError, ValueError, IndexError):
        return False
