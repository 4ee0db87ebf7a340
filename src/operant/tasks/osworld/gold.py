"""Gold files put in place of results: what a metric must score 1 on, whatever an agent could do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from operant.desktop.osworld.commands import expand_path
from operant.desktop.protocol import Desktop
from operant.tasks.osworld.cache import Cache, as_list, golds_of
from operant.tasks.osworld.task_file import Evaluation, TaskFile
from operant.tasks.setup import SetupStep
from operant.tasks.task import Task

__all__ = ["solved_by_gold"]

#: Metrics whose gold file is what was there before, and not what should come of it.
AGAINST_THE_ORIGINAL = frozenset(
    {"check_brightness_decrease_and_structure_sim", "check_contrast_increase_and_structure_sim",
     "check_saturation_increase_and_structure_sim", "check_image_mirror", "check_palette_and_structure_sim",
     "check_green_background", "check_image_stretch_and_center", "check_structure_sim_resized"}
)  # fmt: skip


class PutGold(SetupStep):
    """Copy gold files of the cache to where results are looked for."""

    files: tuple[tuple[Path, str], ...]
    """Where each lies, and where it goes."""

    def apply(self, desktop: Desktop) -> None:
        for source, path in self.files:
            desktop.files.write(path, source.read_bytes())


def solved_by_gold(task: Task, file: TaskFile, cache: Path) -> Task | None:
    """The same task, whose results are gold files at the end; None where gold files do not make every metric score."""
    if any(one.metric in AGAINST_THE_ORIGINAL or not _compares_files(one) for one in file.evaluations):
        return None
    found = dict(pair for one in file.evaluations for pair in _pairs(one, Cache(cache, file.id)))
    if not found:
        return None
    files = tuple((source, path) for path, source in found.items())
    return replace(task, closing=(*task.closing, PutGold(files=files)))


def _compares_files(one: Evaluation) -> bool:
    return (one.result or {}).get("type") == "vm_file" and (one.expected or {}).get("type") == "cloud_file"


def _pairs(one: Evaluation, cache: Cache) -> Iterator[tuple[str, Path]]:
    """Paths of the desktop, and the gold file of each."""
    if one.result is None or one.expected is None:
        return
    paths = [expand_path(path) for path in as_list(one.result.get("path"))]
    golds = [cache.path(asset.name) for asset in golds_of(one.expected, cache.task)]
    yield from zip(paths, golds, strict=False)
