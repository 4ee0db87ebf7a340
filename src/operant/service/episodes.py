"""Episodes on disk, by names that can't lead anywhere else.

An episode's id is a digest of where it lies below its root, so an id from outside is looked up and never becomes
a path; of an episode's directory only the files that an episode has are handed out.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from operant.agents.base import Usage
from operant.errors import ResultsError, UnknownEpisode
from operant.pictures.png import png_bytes
from operant.rollout import layout
from operant.rollout.episode import Episode
from operant.rollout.store import find_episodes, read_episode

__all__ = ["EpisodeSummary", "Episodes"]

FILES = re.compile(
    r"step_\d+_[\w@]+\.png|episode(\.partial)?\.json|traj\.jsonl|result\.txt|recording\.mp4", re.ASCII
)
DRAWN = re.compile(r"step_(\d{1,6})\.png", re.ASCII)  # a screen that is in the observations only
FRESH_S = 1.0  # how long a list of directories is believed


@dataclass(frozen=True, slots=True)
class EpisodeSummary:
    """An episode in a list."""

    id: str
    task: str
    instruction: str
    agent: str
    outcome: str | None
    reward: float
    steps: int
    started: str
    difficulty: str
    usage: Usage | None = None
    calls: int = 0
    gui_actions: int = 0


class Episodes:
    """Those of several roots together."""

    def __init__(self, roots: Sequence[Path]) -> None:
        self._roots = tuple(roots)
        self._lock = threading.Lock()
        self._found: dict[str, Path] = {}
        self._found_at = -FRESH_S
        self._summaries: dict[Path, tuple[float, EpisodeSummary]] = {}

    def id_of(self, directory: Path) -> str:
        for number, root in enumerate(self._roots):
            if directory.is_relative_to(root):
                name = f"{number}:{directory.relative_to(root).as_posix()}"
                return hashlib.sha256(name.encode("utf-8", "surrogateescape")).hexdigest()[:16]
        raise UnknownEpisode(f"{directory.name} is not among the episodes")

    def list(
        self, *, outcome: str | None = None, task: str | None = None, offset: int = 0, limit: int = 50
    ) -> tuple[int, list[EpisodeSummary]]:
        """How many there are of that kind, and some of them, the newest first."""
        found = [self._summary(identity, path) for identity, path in self._directories().items()]
        wanted = [
            one
            for one in found
            if one is not None
            and (outcome is None or (one.outcome or "unfinished") == outcome)
            and (task is None or task in one.task)
        ]
        wanted.sort(key=lambda one: one.started, reverse=True)
        return len(wanted), wanted[offset : offset + limit]

    def read(self, identity: str) -> Episode:
        try:
            return read_episode(self._directory(identity))
        except ResultsError as error:
            raise UnknownEpisode(f"the episode {identity} can't be read: {error.message}") from error

    def picture(self, identity: str, name: str) -> bytes | None:
        """A PNG of a screen of which there is no file; None if this is not the name of one."""
        number = DRAWN.fullmatch(name)
        if number is None:
            return None
        try:
            return png_bytes(self.read(identity).frame(int(number[1])))
        except ResultsError as error:
            raise UnknownEpisode(f"the episode has no picture {name[:60]!r}: {error.message}") from error

    def file(self, identity: str, name: str) -> Path:
        path = self._directory(identity) / name
        if not FILES.fullmatch(name) or not path.is_file():
            raise UnknownEpisode(f"the episode has no file {name[:60]!r}")
        return path

    def _directory(self, identity: str) -> Path:
        for fresh in (False, True):
            path = self._directories(fresh=fresh).get(identity)
            if path is not None and path.is_dir():
                return path
        raise UnknownEpisode(f"there is no episode {identity[:40]!r}", hint="GET /api/v1/episodes lists them")

    def _directories(self, *, fresh: bool = False) -> dict[str, Path]:
        with self._lock:
            if fresh or time.monotonic() - self._found_at > FRESH_S:
                paths = [path for root in self._roots if root.is_dir() for path in find_episodes(root)]
                self._found = {self.id_of(path): path for path in paths}
                self._found_at = time.monotonic()
            return self._found

    def _summary(self, identity: str, directory: Path) -> EpisodeSummary | None:
        """Read once; an episode that has ended does not change any more."""
        path = directory / layout.EPISODE
        if not path.exists():
            path = directory / layout.PARTIAL
        try:
            modified = path.stat().st_mtime
            known = self._summaries.get(path)
            if known is not None and known[0] == modified:
                return known[1]
            header: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            summary = EpisodeSummary(
                identity,
                str(header["task"]),
                str(header["instruction"]),
                str(header["agent"]),
                header.get("outcome"),
                float(header.get("reward", 0.0)),
                int(header.get("steps", 0)),
                str(header.get("started", "")),
                str(header["difficulty"]),
                None if header.get("usage") is None else Usage.from_json(header["usage"]),
                int(header.get("calls", 0)),
                int(header.get("gui_actions", 0)),
            )
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None  # damaged, or gone since it was found
        self._summaries[path] = (modified, summary)
        return summary
