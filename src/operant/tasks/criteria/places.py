"""Paths that criteria may name, and reading what lies there without being fooled or overwhelmed.

A criterion speaks of HOME and /tmp, the places that an agent can write to. Links do not count as the file or
directory that they point at, and nothing is read without a bound.
"""

from __future__ import annotations

import errno
import posixpath
from abc import abstractmethod
from typing import TYPE_CHECKING, Annotated

from pydantic import AfterValidator

from operant.apps.view import HOME
from operant.errors import TaskError
from operant.tasks.criteria.base import Verdict, World
from operant.tasks.criteria.question import NoEvidence, Question, Refuted

if TYPE_CHECKING:
    from operant.desktop.programs import FileInfo
    from operant.desktop.protocol import Desktop

__all__ = [
    "MAX_FILE",
    "FileQuestion",
    "SandboxPath",
    "entry_exists",
    "inside",
    "is_directory",
    "is_real",
    "list_directory",
    "read_file",
    "require_file",
]

MAX_FILE = 32 << 20  # bytes of a file that a criterion looks at
MAX_ENTRIES = 20_000  # of a directory
RETRIES = 3


def inside(path: str) -> str:
    """The path as criteria use it: relative to HOME, or below /tmp. Anything else is an error of the task."""
    wanted = "." + path[1:] if path == "~" or path.startswith("~/") else path
    if not path or "\0" in path:
        raise TaskError(f"{path!r} is not a path")
    place = posixpath.normpath(wanted)
    if place == HOME or place.startswith(HOME + "/"):
        place = posixpath.relpath(place, HOME)
    if place == ".." or place.startswith("../") or (place.startswith("/") and not place.startswith("/tmp/")):
        raise TaskError(
            f"the path {path!r} lies outside the desktop's HOME and /tmp",
            hint="relative paths start at HOME",
        )
    return place


SandboxPath = Annotated[str, AfterValidator(inside)]


class FileQuestion(Question):
    """A question about one file or directory."""

    path: SandboxPath
    """Where it lies; relative paths start at HOME."""

    def judge(self, world: World) -> Verdict:
        verdict = self.look(world)
        if verdict.holds and not is_real(world.desktop, self.path):
            return Verdict(False, f"{self.path} is reached over a symbolic link")
        return verdict

    @abstractmethod
    def look(self, world: World) -> Verdict:
        """The answer if no link is on the way."""


def is_real(desktop: Desktop, path: str) -> bool:
    """Whether something lies there and no link is on the way from HOME or /tmp to it."""
    place = "/tmp" if path.startswith("/") else "."
    for name in posixpath.relpath(path, place).split("/"):
        if name != ".":
            entry = _entry(desktop, place, name)
            if entry is None or entry.is_link:
                return False
            place = posixpath.join(place, name)
    return True


def entry_exists(desktop: Desktop, path: str) -> bool:
    """Whether anything lies there, be it a link that leads nowhere; the directory above must be there."""
    return _entry(desktop, posixpath.dirname(path) or ".", posixpath.basename(path)) is not None


def _entry(desktop: Desktop, directory: str, name: str) -> FileInfo | None:
    entries = list_directory(desktop, directory)
    return next((entry for entry in entries if entry.name == name), None)


def list_directory(desktop: Desktop, path: str) -> list[FileInfo]:
    """What is in a directory, links as links."""
    for attempt in range(RETRIES):
        try:
            entries = desktop.files.list(path, limit=MAX_ENTRIES)
        except FileNotFoundError as error:  # one of the entries may have vanished while we looked
            if attempt == RETRIES - 1 or not desktop.files.exists(path):
                raise Refuted(f"there is no directory {path}") from error
        except NotADirectoryError as error:
            raise Refuted(f"{path} is not a directory") from error
        except OSError as error:
            raise NoEvidence(f"{path} can't be looked into: {error}") from error
        else:
            if len(entries) == MAX_ENTRIES:
                raise NoEvidence(f"more is in {path} than what is looked at")
            return entries
    raise AssertionError("unreachable")


def is_directory(world: World, path: str) -> bool | None:
    """Whether it is one; None if nothing is there."""
    try:
        info = world.desktop.files.info(path)
    except OSError as error:
        raise NoEvidence(f"{path} can't be looked at: {error}") from error
    return None if info is None else info.is_dir


def require_file(world: World, path: str) -> None:
    """Raise unless it is a regular file that can be opened."""
    read_file(world, path, limit=0)


def read_file(world: World, path: str, limit: int = MAX_FILE) -> bytes:
    """All bytes of a regular file; one that is larger than ``limit`` is not looked at, unless that is 0."""
    try:
        info = world.desktop.files.info(path)
        if info is None:
            raise Refuted(f"there is no file {path}")
        if info.is_dir:
            raise Refuted(f"{path} is a directory")
        if limit and info.size > limit:
            raise NoEvidence(f"{path} has {info.size} bytes, more than are looked at")
        data = world.desktop.files.read(path, limit + 1 if limit else 0)
    except FileNotFoundError as error:
        raise Refuted(f"there is no file {path}") from error
    except OSError as error:
        if error.errno == errno.EISDIR or error.errno == errno.ENXIO:
            raise Refuted(f"{path} is not a regular file") from error
        raise NoEvidence(f"{path} can't be read: {error}") from error
    if limit and len(data) > limit:
        raise NoEvidence(f"{path} grew beyond what is looked at")
    return data
