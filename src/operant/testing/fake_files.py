"""Files of the fake desktop: the same calls and the same errors as a sandbox's, all in memory."""

from __future__ import annotations

import posixpath
from pathlib import PurePosixPath

from operant.apps.view import HOME
from operant.desktop.programs import FileInfo
from operant.errors import InvalidPath

__all__ = ["HOME", "FakeFiles"]

DIRECTORIES = ("/", "/home", HOME, "/tmp")


class FakeFiles:
    """Paths are absolute or start at HOME. Time is a counter, so that two runs agree."""

    def __init__(self) -> None:
        self._files: dict[str, bytes] = {}
        self._times: dict[str, float] = dict.fromkeys(DIRECTORIES, 0.0)
        self._now = 0.0

    def read(self, path: str | PurePosixPath, limit: int = 64 << 20) -> bytes:
        place = self._file(path)
        return self._files[place][:limit]

    def read_text(self, path: str | PurePosixPath, limit: int = 64 << 20) -> str:
        return self.read(path, limit).decode("utf-8", "replace")

    def write(self, path: str | PurePosixPath, data: bytes | str, mode: int = 0o644) -> None:
        place = resolve(path)
        if self.is_dir(place):
            raise IsADirectoryError(f"{place} is a directory")
        self.make_directory(posixpath.dirname(place))
        self._files[place] = data.encode() if isinstance(data, str) else bytes(data)
        self._touch(place)

    def list(self, path: str | PurePosixPath = ".", limit: int = 10_000) -> list[FileInfo]:
        place = resolve(path)
        if place in self._files:
            raise NotADirectoryError(f"{place} is not a directory")
        if place not in self._times:
            raise FileNotFoundError(f"no such directory: {place}")
        inside = sorted(name for name in self._times if name != "/" and posixpath.dirname(name) == place)
        return [self._info(name) for name in inside[:limit]]

    def exists(self, path: str | PurePosixPath) -> bool:
        return resolve(path) in self._times

    def info(self, path: str | PurePosixPath) -> FileInfo | None:
        place = resolve(path)
        return self._info(place) if place in self._times else None

    # What only the fake programs use.

    def is_dir(self, path: str | PurePosixPath) -> bool:
        place = resolve(path)
        return place in self._times and place not in self._files

    def make_directory(self, path: str | PurePosixPath) -> None:
        """It, and those that lead to it."""
        place = resolve(path)
        if place in self._files:
            raise NotADirectoryError(f"{place} is not a directory")
        if place not in self._times:
            self.make_directory(posixpath.dirname(place))
            self._touch(place)

    def remove(self, path: str | PurePosixPath) -> None:
        """A file, or a directory with all that is in it."""
        place = resolve(path)
        if place not in self._times:
            raise FileNotFoundError(f"no such file: {place}")
        for name in [name for name in self._times if name == place or name.startswith(place + "/")]:
            self._files.pop(name, None)
            del self._times[name]

    def move(self, source: str | PurePosixPath, target: str | PurePosixPath) -> None:
        start, end = resolve(source), resolve(target)
        if start not in self._times:
            raise FileNotFoundError(f"no such file: {start}")
        if self.is_dir(end):
            end = posixpath.join(end, posixpath.basename(start))
        for name in sorted(name for name in self._times if name == start or name.startswith(start + "/")):
            moved = end + name[len(start) :]
            if name in self._files:
                self._files[moved] = self._files.pop(name)
            self._times[moved] = self._times.pop(name)

    def _file(self, path: str | PurePosixPath) -> str:
        place = resolve(path)
        if place in self._files:
            return place
        if place in self._times:
            raise IsADirectoryError(f"{place} is a directory")
        raise FileNotFoundError(f"no such file: {place}")

    def _info(self, place: str) -> FileInfo:
        size = len(self._files.get(place, b""))
        return FileInfo(posixpath.basename(place), size, self._times[place], place not in self._files, False)

    def _touch(self, place: str) -> None:
        self._now += 1.0
        self._times[place] = self._now


def resolve(path: str | PurePosixPath) -> str:
    """The absolute path; relative ones start at HOME, and nothing leads above the root."""
    text = str(path)
    if not text or "\0" in text:
        raise InvalidPath(f"{text!r} is not a path")
    text = text.replace("~/", HOME + "/", 1) if text.startswith("~/") else text
    return posixpath.normpath("/" + posixpath.join(HOME, text).lstrip("/"))
