"""PCManFM, short chores: open, rename, trash, make, drag, go somewhere, look something up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from operant.apps.pcmanfm import file_goals
from operant.apps.view import HOME
from operant.tasks.changes import Change, answered
from operant.tasks.criteria import WindowTitle
from operant.tasks.draw import Draw
from operant.tasks.suites.core.files_changes import (
    PARENTS,
    SIZE,
    FileManager,
    dragged,
    filler,
    folder_made,
    folder_shown,
    messy,
    renamed,
    trashed,
)
from operant.tasks.template import Params, Template
from operant.types import Difficulty

__all__ = ["TEMPLATES"]


class OpenFolder(FileManager):
    id = "core/files-open-folder-v1"
    skill = "navigate"
    family = "folders"
    difficulty = Difficulty.EASY
    view_mode = "icon"
    instructions = (
        "Open the folder {name}.",
        "Go into the folder {name} with the file manager.",
        "Let the file manager show what is in {name}.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        names = draw.words(draw.choice((4, 5, 6, 7)), "nouns")
        folder = draw.choice(PARENTS)
        content = {f"{folder}/{name}": [f"about-{name}.txt"] for name in names}
        return {"folder": folder, "content": content, "name": draw.choice(names), "place": draw.place(*SIZE)}

    def changes(self, p: Params) -> Sequence[Change]:
        return [folder_shown(f"{p.folder}/{p.name}")]


class RenameFile(FileManager):
    id = "core/files-rename-v1"
    skill = "rename"
    family = "naming"
    difficulty = Difficulty.EASY
    instructions = (
        "Rename the file {old} to {new}.",
        "The file {old} should be called {new}. Rename it.",
        "Give {old} the name {new}.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        *others, new = draw.words(draw.choice((4, 5, 6)), "nouns")
        extension = draw.choice(("txt", "csv", "log"))
        names = [f"{other}.{extension}" for other in others]
        folder = draw.choice(PARENTS)
        which = {"old": draw.choice(names), "new": f"{new}.{extension}"}
        return {"folder": folder, "content": {folder: names}, **which, "place": draw.place(*SIZE)}

    def changes(self, p: Params) -> Sequence[Change]:
        return [renamed(p.folder, p.old, p.new)]


class TrashFile(FileManager):
    id = "core/files-trash-v1"
    skill = "dialog"
    family = "cleaning"
    difficulty = Difficulty.EASY
    view_mode = "icon"
    instructions = (
        "Move the file {name} to the trash.",
        "{name} is not needed any more: move it to the trash.",
        "Put {name} into the trash can.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        names = messy(draw, draw.choice((4, 5, 6, 7)))
        folder, name = draw.choice(PARENTS), draw.choice(names)
        return {"folder": folder, "content": {folder: names}, "name": name, "place": draw.place(*SIZE)}

    def changes(self, p: Params) -> Sequence[Change]:
        return [trashed(p.folder, p.name)]


class NewFolder(FileManager):
    id = "core/files-new-folder-v1"
    skill = "type"
    family = "making"
    difficulty = Difficulty.EASY
    view_mode = "icon"
    scope = "names"
    instructions = (
        "Make a new folder called {name} here.",
        "Create a folder named {name} in the folder that is open.",
        "A folder {name} is missing here. Make it.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        name, *topics = draw.words(4, "topics")
        folder = draw.choice(PARENTS)
        names = [*(f"{topic}/" for topic in topics), *messy(draw, 3)]
        return {"folder": folder, "content": {folder: names}, "name": name, "place": draw.place(*SIZE)}

    def changes(self, p: Params) -> Sequence[Change]:
        return [folder_made(p.folder, p.name)]


class GoToPath(FileManager):
    id = "core/files-go-to-path-v1"
    skill = "keys"
    gui_only = True
    family = "folders"
    difficulty = Difficulty.EASY
    instructions = (
        "Go to the folder {path} by typing its path into the location bar.",
        "Let the file manager show {path}.",
        "Open {path} in the file manager.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        middle, *ends = draw.words(4, "nouns")
        folder, other = draw.sample(PARENTS, 2)
        files = messy(draw, 3)
        deep = {f"{other}/{middle}/{end}": files[:2] for end in ends}
        target = f"{other}/{middle}/{ends[0]}"
        which = {"target": target, "path": f"{HOME}/{target}"}
        return {"folder": folder, "content": {folder: files, **deep}, **which, "place": draw.place(*SIZE)}

    def changes(self, p: Params) -> Sequence[Change]:
        return [folder_shown(p.target, by_path=True)]


class DragIntoFolder(FileManager):
    id = "core/files-drag-into-folder-v1"
    skill = "drag"
    gui_only = True
    family = "moving"
    difficulty = Difficulty.EASY
    view_mode = "icon"
    instructions = (
        "Drag the file {name} into the folder {into}.",
        "Move {name} into the folder {into}.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        folders = draw.words(draw.choice((2, 3)), "topics")
        names = messy(draw, draw.choice((3, 4, 5)))
        folder = draw.choice(PARENTS)
        content = {folder: [*(f"{name}/" for name in folders), *names]}
        which = {"into": draw.choice(folders), "name": draw.choice(names)}
        return {"folder": folder, "content": content, **which, "place": draw.place(*SIZE)}

    def changes(self, p: Params) -> Sequence[Change]:
        return [dragged(p.folder, p.name, p.into)]


class OpenText(FileManager):
    id = "core/files-open-text-v1"
    apps = ("pcmanfm", "mousepad")
    skill = "click"
    family = "opening"
    difficulty = Difficulty.EASY
    instructions = (
        "Open the text file {name} in the folder {inner}.",
        "There is a text {name} in the folder {inner}. Open it with its application.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        folders = draw.words(draw.choice((3, 4)), "topics")
        names = [f"{noun}.txt" for noun in draw.words(draw.choice((3, 4, 5)), "nouns")]
        folder = draw.choice(PARENTS)
        content = {f"{folder}/{inner}": names for inner in folders}
        which = {"inner": draw.choice(folders), "name": draw.choice(names)}
        return {"folder": folder, "content": content, **which, "place": draw.place(*SIZE)}

    def changes(self, p: Params) -> Sequence[Change]:
        inner = f"{p.folder}/{p.inner}"
        title = f"~/{inner}/{p.name} - Mousepad"
        shown = WindowTitle(title=title, wm_class="Mousepad", exact=True)
        return [Change(file_goals.opened_with(inner, p.name, title, "mousepad"), holds=[shown])]


class ReportSize(FileManager):
    id = "core/files-report-size-v1"
    skill = "read"
    family = "looking up"
    difficulty = Difficulty.EASY
    unseen = True
    view_mode = "icon"
    instructions = (
        "How many bytes does the file {name} have? Answer with the number.",
        "Report the size of {name} in bytes.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        names = messy(draw, draw.choice((4, 5, 6)), ("txt", "csv"))
        sizes = draw.numbers(len(names), 120, 990)
        chosen = draw.choice(range(len(names)))
        folder = draw.choice(PARENTS)
        content = {folder: {name: filler(size) for name, size in zip(names, sizes, strict=True)}}
        which = {"name": names[chosen], "size": sizes[chosen]}
        return {"folder": folder, "content": content, **which, "place": draw.place(*SIZE)}

    def changes(self, p: Params) -> Sequence[Change]:
        look = file_goals.properties_shown(p.folder, p.name)
        return [Change(look), answered(str(p.size), numeric=True)]


TEMPLATES: tuple[type[Template], ...] = (
    OpenFolder,
    RenameFile,
    TrashFile,
    NewFolder,
    GoToPath,
    DragIntoFolder,
    OpenText,
    ReportSize,
)
