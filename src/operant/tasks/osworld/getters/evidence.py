"""What getters may look at, and how files of the desktop come out of it."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, replace
from pathlib import Path

from operant.desktop.osworld.commands import expand_path
from operant.desktop.protocol import Desktop
from operant.errors import InvalidPath
from operant.tasks.criteria.question import Refuted
from operant.tasks.osworld.cache import Cache

__all__ = ["MAX_RESULT", "Evidence"]

MAX_RESULT = 256 << 20


@dataclass(frozen=True)
class Evidence:
    """A desktop at the end of an episode, the task's gold files, and a directory for copies."""

    desktop: Desktop
    cache: Cache
    scratch: Path

    def beside(self, name: str) -> Evidence:
        """The same with a directory of its own, so that a result never lies over what it is compared with."""
        place = self.scratch / f".{name}"
        place.mkdir(exist_ok=True)
        return replace(self, scratch=place)

    def read(self, path: str) -> bytes | None:
        """The bytes of a file of the desktop; None if there is none."""
        try:
            place = expand_path(path)
            info = self.desktop.files.info(place)
            if info is None:
                return None
            if info.size > MAX_RESULT:
                raise Refuted(f"{place} is too large")
            return self.desktop.files.read(place, MAX_RESULT)
        except (OSError, InvalidPath) as error:
            raise Refuted(f"{path} can't be read: {error}") from error

    def keep(self, name: str, data: bytes) -> Path:
        """A copy for metrics that read files; only the last part of the name counts."""
        safe = posixpath.basename(name.replace("\0", "")) or "result"
        path = self.scratch / (safe if safe not in (".", "..") else "result")
        path.write_bytes(data)
        return path

    def fetch(self, path: str, name: str = "") -> Path | None:
        """A copy of a file of the desktop."""
        data = self.read(path)
        return None if data is None else self.keep(name or path, data)
