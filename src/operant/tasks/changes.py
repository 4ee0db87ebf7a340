"""What a task changes: said once, verified by the state afterwards, brought about by an application's moves.

A template's set-up is the state before. ``Template.changes`` lists what is different afterwards. The success criterion
is the state before with these changes made to it; the oracle works on their goals one after another.
"""

from __future__ import annotations

import base64
import posixpath
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from operant.apps import moves
from operant.apps.moves import Goal
from operant.errors import TaskError
from operant.tasks.criteria import (
    AllOf,
    Answer,
    Criterion,
    DirectoryContains,
    FileEquals,
    FileExists,
    ImageSimilar,
)
from operant.tasks.setup import MakeDirectory, SetupStep, WriteFile

__all__ = ["Change", "Disk", "Scope", "after", "answered"]

Scope = Literal["folders", "names", "files"]
"""What must be as it was, beside what was changed: all of the folders in which something changes, the names in these
folders but not what the other files say, or every file that the set-up wrote (other files may come)."""

PNG = b"\x89PNG"
ALIKE = 0.98  # how similar a picture must be that is said to be the same


@dataclass
class Disk:
    """The files and folders of a task, by their paths below HOME. Settings (``.config/...``) are not among them."""

    files: dict[str, str | bytes] = field(default_factory=dict)
    """Texts, and bytes of pictures and other files. No bytes stand for a file whose content other criteria check."""
    folders: set[str] = field(default_factory=set)
    kept: set[str] = field(default_factory=set)
    """Folders that are checked whole, whether something changes in them or not."""

    @classmethod
    def of(cls, setup: Iterable[SetupStep]) -> Disk:
        """What the set-up puts there."""
        disk = cls()
        for step in setup:
            if isinstance(step, WriteFile) and not step.path.startswith("."):
                disk.write(step.path, base64.b64decode(step.base64) if step.base64 else step.text)
            elif isinstance(step, MakeDirectory) and not step.path.startswith("."):
                disk.make_folder(step.path)
        return disk

    def write(self, path: str, content: str | bytes) -> None:
        self.files[path] = content
        if folder := posixpath.dirname(path):
            self.make_folder(folder)

    def make_folder(self, path: str) -> None:
        path = path.rstrip("/")
        while path.strip("/"):
            self.folders.add(path)
            path = posixpath.dirname(path)

    def remove(self, path: str) -> None:
        """A file, or a folder and what is in it."""
        self.files = {one: content for one, content in self.files.items() if not _within(one, path)}
        self.folders = {one for one in self.folders if not _within(one, path)}

    def move(self, old: str, new: str) -> None:
        """A file, or a folder and what is in it."""
        self.copy(old, new)
        self.remove(old)

    def copy(self, old: str, new: str) -> None:
        for path in [one for one in self.folders if _within(one, old)]:
            self.make_folder(new + path[len(old) :])
        for path in [one for one in self.files if _within(one, old)]:
            self.write(new + path[len(old) :], self.files[path])

    def names(self, folder: str) -> list[str]:
        """What is in a folder; names of folders end with a slash."""
        files = [posixpath.basename(path) for path in self.files if posixpath.dirname(path) == folder]
        folders = [
            posixpath.basename(path) + "/" for path in self.folders if posixpath.dirname(path) == folder
        ]
        return [*sorted(folders), *files]

    def is_exactly(self, folder: str) -> list[Criterion]:
        """A folder holds these files and folders and no others, and each file says what it should."""
        names = tuple(self.names(folder))
        inside = [path for path in self.files if posixpath.dirname(path) == folder]
        listed = [DirectoryContains(path=folder, names=names, exactly=True)] if names else []
        return [*listed, *self.say(inside)]

    def say(self, paths: Iterable[str]) -> list[Criterion]:
        """These files say what they should."""
        return [_is(path, self.files[path]) for path in paths if path in self.files]


@dataclass(frozen=True)
class Change:
    """One thing that is different afterwards: how it is brought about, and how it is verified."""

    goal: Goal | None = None
    """The moves that lead there. None for what is so already and must stay."""
    effect: Callable[[Disk], None] | None = None
    """What it does to the files."""
    holds: Sequence[Criterion] = ()
    """What else must be true: a window that is shown, a setting that is stored, an answer."""


def answered(text: str, *, numeric: bool = False) -> Change:
    """The agent answers with this text. It ends the episode, so it is the last change of a task."""
    goal = Goal(lambda view: False, lambda view: moves.answer(text))
    return Change(replace(goal, called=goal), holds=[Answer(text=text, numeric=numeric)])


def after(setup: Sequence[SetupStep], changes: Sequence[Change], scope: Scope = "folders") -> Criterion:
    """The criterion that these changes were made, and nothing else within the scope."""
    before, wanted = Disk.of(setup), Disk.of(setup)
    for change in changes:
        if change.effect is not None:
            change.effect(wanted)
    if scope == "files":
        criteria = wanted.say(
            sorted(wanted.files, key=lambda path: before.files.get(path) == wanted.files[path])
        )
    else:
        touched = [*sorted(wanted.kept), *(posixpath.dirname(path) for path in _differences(before, wanted))]
        criteria = [one for folder in dict.fromkeys(touched) for one in wanted.is_exactly(folder)]
    if scope == "names":
        same = wanted.say(path for path, _ in before.files.items() & wanted.files.items())
        criteria = [one for one in criteria if one not in same]
    criteria += [criterion for change in changes for criterion in change.holds]
    if not criteria:
        raise TaskError(
            "the changes of this task change nothing", hint="give a change an effect or what it holds"
        )
    return criteria[0] if len(criteria) == 1 else AllOf(of=tuple(criteria))


def _is(path: str, content: str | bytes) -> Criterion:
    """A file is as it should be; a picture may be encoded in another way."""
    if isinstance(content, str):
        return FileEquals(path=path, text=content)
    if not content:
        return FileExists(path=path)
    if not content.startswith(PNG):
        raise TaskError(
            f"{path} is neither text nor a picture", hint="write a criterion for it: Change(holds=...)"
        )
    return ImageSimilar(path=path, reference_base64=base64.b64encode(content).decode(), threshold=ALIKE)


def _within(path: str, above: str) -> bool:
    return path == above or path.startswith(above + "/")


def _differences(before: Disk, wanted: Disk) -> list[str]:
    files = before.files.items() ^ wanted.files.items()
    return sorted({path for path, _ in files} | (before.folders ^ wanted.folders))
