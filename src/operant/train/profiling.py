"""Where a run's time goes: cProfile around it, written as a file and summed up for people.

Sees the thread that learns: choosing actions, updates, and the wait for desktops (``recv``, ``step``). Desktops have
threads and processes of their own.
"""

from __future__ import annotations

import cProfile
import io
import pstats
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["PROFILE", "profiled"]

PROFILE = "profile.prof"
LINES = 25


@contextmanager
def profiled(directory: Path, on_progress: Callable[[str], None]) -> Iterator[None]:
    """Profile what is done inside, also if it fails or is interrupted."""
    profile = cProfile.Profile()
    profile.enable()
    try:
        yield
    finally:
        profile.disable()
        directory.mkdir(parents=True, exist_ok=True)
        path = directory / PROFILE
        profile.dump_stats(path)
        head = io.StringIO()
        pstats.Stats(profile, stream=head).strip_dirs().sort_stats("cumulative").print_stats(LINES)
        on_progress(head.getvalue().strip())
        on_progress(f"the whole profile is in {path}: python -m pstats {path}")
