"""PCManFM, longer chores: copy and move between folders, make, rename, duplicate, and find by looking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from operant.apps.pcmanfm import SETTINGS, file_goals
from operant.apps.view import HOME
from operant.tasks.changes import Change
from operant.tasks.criteria import FileEquals, Setting
from operant.tasks.draw import Draw
from operant.tasks.suites.core.files_changes import (
    PARENTS,
    SIZE,
    FileManager,
    copied,
    duplicated,
    filler,
    folder_made,
    joined,
    kept,
    messy,
    moved,
    renamed,
    stems,
)
from operant.tasks.template import Params, Template
from operant.types import Difficulty

__all__ = ["TEMPLATES"]


class MoveThree(FileManager):
    id = "core/files-move-three-v1"
    skill = "copy"
    family = "moving"
    difficulty = Difficulty.MEDIUM
    instructions = (
        "Move the files {listed} from the folder {source} to the folder {target}.",
        "{listed} are in the folder {source}. Cut them and paste them into {target}.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        source, target, other = draw.words(3, "topics")
        names = [
            f"{stem}.{draw.choice(('txt', 'csv', 'log'))}" for stem in stems(draw, draw.choice((5, 6, 7)))
        ]
        chosen = draw.sample(names, 3)
        folder = draw.choice(PARENTS)
        resident = [f"{draw.word('products')}.txt"]
        content = dict(zip((source, target, other), (names, resident, resident), strict=True))
        return {
            "folder": folder,
            "source": source,
            "target": target,
            "content": {f"{folder}/{name}": files for name, files in content.items()},
            "chosen": chosen,
            "listed": joined(chosen),
            "place": draw.place(*SIZE),
        }

    def changes(self, p: Params) -> Sequence[Change]:
        return [moved(p.chosen, f"{p.folder}/{p.source}", f"{p.folder}/{p.target}")]


class CopyIntoNewFolder(FileManager):
    id = "core/files-copy-into-new-folder-v1"
    skill = "copy"
    family = "moving"
    difficulty = Difficulty.MEDIUM
    instructions = (
        "Make a new folder {new} here and put copies of {first} and {second} into it.",
        "Create a folder called {new} in the open folder, then copy {first} and {second} there. Keep "
        "the originals.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        new, old = draw.words(2, "topics")
        names = messy(draw, draw.choice((5, 6, 7)))
        first, second = draw.sample(names, 2)
        folder = draw.choice(PARENTS)
        which = {"new": new, "first": first, "second": second}
        content = {folder: [f"{old}/", *names]}
        return {"folder": folder, "content": content, **which, "place": draw.place(*SIZE)}

    def changes(self, p: Params) -> Sequence[Change]:
        copies = copied([p.first, p.second], p.folder, f"{p.folder}/{p.new}")
        return [folder_made(p.folder, p.new), copies]


class FolderWithFile(FileManager):
    id = "core/files-folder-with-empty-file-v1"
    skill = "menu"
    family = "making"
    difficulty = Difficulty.MEDIUM
    scope = "names"
    instructions = (
        "Make a folder {new} here, and in it an empty file called {name}.",
        "Create a new folder {new} in the open folder. Then create an empty file {name} inside {new}.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        new, *topics = draw.words(3, "topics")
        folder = draw.choice(PARENTS)
        name = draw.file_name(draw.choice(("txt", "csv", "log")))
        content = {folder: [*(f"{topic}/" for topic in topics), *messy(draw, 3)]}
        return {"folder": folder, "new": new, "name": name, "content": content, "place": draw.place(*SIZE)}

    def changes(self, p: Params) -> Sequence[Change]:
        inside = f"{p.folder}/{p.new}"
        path = f"{inside}/{p.name}"
        empty = FileEquals(path=path, text="", strip=False)
        made = Change(file_goals.file_made(inside, p.name), lambda disk: disk.write(path, ""), [empty])
        return [folder_made(p.folder, p.new), made]


class RenameTwo(FileManager):
    id = "core/files-rename-two-v1"
    skill = "rename"
    family = "naming"
    difficulty = Difficulty.MEDIUM
    instructions = (
        "Rename {old_a} to {new_a} and {old_b} to {new_b}.",
        "Two files have wrong names: {old_a} should be {new_a}, and {old_b} should be {new_b}. Rename both.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        *others, new_a, new_b = stems(draw, draw.choice((6, 7)))
        extension = draw.choice(("txt", "csv"))
        names = [f"{other}.{extension}" for other in others]
        old_a, old_b = draw.sample(names, 2)
        folder = draw.choice(PARENTS)
        olds = {"old_a": old_a, "old_b": old_b}
        news = {"new_a": f"{new_a}.{extension}", "new_b": f"{new_b}.{extension}"}
        return {"folder": folder, "content": {folder: names}, **olds, **news, "place": draw.place(*SIZE)}

    def changes(self, p: Params) -> Sequence[Change]:
        return [renamed(p.folder, p.old_a, p.new_a), renamed(p.folder, p.old_b, p.new_b)]


class Duplicate(FileManager):
    id = "core/files-duplicate-v1"
    skill = "dialog"
    family = "naming"
    difficulty = Difficulty.MEDIUM
    instructions = (
        "Duplicate the file {name} of the folder {inner}: the copy stays in {inner} and is called {new}.",
        "In the folder {inner}, make a copy of {name} under the name {new}.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        folders = draw.words(3, "topics")
        *others, new = stems(draw, draw.choice((4, 5, 6)))
        extension = draw.choice(("txt", "csv"))
        names = [f"{other}.{extension}" for other in others]
        folder = draw.choice(PARENTS)
        content = {f"{folder}/{inner}": names for inner in folders}
        which = {"inner": draw.choice(folders), "name": draw.choice(names), "new": f"{new}.{extension}"}
        return {"folder": folder, "content": content, **which, "place": draw.place(*SIZE)}

    def changes(self, p: Params) -> Sequence[Change]:
        return [duplicated(f"{p.folder}/{p.inner}", p.name, p.new)]


class RenameLargest(FileManager):
    id = "core/files-rename-largest-v1"
    skill = "sort"
    family = "naming"
    difficulty = Difficulty.MEDIUM
    scope = "names"
    instructions = (
        "Sort the files of the folder {inner} by size, the largest first, and rename the largest one "
        "to {new}.",
        "Let the folder {inner} show its largest file first, and rename that file to {new}.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        folders = draw.words(3, "topics")
        *others, new = stems(draw, draw.choice((6, 7, 8)))
        sizes = draw.sample(range(120, 990), len(others))
        names = [f"{other}.txt" for other in others]
        folder = draw.choice(PARENTS)
        inner = draw.choice(folders)
        which = {"inner": inner, "largest": max(zip(sizes, names, strict=True))[1], "new": f"{new}.txt"}
        files = {f"{inner}/{name}": filler(size) for name, size in zip(names, sizes, strict=True)}
        content = {**{f"{folder}/{one}": [] for one in folders}, folder: files}
        return {"folder": folder, "content": content, **which, "place": draw.place(*SIZE)}

    def changes(self, p: Params) -> Sequence[Change]:
        inner = f"{p.folder}/{p.inner}"
        order = Setting(file=SETTINGS, key="sort", equals="size;descending;")
        in_order = Change(file_goals.sorted_by_size(inner), holds=[order])
        return [in_order, renamed(inner, p.largest, p.new)]


class Unhide(FileManager):
    id = "core/files-unhide-v1"
    skill = "keys"
    family = "naming"
    difficulty = Difficulty.MEDIUM
    unseen = True
    instructions = (
        "The folder {inner} has a hidden file .{name}. Let the file manager show hidden files, "
        "rename that one to "
        "{name}, and then let hidden files be hidden again.",
        "Show the hidden files of the folder {inner}, rename .{name} to {name}, and stop showing "
        "hidden files.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        folders = draw.words(3, "topics")
        name, secret, *others = [f"{stem}.txt" for stem in stems(draw, draw.choice((5, 6, 7)))]
        folder = draw.choice(PARENTS)
        content = {f"{folder}/{inner}": [f".{name}", f".{secret}", *others] for inner in folders}
        which = {"inner": draw.choice(folders), "name": name}
        return {"folder": folder, "content": content, **which, "place": draw.place(*SIZE)}

    def changes(self, p: Params) -> Sequence[Change]:
        inner = f"{p.folder}/{p.inner}"
        show, hide = (file_goals.hidden_files_shown(inner, shown) for shown in (True, False))
        hidden = Setting(file=SETTINGS, key="show_hidden", equals=False)
        return [
            Change(show.or_when(lambda view: view.exists(f"{inner}/{p.name}"))),
            renamed(inner, f".{p.name}", p.name),
            Change(hide, holds=[hidden]),
        ]


class CopyBetweenPaths(FileManager):
    id = "core/files-copy-between-paths-v1"
    skill = "keys"
    family = "moving"
    difficulty = Difficulty.MEDIUM
    instructions = (
        "Copy the file {name} from {source} to {target}.",
        "Go to {source} with the location bar, copy {name}, go to {target} and paste it there.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        a, b, *nouns = draw.words(8, "nouns")
        one, two, three = draw.sample(PARENTS, 3)
        resident, *names = [f"{noun}.{draw.choice(('txt', 'csv', 'log'))}" for noun in nouns]
        from_folder, to_folder = f"{one}/{a}", f"{two}/{b}"
        return {
            "folder": three,
            "from_folder": from_folder,
            "to_folder": to_folder,
            "source": f"{HOME}/{from_folder}",
            "target": f"{HOME}/{to_folder}",
            "content": {from_folder: names, to_folder: [resident], three: names},
            "name": draw.choice(names),
            "place": draw.place(*SIZE),
        }

    def changes(self, p: Params) -> Sequence[Change]:
        return [copied([p.name], p.from_folder, p.to_folder, by_path=True), kept(p.from_folder)]


TEMPLATES: tuple[type[Template], ...] = (
    MoveThree,
    CopyIntoNewFolder,
    FolderWithFile,
    RenameTwo,
    Duplicate,
    RenameLargest,
    Unhide,
    CopyBetweenPaths,
)
