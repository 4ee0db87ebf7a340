"""Files of the home directory: what a part changed, brought to another desktop, and a folder that all desktops share.

Hidden files are left alone: they are the applications' own. Knows nothing of members.
"""

from __future__ import annotations

import posixpath
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from operant.apps.view import HOME
from operant.errors import ApplicationError, DesktopError, OperantError

if TYPE_CHECKING:
    from operant.desktop.protocol import Desktop

__all__ = ["MESSAGES", "FileChanges", "Listing", "SharedFolder", "changes_since", "list_home"]

MOST_FILES = 2_000
LARGEST = 16 << 20  # bytes of one file
MOST_BYTES = 64 << 20
#: What members said, in the shared folder.
MESSAGES = "messages.txt"

#: Path below HOME -> (size, time of change); folders end with a slash and have neither.
Listing = Mapping[str, tuple[int, float]]


@dataclass(frozen=True)
class FileChanges:
    """What has to be done to the files of one desktop to be as on another."""

    written: Mapping[str, bytes] = field(default_factory=dict)
    removed: frozenset[str] = frozenset()
    """Files, and folders with a slash at the end."""
    folders: frozenset[str] = frozenset()
    """New ones."""

    def __bool__(self) -> bool:
        return bool(self.written or self.removed or self.folders)

    def paths(self) -> list[str]:
        return sorted({*self.written, *self.removed, *self.folders})

    def conflicts(self, other: FileChanges) -> list[str]:
        """Paths to which the two do different things."""
        mine, theirs = self._verdicts(), other._verdicts()
        return sorted(path for path in mine.keys() & theirs.keys() if mine[path] != theirs[path])

    def joined(self, later: FileChanges) -> FileChanges:
        """Both, where they do not conflict."""
        return FileChanges(
            {**self.written, **later.written}, self.removed | later.removed, self.folders | later.folders
        )

    def apply(self, desktop: Desktop) -> None:
        """Do it there."""
        if self.folders:
            _run(desktop, "mkdir", "-p", "--", *_whole(self.folders))
        for path, data in self.written.items():
            desktop.files.write(path, data)
        if self.removed:
            _run(desktop, "rm", "-rf", "--", *_whole(self.removed))

    def _verdicts(self) -> dict[str, bytes | None]:
        return {**self.written, **dict.fromkeys(self.removed)}


def list_home(desktop: Desktop, besides: str) -> dict[str, tuple[int, float]]:
    """All files and folders of HOME that are not hidden, besides one folder; links are not followed."""
    return _list(desktop, ".", besides)


def changes_since(desktop: Desktop, before: Listing, besides: str) -> FileChanges:
    """What is different from an earlier listing."""
    now = list_home(desktop, besides)
    differing = [path for path, stamp in now.items() if before.get(path) != stamp and path[-1] != "/"]
    return FileChanges(
        _read(desktop, differing),
        frozenset(before.keys() - now.keys()),
        frozenset(path for path in now.keys() - before.keys() if path[-1] == "/"),
    )


class SharedFolder:
    """Is copied from and to desktops; the last one that wrote a file wins. Safe for threads.

    Files that are deleted on one desktop stay on the others.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._lock = threading.Lock()
        self._files: dict[str, bytes] = {}
        self._versions: dict[str, int] = {}

    def exchange(self, desktop: Desktop, known: dict[str, tuple[tuple[int, float], int]]) -> None:
        """Take what is new on that desktop, then bring what is new elsewhere. ``known`` is what was there last time."""
        with self._lock:
            there = _list(desktop, self.name) if desktop.files.exists(self.name) else {}
            new = [
                path
                for path, stamp in there.items()
                if path[-1] != "/" and known.get(path, (None,))[0] != stamp
            ]
            for path, data in _read(desktop, new).items():
                self._put(path, data)
                known[path] = (there[path], self._versions[path])
            for path, version in self._versions.items():
                if path in known and known[path][1] >= version:
                    continue
                desktop.files.write(path, self._files[path])
                info = desktop.files.info(path)
                if info is not None:
                    known[path] = ((info.size, info.modified), version)

    def tell(self, text: str) -> None:
        """What ``messages.txt`` says."""
        with self._lock:
            path = posixpath.join(self.name, MESSAGES)
            if self._files.get(path) != text.encode():
                self._put(path, text.encode())

    def contents(self) -> FileChanges:
        """All that members put there."""
        with self._lock:
            return FileChanges(
                {path: data for path, data in self._files.items() if posixpath.basename(path) != MESSAGES}
            )

    def _put(self, path: str, data: bytes) -> None:
        self._files[path] = data
        self._versions[path] = self._versions.get(path, 0) + 1


def _list(desktop: Desktop, folder: str, besides: str = "") -> dict[str, tuple[int, float]]:
    found: dict[str, tuple[int, float]] = {}
    waiting = [folder]
    while waiting and len(found) < MOST_FILES:
        inside = waiting.pop()
        try:
            entries = desktop.files.list(inside)
        except (FileNotFoundError, NotADirectoryError, PermissionError):
            continue  # it went away meanwhile
        for one in entries:
            if one.name.startswith(".") or one.is_link:
                continue
            path = posixpath.normpath(posixpath.join(inside, one.name))
            if path == besides:
                continue
            if one.is_dir:
                found[path + "/"] = (0, 0.0)
                waiting.append(path)
            else:
                found[path] = (one.size, one.modified)
    return found


def _read(desktop: Desktop, paths: Iterable[str]) -> dict[str, bytes]:
    read: dict[str, bytes] = {}
    left = MOST_BYTES
    for path in paths:
        try:
            data = desktop.files.read(path, LARGEST + 1)
        except OSError:
            continue  # it went away meanwhile, or is no regular file
        left -= len(data)
        if len(data) > LARGEST or left < 0:
            raise ApplicationError(
                f"{path}: the files of a part are too large to be brought to another desktop",
                hint=f"at most {LARGEST >> 20} MB each and {MOST_BYTES >> 20} MB together",
            )
        read[path] = data
    return read


def _whole(paths: Iterable[str]) -> list[str]:
    return [posixpath.join(HOME, path.rstrip("/")) for path in sorted(paths)]


def _run(desktop: Desktop, *command: str) -> None:
    try:
        done = desktop.run(list(command))
    except DesktopError:
        raise
    except OperantError as error:
        raise DesktopError(f"{command[0]}: {error.message}") from error
    if done.returncode != 0:
        raise DesktopError(f"{command[0]} failed: {done.stderr.decode('utf-8', 'replace')[-200:]}")
