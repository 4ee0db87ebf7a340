"""Criteria on files and directories of the desktop."""

from __future__ import annotations

import posixpath
from typing import Literal

from pydantic import Field, field_validator

from operant.errors import TaskError
from operant.tasks.criteria.base import Verdict, World
from operant.tasks.criteria.places import (
    FileQuestion,
    SandboxPath,
    entry_exists,
    is_directory,
    is_real,
    list_directory,
    read_file,
    require_file,
)
from operant.tasks.criteria.question import Question, Refuted

__all__ = ["DirectoryContains", "FileContains", "FileEquals", "FileExists", "FileNotExists"]


class FileExists(FileQuestion):
    """A file or a directory is there; a link, a pipe or a device is neither."""

    kind: Literal["any", "file", "directory"] = "file"
    """What it must be."""

    def look(self, world: World) -> Verdict:
        directory = is_directory(world, self.path)
        if directory is None:
            return Verdict(False, f"nothing is at {self.path}")
        if directory:
            return Verdict(self.kind != "file", f"{self.path} is a directory")
        require_file(world, self.path)
        return Verdict(self.kind != "directory", f"{self.path} is a file")


class FileNotExists(Question):
    """Nothing is there, not even a link."""

    path: SandboxPath
    """Where; relative paths start at HOME."""

    def judge(self, world: World) -> Verdict:
        if is_directory(world, self.path) is not None:
            return Verdict(False, f"{self.path} is still there")
        above = posixpath.dirname(self.path) or "."
        if is_directory(world, above) and entry_exists(world.desktop, self.path):
            return Verdict(False, f"a link is still at {self.path}")
        return Verdict(True, f"nothing is at {self.path}")


class FileContains(FileQuestion):
    """A text occurs in a file."""

    text: str = Field(min_length=1)
    """What to look for, as it is."""
    ignore_case: bool = False
    """Whether capital and small letters are the same."""
    times: int | None = Field(None, ge=1)
    """How often it must occur; any number of times if not said."""

    def look(self, world: World) -> Verdict:
        content = read_file(world, self.path).decode("utf-8", "replace")
        wanted = self.text
        if self.ignore_case:
            content, wanted = content.casefold(), wanted.casefold()
        found = content.count(wanted)
        holds = found > 0 if self.times is None else found == self.times
        wanted = "once or more" if self.times is None else f"{self.times} times"
        return Verdict.compared(holds, f"{self.path} contains {_quoted(self.text)} {found} times", wanted)


class FileEquals(FileQuestion):
    """A file says exactly this."""

    text: str
    """The whole text."""
    strip: bool = True
    """Whether blanks and line ends at the end of the file do not matter."""

    def look(self, world: World) -> Verdict:
        data = read_file(world, self.path)
        try:
            content = data.decode()
        except UnicodeDecodeError:
            return Verdict(False, f"{self.path} is not a UTF-8 text")
        wanted = self.text
        if self.strip:
            content, wanted = content.rstrip(), wanted.rstrip()
        if content == wanted:
            return Verdict(True, f"{self.path} says {_quoted(content)}")
        return Verdict(False, f"{self.path} says {_quoted(content)}, not {_quoted(wanted)}")


class DirectoryContains(FileQuestion):
    """These files and directories are in a directory."""

    names: tuple[str, ...] = Field(min_length=1)
    """Their names; one that ends with a slash must be a directory, the others may be either."""
    exactly: bool = False
    """Whether nothing else may be there, hidden files included."""

    @field_validator("names")
    @classmethod
    def _plain_names(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        for name in names:
            bare = name.removesuffix("/")
            if not bare or "/" in bare or "\0" in bare or bare in (".", ".."):
                raise TaskError(f"{name!r} is not the name of something in a directory")
        return names

    def look(self, world: World) -> Verdict:
        kind = is_directory(world, self.path)
        if not kind:
            return Verdict(False, f"there is no directory {self.path}")
        for name in self.names:
            place = posixpath.join(self.path, name.removesuffix("/"))
            if not self._fits(world, place, name.endswith("/")):
                return Verdict(False, f"{name} is not in {self.path}")
        if self.exactly:
            wanted = {name.removesuffix("/") for name in self.names}
            others = [e.name for e in list_directory(world.desktop, self.path) if e.name not in wanted]
            if others:
                return Verdict(False, f"{_quoted(others[0])} is in {self.path}, too")
        return Verdict(True, f"{', '.join(self.names)} in {self.path}")

    def _fits(self, world: World, place: str, must_be_directory: bool) -> bool:
        directory = is_directory(world, place)
        if directory is None or (must_be_directory and not directory):
            return False
        if not directory:
            try:
                require_file(world, place)
            except Refuted:
                return False
        return is_real(world.desktop, place)


def _quoted(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")
