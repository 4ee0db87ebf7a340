"""PCManFM, longer chores: copy and move between folders, make, rename, duplicate, and find by looking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from operant.apps.view import View
from operant.tasks.criteria import AllOf, Criterion, DirectoryContains, FileEquals, Setting
from operant.tasks.draw import Draw
from operant.tasks.oracle import Oracle
from operant.tasks.setup import MakeDirectory, SetupStep, WriteFile
from operant.tasks.suites.core.files import messy, path_entered
from operant.tasks.suites.core.files_view import (
    HOME,
    PARENTS,
    SETTINGS,
    SIZE,
    FileManager,
    Goal,
    Goals,
    choose,
    clear_way,
    copied,
    copy_waits,
    exists,
    file_made,
    files_in,
    fill,
    folder_made,
    holds,
    joined,
    leave_location_bar,
    moved,
    press,
    renamed,
    stems,
    steps,
    toggled,
    visit,
)
from operant.tasks.template import Params, Template
from operant.types import Action, Difficulty

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
        return {
            "folder": draw.choice(PARENTS),
            "source": source,
            "target": target,
            "other": other,
            "names": names,
            "chosen": chosen,
            "listed": joined(chosen),
            "resident": f"{draw.word('products')}.txt",
            "place": draw.place(*SIZE),
        }

    def content(self, p: Params) -> Sequence[SetupStep]:
        return [
            *files_in(f"{p.folder}/{p.source}", p.names),
            *files_in(f"{p.folder}/{p.target}", [p.resident]),
            *files_in(f"{p.folder}/{p.other}", [p.resident]),
        ]

    def success(self, p: Params) -> Criterion:
        left = [name for name in p.names if name not in p.chosen]
        there = [p.resident, *p.chosen]
        return AllOf(of=(holds(f"{p.folder}/{p.source}", left), holds(f"{p.folder}/{p.target}", there)))

    def oracle(self, p: Params) -> Oracle:
        return Goals([moved(p.chosen, f"{p.folder}/{p.source}", f"{p.folder}/{p.target}")])


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
        return {
            "folder": draw.choice(PARENTS),
            "new": new,
            "old": old,
            "names": names,
            "first": first,
            "second": second,
            "place": draw.place(*SIZE),
        }

    def content(self, p: Params) -> Sequence[SetupStep]:
        return files_in(p.folder, [f"{p.old}/", *p.names])

    def success(self, p: Params) -> Criterion:
        whole = holds(p.folder, [f"{p.old}/", f"{p.new}/", *p.names])
        return AllOf(of=(whole, holds(f"{p.folder}/{p.new}", [p.first, p.second])))

    def oracle(self, p: Params) -> Oracle:
        target = f"{p.folder}/{p.new}"
        return Goals([folder_made(p.folder, p.new), copied([p.first, p.second], p.folder, target)])


class FolderWithFile(FileManager):
    id = "core/files-folder-with-empty-file-v1"
    skill = "menu"
    family = "making"
    difficulty = Difficulty.MEDIUM
    instructions = (
        "Make a folder {new} here, and in it an empty file called {name}.",
        "Create a new folder {new} in the open folder. Then create an empty file {name} inside {new}.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        new, *topics = draw.words(3, "topics")
        return {
            "folder": draw.choice(PARENTS),
            "new": new,
            "topics": topics,
            "name": draw.file_name(draw.choice(("txt", "csv", "log"))),
            "names": messy(draw, 3),
            "place": draw.place(*SIZE),
        }

    def content(self, p: Params) -> Sequence[SetupStep]:
        return files_in(p.folder, [*(f"{topic}/" for topic in p.topics), *p.names])

    def success(self, p: Params) -> Criterion:
        names = (f"{p.new}/", *(f"{topic}/" for topic in p.topics), *p.names)
        inside = f"{p.folder}/{p.new}"
        return AllOf(
            of=(
                DirectoryContains(path=p.folder, names=names, exactly=True),
                DirectoryContains(path=inside, names=(p.name,), exactly=True),
                FileEquals(path=f"{inside}/{p.name}", text="", strip=False),
            )
        )

    def oracle(self, p: Params) -> Oracle:
        return Goals([folder_made(p.folder, p.new), file_made(f"{p.folder}/{p.new}", p.name)])


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
        return {
            "folder": draw.choice(PARENTS),
            "names": names,
            "old_a": old_a,
            "old_b": old_b,
            "new_a": f"{new_a}.{extension}",
            "new_b": f"{new_b}.{extension}",
            "place": draw.place(*SIZE),
        }

    def content(self, p: Params) -> Sequence[SetupStep]:
        return files_in(p.folder, p.names)

    def success(self, p: Params) -> Criterion:
        changed = {p.old_a: p.new_a, p.old_b: p.new_b}
        names = [changed.get(name, name) for name in p.names]
        return holds(p.folder, names, {p.new_a: p.old_a, p.new_b: p.old_b})

    def oracle(self, p: Params) -> Oracle:
        return Goals([renamed(p.folder, p.old_a, p.new_a), renamed(p.folder, p.old_b, p.new_b)])


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
        return {
            "folder": draw.choice(PARENTS),
            "folders": folders,
            "inner": draw.choice(folders),
            "names": names,
            "name": draw.choice(names),
            "new": f"{new}.{extension}",
            "place": draw.place(*SIZE),
        }

    def content(self, p: Params) -> Sequence[SetupStep]:
        return [step for name in p.folders for step in files_in(f"{p.folder}/{name}", p.names)]

    def success(self, p: Params) -> Criterion:
        return holds(f"{p.folder}/{p.inner}", [*p.names, p.new], {p.new: p.name})

    def oracle(self, p: Params) -> Oracle:
        inner = f"{p.folder}/{p.inner}"
        paste = Action.key("ctrl", "v")

        def progress(view: View) -> Action | None:
            if view.last == paste:
                return Action.wait()
            if copy_waits(view, inner, [p.name]):
                return visit(inner)(view) or paste
            return visit(inner)(view) or choose(p.name)(view) or press("ctrl", "c")(view)

        name_it = fill("Confirm File Replacing", p.new, "Rename")
        return Goals(
            [Goal(lambda view: exists(view, f"{inner}/{p.new}"), steps(name_it, clear_way, progress))]
        )


class RenameLargest(FileManager):
    id = "core/files-rename-largest-v1"
    skill = "sort"
    family = "naming"
    difficulty = Difficulty.MEDIUM
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
        return {
            "folder": draw.choice(PARENTS),
            "folders": folders,
            "inner": draw.choice(folders),
            "sizes": dict(zip(names, sizes, strict=True)),
            "largest": max(zip(sizes, names, strict=True))[1],
            "new": f"{new}.txt",
            "place": draw.place(*SIZE),
        }

    def content(self, p: Params) -> Sequence[SetupStep]:
        folders: list[SetupStep] = [MakeDirectory(path=f"{p.folder}/{name}") for name in p.folders]
        return [
            *folders,
            *(WriteFile(path=f"{p.folder}/{p.inner}/{n}", text=self.text(s)) for n, s in p.sizes.items()),
        ]

    @staticmethod
    def text(size: int) -> str:
        return ("lorem ipsum " * 99)[: size - 1] + "\n"

    def success(self, p: Params) -> Criterion:
        inner = f"{p.folder}/{p.inner}"
        names = [p.new if name == p.largest else name for name in p.sizes]
        return AllOf(
            of=(
                DirectoryContains(path=inner, names=tuple(names), exactly=True),
                FileEquals(path=f"{inner}/{p.new}", text=self.text(p.sizes[p.largest])),
                Setting(file=SETTINGS, key="sort", equals="size;descending;"),
            )
        )

    def oracle(self, p: Params) -> Oracle:
        inner = f"{p.folder}/{p.inner}"

        def click_header(view: View) -> Action:
            header = view.widget("table column header", "Size", app="pcmanfm")
            return Action.wait() if header is None else view.click(header)

        in_order = Goal(
            lambda view: "sort=size;descending;" in (view.read(SETTINGS) or ""),
            steps(clear_way, visit(inner), click_header),
        )
        return Goals([in_order, renamed(inner, p.largest, p.new)])


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
        return {
            "folder": draw.choice(PARENTS),
            "folders": folders,
            "inner": draw.choice(folders),
            "name": name,
            "names": [f".{secret}", *others],
            "place": draw.place(*SIZE),
        }

    def content(self, p: Params) -> Sequence[SetupStep]:
        return [
            step for name in p.folders for step in files_in(f"{p.folder}/{name}", [f".{p.name}", *p.names])
        ]

    def success(self, p: Params) -> Criterion:
        inner = holds(f"{p.folder}/{p.inner}", [p.name, *p.names], {p.name: f".{p.name}"})
        return AllOf(of=(inner, Setting(file=SETTINGS, key="show_hidden", equals=False)))

    def oracle(self, p: Params) -> Oracle:
        inner = f"{p.folder}/{p.inner}"

        def hidden(view: View) -> bool:
            return "show_hidden=0" in (view.read(SETTINGS) or "show_hidden=0")

        def named(view: View) -> bool:
            return exists(view, f"{inner}/{p.name}")

        return Goals(
            [
                toggled(inner, lambda view: named(view) or not hidden(view), "ctrl", "h"),
                renamed(inner, f".{p.name}", p.name),
                toggled(inner, hidden, "ctrl", "h"),
            ]
        )


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
        names = [f"{noun}.{draw.choice(('txt', 'csv', 'log'))}" for noun in nouns]
        return {
            "folder": three,
            "from_folder": f"{one}/{a}",
            "to_folder": f"{two}/{b}",
            "source": f"{HOME}/{one}/{a}",
            "target": f"{HOME}/{two}/{b}",
            "names": names[1:],
            "resident": names[0],
            "name": draw.choice(names[1:]),
            "place": draw.place(*SIZE),
        }

    def content(self, p: Params) -> Sequence[SetupStep]:
        return [
            *files_in(p.from_folder, p.names),
            *files_in(p.to_folder, [p.resident]),
            *files_in(p.folder, p.names),
        ]

    def success(self, p: Params) -> Criterion:
        return AllOf(of=(holds(p.from_folder, p.names), holds(p.to_folder, [p.resident, p.name])))

    def oracle(self, p: Params) -> Oracle:
        paste = Action.key("ctrl", "v")

        def progress(view: View) -> Action | None:
            if view.last == paste:
                return Action.wait()
            copying = copy_waits(view, p.from_folder, [p.name])
            arrived = path_entered(p.target if copying else p.source)
            if not arrived.done(view):
                return arrived.act(view)
            if copying:
                return leave_location_bar(view) or paste
            return choose(p.name)(view) or press("ctrl", "c")(view)

        done = Goal(lambda view: exists(view, f"{p.to_folder}/{p.name}"), steps(clear_way, progress))
        return Goals([done])


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
