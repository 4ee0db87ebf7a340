"""What the tasks of the file manager share: what lies on the disk at first, and the changes that they make to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from operant.apps.moves import Goals
from operant.apps.pcmanfm import HANDLERS, SETTINGS, file_goals, settings
from operant.apps.pcmanfm.folder_view import enter_path, tidy, visit
from operant.tasks.changes import Change, Disk
from operant.tasks.criteria import AllOf, Criterion, DirectoryContains, FileEquals, WindowTitle
from operant.tasks.draw import Draw
from operant.tasks.oracle import Oracle
from operant.tasks.setup import Launch, MakeDirectory, SetupStep, WriteFile
from operant.tasks.template import Params, Template

__all__ = [
    "PARENTS",
    "SIZE",
    "TRASH",
    "FileManager",
    "copied",
    "dragged",
    "duplicated",
    "files_in",
    "filler",
    "folder_made",
    "folder_shown",
    "holds",
    "joined",
    "kept",
    "messy",
    "moved",
    "renamed",
    "says_name",
    "stems",
    "trashed",
]

SIZE = (700, 450)
TRASH = ".local/share/Trash/files"
PARENTS = ("Documents", "work", "stuff", "shared", "desk", "home-office")


class FileManager(Template):
    """The file manager shows ``p.folder``; ``p.content`` lists by folder what lies on the disk."""

    apps: ClassVar[tuple[str, ...]] = ("pcmanfm",)
    view_mode = "list"

    def content(self, p: Params) -> Sequence[SetupStep]:
        """What lies on the disk."""
        return [step for folder, names in p.content.items() for step in files_in(folder, names)]

    def setup(self, p: Params) -> Sequence[SetupStep]:
        return [
            WriteFile(path=SETTINGS, text=settings(self.view_mode)),
            WriteFile(path=".config/mimeapps.list", text=HANDLERS),
            *self.content(p),
            Launch(command=["pcmanfm", p.folder], place=p.place),
        ]

    def oracle(self, p: Params) -> Oracle:
        return Goals([change.goal for change in self.changes(p) if change.goal is not None], tidy=tidy)


# The state before.


def says_name(name: str) -> str:
    """What a file of that name says, so that no two files are alike."""
    return f"This is {name}.\n"


def files_in(folder: str, names: Sequence[str] | Mapping[str, str]) -> list[SetupStep]:
    """A folder with files that say their names (folders, if these end with a slash), or with these texts."""
    if isinstance(names, Mapping):
        return [WriteFile(path=f"{folder}/{name}", text=text) for name, text in names.items()]
    made: list[SetupStep] = [MakeDirectory(path=folder)]
    for name in names:
        path = f"{folder}/{name}"
        made.append(
            MakeDirectory(path=path) if name.endswith("/") else WriteFile(path=path, text=says_name(name))
        )
    return made


def filler(size: int) -> str:
    """A text of that many bytes."""
    return ("lorem ipsum " * 99)[: size - 1] + "\n"


def holds(folder: str, names: Sequence[str]) -> Criterion:
    """Exactly these are in a folder, and each file says its name."""
    contents = [
        FileEquals(path=f"{folder}/{name}", text=says_name(name)) for name in names if not name.endswith("/")
    ]
    return AllOf(of=(DirectoryContains(path=folder, names=tuple(names), exactly=True), *contents))


def stems(draw: Draw, count: int) -> list[str]:
    """Different names of files, such as ``quiet-harbor``."""
    nouns = draw.words(count, "nouns")
    return [f"{draw.word('adjectives')}-{noun}" for noun in nouns]


def messy(draw: Draw, count: int, extensions: Sequence[str] = ("txt", "png", "csv")) -> list[str]:
    """Names of files of mixed kinds."""
    return [f"{noun}.{draw.choice(extensions)}" for noun in draw.words(count, "nouns")]


def joined(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


# Changes.


def renamed(folder: str, old: str, new: str) -> Change:
    return Change(
        file_goals.renamed(folder, old, new), lambda disk: disk.move(f"{folder}/{old}", f"{folder}/{new}")
    )


def folder_made(folder: str, name: str) -> Change:
    return Change(file_goals.folder_made(folder, name), lambda disk: disk.make_folder(f"{folder}/{name}"))


def moved(names: Sequence[str], source: str, target: str) -> Change:
    def effect(disk: Disk) -> None:
        for name in names:
            disk.move(f"{source}/{name}", f"{target}/{name}")

    return Change(file_goals.moved(names, source, target), effect)


def dragged(folder: str, name: str, into: str) -> Change:
    effect = moved([name], folder, f"{folder}/{into}").effect
    return Change(file_goals.dragged(folder, [name], into), effect)


def copied(
    names: Sequence[str], source: str, target: str, *, replace: bool = False, by_path: bool = False
) -> Change:
    def effect(disk: Disk) -> None:
        for name in names:
            disk.copy(f"{source}/{name}", f"{target}/{name}")

    goal = file_goals.copied(names, source, target, replace=replace, go=enter_path if by_path else visit)
    # A later change may move one of the folders away.
    return Change(goal.or_when(lambda view: not (view.exists(source) and view.exists(target))), effect)


def duplicated(folder: str, name: str, new: str) -> Change:
    return Change(
        file_goals.duplicated(folder, name, new),
        lambda disk: disk.copy(f"{folder}/{name}", f"{folder}/{new}"),
    )


def trashed(folder: str, *names: str, inside: Sequence[Criterion] = ()) -> Change:
    """Files that say their names are in the trash, or folders with what is to be checked ``inside`` the trash."""

    def effect(disk: Disk) -> None:
        for name in names:
            disk.remove(f"{folder}/{name}")

    texts = [FileEquals(path=f"{TRASH}/{name}", text=says_name(name)) for name in names]
    return Change(file_goals.trashed(folder, *names), effect, inside or texts)


def kept(*folders: str) -> Change:
    """These folders are checked whole, though nothing changes in them."""
    return Change(effect=lambda disk: disk.kept.update(folders))


def folder_shown(folder: str, *, by_path: bool = False) -> Change:
    """The window shows a folder, which is reached by double clicks or by its path."""
    title = WindowTitle(title=folder.rpartition("/")[2], wm_class="Pcmanfm", exact=True)
    return Change(file_goals.folder_shown(folder, enter_path if by_path else visit), holds=[title])
