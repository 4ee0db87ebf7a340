"""PCManFM, short chores: open, rename, trash, make, drag, go somewhere, look something up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from operant.apps.view import View
from operant.tasks.criteria import AllOf, Answer, Criterion, DirectoryContains, FileEquals, WindowTitle
from operant.tasks.draw import Draw
from operant.tasks.oracle import Oracle
from operant.tasks.setup import SetupStep, WriteFile
from operant.tasks.suites.core.files_view import (
    HOME,
    PARENTS,
    SIZE,
    TRASH,
    FileManager,
    Goal,
    Goals,
    answer,
    clear_way,
    dialog,
    dragged,
    files_in,
    folder_made,
    folder_shown,
    here,
    holds,
    items,
    menu,
    once,
    opened_with,
    renamed,
    says_name,
    steps,
    trashed,
    visit,
)
from operant.tasks.template import Params, Template
from operant.types import Action, Button, Difficulty

__all__ = ["TEMPLATES"]


def messy(draw: Draw, count: int, extensions: Sequence[str] = ("txt", "png", "csv")) -> list[str]:
    """Names of files of mixed kinds."""
    return [f"{noun}.{draw.choice(extensions)}" for noun in draw.words(count, "nouns")]


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
        return {
            "folder": draw.choice(PARENTS),
            "names": names,
            "name": draw.choice(names),
            "place": draw.place(*SIZE),
        }

    def content(self, p: Params) -> Sequence[SetupStep]:
        return [step for name in p.names for step in files_in(f"{p.folder}/{name}", [f"about-{name}.txt"])]

    def success(self, p: Params) -> Criterion:
        return WindowTitle(title=p.name, wm_class="Pcmanfm", exact=True)

    def oracle(self, p: Params) -> Oracle:
        return Goals([folder_shown(f"{p.folder}/{p.name}")])


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
        return {
            "folder": draw.choice(PARENTS),
            "names": names,
            "old": draw.choice(names),
            "new": f"{new}.{extension}",
            "place": draw.place(*SIZE),
        }

    def content(self, p: Params) -> Sequence[SetupStep]:
        return files_in(p.folder, p.names)

    def success(self, p: Params) -> Criterion:
        names = [p.new if name == p.old else name for name in p.names]
        return holds(p.folder, names, {p.new: p.old})

    def oracle(self, p: Params) -> Oracle:
        return Goals([renamed(p.folder, p.old, p.new)])


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
        return {
            "folder": draw.choice(PARENTS),
            "names": names,
            "name": draw.choice(names),
            "place": draw.place(*SIZE),
        }

    def content(self, p: Params) -> Sequence[SetupStep]:
        return files_in(p.folder, p.names)

    def success(self, p: Params) -> Criterion:
        kept = holds(p.folder, [name for name in p.names if name != p.name])
        return AllOf(of=(kept, FileEquals(path=f"{TRASH}/{p.name}", text=says_name(p.name))))

    def oracle(self, p: Params) -> Oracle:
        return Goals([trashed(p.folder, p.name)])


class NewFolder(FileManager):
    id = "core/files-new-folder-v1"
    skill = "type"
    family = "making"
    difficulty = Difficulty.EASY
    view_mode = "icon"
    instructions = (
        "Make a new folder called {name} here.",
        "Create a folder named {name} in the folder that is open.",
        "A folder {name} is missing here. Make it.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        name, *topics = draw.words(4, "topics")
        return {
            "folder": draw.choice(PARENTS),
            "name": name,
            "names": [*(f"{topic}/" for topic in topics), *messy(draw, 3)],
            "place": draw.place(*SIZE),
        }

    def content(self, p: Params) -> Sequence[SetupStep]:
        return files_in(p.folder, p.names)

    def success(self, p: Params) -> Criterion:
        return DirectoryContains(path=p.folder, names=(*p.names, f"{p.name}/"), exactly=True)

    def oracle(self, p: Params) -> Oracle:
        return Goals([folder_made(p.folder, p.name)])


class GoToPath(FileManager):
    id = "core/files-go-to-path-v1"
    skill = "keys"
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
        return {
            "folder": folder,
            "other": other,
            "below": [f"{middle}/{end}" for end in ends],
            "name": ends[0],
            "path": f"{HOME}/{other}/{middle}/{ends[0]}",
            "files": messy(draw, 3),
            "place": draw.place(*SIZE),
        }

    def content(self, p: Params) -> Sequence[SetupStep]:
        deep = [step for below in p.below for step in files_in(f"{p.other}/{below}", p.files[:2])]
        return [*files_in(p.folder, p.files), *deep]

    def success(self, p: Params) -> Criterion:
        return WindowTitle(title=p.name, wm_class="Pcmanfm", exact=True)

    def oracle(self, p: Params) -> Oracle:
        return Goals([path_entered(p.path)])


def path_entered(path: str) -> Goal:
    """The location bar leads to a folder."""
    name = path.rpartition("/")[2]
    bar = Action.key("ctrl", "l")
    entry = Action.type(path + "\n")

    def type_path(view: View) -> Action:
        if view.last == entry:
            return Action.wait()
        return entry if view.last == bar else bar

    def done(view: View) -> bool:
        window = view.window(wm_class="Pcmanfm")
        return window is not None and window.title == name and here(view) == path

    return Goal(done, steps(clear_way, type_path))


class DragIntoFolder(FileManager):
    id = "core/files-drag-into-folder-v1"
    skill = "drag"
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
        return {
            "folder": draw.choice(PARENTS),
            "folders": folders,
            "into": draw.choice(folders),
            "names": names,
            "name": draw.choice(names),
            "place": draw.place(*SIZE),
        }

    def content(self, p: Params) -> Sequence[SetupStep]:
        return files_in(p.folder, [*(f"{name}/" for name in p.folders), *p.names])

    def success(self, p: Params) -> Criterion:
        left = [name for name in p.names if name != p.name]
        folders = [f"{name}/" for name in p.folders]
        return AllOf(of=(holds(p.folder, [*folders, *left]), holds(f"{p.folder}/{p.into}", [p.name])))

    def oracle(self, p: Params) -> Oracle:
        return Goals([dragged(p.folder, [p.name], p.into)])


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
        return {
            "folder": draw.choice(PARENTS),
            "folders": folders,
            "inner": draw.choice(folders),
            "names": names,
            "name": draw.choice(names),
            "place": draw.place(*SIZE),
        }

    def content(self, p: Params) -> Sequence[SetupStep]:
        return [step for name in p.folders for step in files_in(f"{p.folder}/{name}", p.names)]

    def success(self, p: Params) -> Criterion:
        return WindowTitle(title=self.title(p), wm_class="Mousepad", exact=True)

    def oracle(self, p: Params) -> Oracle:
        return Goals([opened_with(f"{p.folder}/{p.inner}", p.name, self.title(p), "mousepad")])

    @staticmethod
    def title(p: Params) -> str:
        return f"~/{p.folder}/{p.inner}/{p.name} - Mousepad"


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
        return {
            "folder": draw.choice(PARENTS),
            "sizes": dict(zip(names, sizes, strict=True)),
            "name": names[chosen],
            "size": sizes[chosen],
            "place": draw.place(*SIZE),
        }

    def content(self, p: Params) -> Sequence[SetupStep]:
        return [
            WriteFile(path=f"{p.folder}/{name}", text=("lorem ipsum " * 99)[: size - 1] + "\n")
            for name, size in p.sizes.items()
        ]

    def success(self, p: Params) -> Criterion:
        return Answer(text=str(p.size), numeric=True)

    def oracle(self, p: Params) -> Oracle:
        def open_menu(view: View) -> Action:
            item = items(view).get(p.name)
            return Action.wait() if item is None else once(view, view.click(item, button=Button.RIGHT))

        def choose_properties(view: View) -> Action | None:
            shown = menu(view)
            entry = shown.find("menu item", "Properties") if shown is not None else None
            return None if entry is None else view.click(entry)

        def shown(view: View) -> bool:
            properties = dialog(view, "File Properties")
            field = properties.find("text") if properties is not None else None
            return field is not None and field.text == p.name

        def finish(view: View) -> Action:
            return answer(str(p.size))

        read = Goal(lambda view: False, finish)
        look = Goal(shown, steps(choose_properties, clear_way, visit(p.folder), open_menu))
        return Goals([look, read])


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
