"""What episodes cost on disk, and how long it takes to make lessons of them.

``cold`` makes the lessons, ``warm`` reads them from the cache. For comparison, ``npz`` loads the same lessons from
one compressed file of numpy for each episode, which is how lessons were stored before episodes were.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from operant.agents.hierarchical.labeler import HierarchicalLabeler
from operant.bench.record import median
from operant.errors import ResultsError
from operant.rollout import layout
from operant.rollout.demonstrations import find_demonstrations
from operant.rollout.lessons import LessonView
from operant.rollout.store import read_episode

__all__ = ["collect_episodes", "measure_experience"]

REPEATS = 3  # of loads; the fastest counts, since others use the machine too
LOOKS = 50  # at single frames


def collect_episodes(
    progress: Callable[[str], None], root: Path, *, suite: str = "core", templates: int = 30, workers: int = 2
) -> None:
    """Let the oracle play one training instance of every so-manieth template."""
    from operant.rollout.demonstration_collector import collect_demonstrations
    from operant.train.tasks import training_templates

    known = training_templates(suite)
    chosen = known[:: max(1, len(known) // templates)][:templates]
    tasks = [template.instance(0, "train") for template in chosen]
    view = LessonView(HierarchicalLabeler(), None)
    collect_demonstrations(
        tasks,
        root,
        view,
        workers=workers,
        on_progress=lambda done: progress(f"{done.episodes} of {len(tasks)} played"),
    )


def measure_experience(progress: Callable[[str], None], roots: Sequence[Path]) -> dict[str, Any]:
    """Size and loading times of the demonstrations below some directories."""
    paths = find_demonstrations(roots)
    episodes = [read_episode(path) for path in paths]
    steps = sum(len(episode.steps) for episode in episodes)
    if not steps:
        raise ResultsError("there are no demonstrations to measure", hint="run operant demos collect")
    progress(f"{len(paths)} episodes of {steps} steps")
    sizes = {
        name: sum((path / name).stat().st_size for path in paths if (path / name).exists())
        for name in (layout.OBSERVATIONS, layout.TRAJECTORY, layout.EPISODE)
    }
    total = sum(file.stat().st_size for path in paths for file in path.iterdir())
    with tempfile.TemporaryDirectory(prefix="operant-bench-") as place:
        view = LessonView(HierarchicalLabeler(), Path(place) / "cache")
        progress("cold load")
        cold, lessons = _timed(lambda: [view.read(path) for path in paths], 1)
        assert view.cache is not None
        cached = sum(file.stat().st_size for file in view.cache.iterdir())
        progress("warm load")
        warm, _ = _timed(lambda: [view.read(path) for path in paths])
        progress("load of compressed numpy files")
        files = [Path(place) / f"{number}.npz" for number in range(len(paths))]
        for file, one in zip(files, lessons, strict=True):
            np.savez_compressed(file, **one.arrays)
        npz, _ = _timed(lambda: [_load_npz(file) for file in files])
    count = sum(len(one) for one in lessons)
    progress("single frames")
    return {
        "episodes": len(paths),
        "steps": steps,
        "lessons": count,
        "bytes_per_step": round(total / steps),
        "bytes_per_step_by_file": {name: round(size / steps) for name, size in sizes.items()},
        "cache_bytes_per_lesson": round(cached / max(1, count)),
        "cold_load_s": round(cold, 6),
        "warm_load_s": round(warm, 6),
        "npz_load_s": round(npz, 6),
        "frame_ms": round(_frame_ms(paths), 3),
    }


def _timed(load: Callable[[], Any], repeats: int = REPEATS) -> tuple[float, Any]:
    """Seconds of the fastest of some runs, and what the last gave."""
    times, result = [], None
    for _ in range(repeats):
        began = time.perf_counter()
        result = load()
        times.append(time.perf_counter() - began)
    return min(times), result


def _load_npz(path: Path) -> dict[str, Any]:
    with np.load(path, allow_pickle=False) as file:
        return {name: file[name] for name in file.files}


def _frame_ms(paths: Sequence[Path]) -> float:
    """Milliseconds to open an episode and read one frame at random."""
    random = np.random.default_rng(0)
    times = []
    for _ in range(LOOKS):
        path = paths[int(random.integers(len(paths)))]
        began = time.perf_counter()
        episode = read_episode(path)
        episode.frame(int(random.integers(len(episode.steps) + 1)))
        times.append((time.perf_counter() - began) * 1000)
    return median(times)
