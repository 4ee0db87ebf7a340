"""Files that a task downloads, taken from a cache directory in OSWorld's own layout. Nothing is fetched.

OSWorld's runner keeps what the set-up downloads in ``CACHE/TASK/UUID_NAME``, with the UUID (version 5) of the URL, and
gold files of the evaluation in ``CACHE/TASK/NAME``. A cache that it filled works here as it is.
"""

from __future__ import annotations

import posixpath
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from operant.errors import MissingAsset, TaskError
from operant.tasks.osworld.task_file import TaskFile

__all__ = ["DEFAULT_CACHE", "Asset", "Cache", "as_list"]

DEFAULT_CACHE = Path("cache")
MAX_ASSET = 1 << 30


@dataclass(frozen=True)
class Asset:
    """A file that comes from the web."""

    url: str
    name: str
    """What it is called in the task's directory of the cache."""
    gold: bool = False
    """Whether it is for the evaluation."""


@dataclass(frozen=True)
class Cache:
    """The cached files of one task."""

    root: Path
    task: str

    @property
    def directory(self) -> Path:
        return self.root / self.task

    def path(self, name: str) -> Path:
        """Where a file lies; it stays in the task's directory."""
        if not name or "/" in name or "\0" in name or name in (".", ".."):
            raise TaskError(f"{self.task}: {name!r} is not the name of a cached file")
        return self.directory / name

    def find(self, asset: Asset) -> Path:
        """The file, or an error that says what to put where."""
        path = self.path(asset.name)
        if not path.is_file():
            raise MissingAsset(
                f"a file of the task is not in the cache: {asset.url}",
                hint=f"download it to {path.absolute()}",
            )
        if path.stat().st_size > MAX_ASSET:
            raise MissingAsset(f"{path} is too large for a file of a task")
        return path

    def missing(self, assets: Sequence[Asset]) -> list[Asset]:
        return [one for one in assets if not self.path(one.name).is_file()]

    def check(self, assets: Sequence[Asset]) -> None:
        """All that a task needs is there, before anything of it begins."""
        if missing := self.missing(assets):
            self.find(missing[0])


def download_name(url: str, path: str) -> str:
    """What OSWorld calls a download that goes to ``path`` of the guest."""
    return f"{uuid.uuid5(uuid.NAMESPACE_URL, url)}_{posixpath.basename(path)}"


def assets_of(task: TaskFile) -> list[Asset]:
    """Every file that the task takes from the web, each once."""
    return list(dict.fromkeys([*_downloads(task), *_golds(task)]))


def _downloads(task: TaskFile) -> Iterator[Asset]:
    for step in (*task.config, *task.postconfig):
        if step.type == "download":
            for url, path in files_of(step.parameters, "url", step.where):
                yield Asset(url, download_name(url, path))


def _golds(task: TaskFile) -> Iterator[Asset]:
    for one in task.evaluations:
        for source in (one.result, one.expected):
            if source is not None and source.get("type") == "cloud_file":
                yield from golds_of(source, str(task.path))


def golds_of(source: Mapping[str, Any], where: str) -> list[Asset]:
    """The gold files that a ``cloud_file`` names, in its order."""
    urls, names = as_list(source.get("path")), as_list(source.get("dest"))
    if len(urls) != len(names) or not all(isinstance(one, str) for one in (*urls, *names)):
        raise TaskError(f"{where}: cloud_file: path and dest do not fit together")
    return [Asset(url, name, gold=True) for url, name in zip(urls, names, strict=True)]


def files_of(parameters: Mapping[str, Any], key: str, where: str) -> list[tuple[str, str]]:
    """Pairs of ``key`` and ``path`` of a step with a list of files."""
    found = []
    for one in as_list(parameters.get("files")):
        if not isinstance(one, Mapping) or not all(isinstance(one.get(name), str) for name in (key, "path")):
            raise TaskError(f"{where}: {one!r:.80} has no {key} and path")
        found.append((one[key], one["path"]))
    return found


def as_list(given: Any) -> list[Any]:
    """What is given once or as a list."""
    return list(given) if isinstance(given, (list, tuple)) else [] if given is None else [given]
