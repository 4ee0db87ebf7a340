"""PCManFM, long chores: sort a folder out, make a tree of folders, restore, collect, rename in series."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from operant.apps.view import View
from operant.tasks.criteria import AllOf, Criterion, DirectoryContains, FileEquals, FileNotExists
from operant.tasks.draw import Draw
from operant.tasks.oracle import Oracle
from operant.tasks.setup import SetupStep, WriteFile
from operant.tasks.suites.core.files import messy
from operant.tasks.suites.core.files_view import (
    PARENTS,
    SIZE,
    TRASH,
    FileManager,
    Goal,
    Goals,
    copied,
    exists,
    files_in,
    folder_made,
    holds,
    joined,
    moved,
    renamed,
    says_name,
    stems,
    trashed,
)
from operant.tasks.template import Params, Template
from operant.types import Difficulty

__all__ = ["TEMPLATES"]


class SortByKind(FileManager):
    id = "core/files-sort-by-kind-v1"
    skill = "sort"
    family = "sorting"
    difficulty = Difficulty.HARD
    instructions = (
        "Sort this folder out: make a folder {pictures} and a folder {texts}, move all .png files "
        "into {pictures} and all "
        ".txt files into {texts}, and leave the other files where they are.",
        "Make a new folder {pictures} here and another one, {texts}. Put every .png file into "
        "{pictures} and every .txt file "
        "into {texts}. Nothing else may be moved.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        pictures, texts = draw.words(2, "topics")
        kinds = ["png"] * 3 + ["txt"] * draw.choice((3, 4)) + ["csv"] * draw.choice((1, 2))
        nouns = draw.words(len(kinds), "nouns")
        return {
            "folder": draw.choice(PARENTS),
            "pictures": pictures,
            "texts": texts,
            "names": [f"{noun}.{kind}" for noun, kind in zip(nouns, kinds, strict=True)],
            "place": draw.place(*SIZE),
        }

    def content(self, p: Params) -> Sequence[SetupStep]:
        return files_in(p.folder, p.names)

    def success(self, p: Params) -> Criterion:
        return AllOf(
            of=(
                holds(p.folder, [f"{p.pictures}/", f"{p.texts}/", *self.kind(p, "csv")]),
                holds(f"{p.folder}/{p.pictures}", self.kind(p, "png")),
                holds(f"{p.folder}/{p.texts}", self.kind(p, "txt")),
            )
        )

    def oracle(self, p: Params) -> Oracle:
        return Goals(
            [
                folder_made(p.folder, p.pictures),
                folder_made(p.folder, p.texts),
                moved(self.kind(p, "png"), p.folder, f"{p.folder}/{p.pictures}"),
                moved(self.kind(p, "txt"), p.folder, f"{p.folder}/{p.texts}"),
            ]
        )

    @staticmethod
    def kind(p: Params, extension: str) -> list[str]:
        return [name for name in p.names if name.endswith(f".{extension}")]


class FolderTree(FileManager):
    id = "core/files-folder-tree-v1"
    skill = "navigate"
    family = "making"
    difficulty = Difficulty.HARD
    instructions = (
        "Make a folder {top} here, in it a folder {a} and a folder {b}, and in {b} a folder {c} and "
        "a folder {d}.",
        "Create a folder {top}. Inside it create {a} and {b}. Inside {b} create {c} and {d}.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        a, b, c, d = draw.words(4, "nouns")
        top, *topics = draw.words(3, "topics")
        return {
            "folder": draw.choice(PARENTS),
            "top": top,
            "a": a,
            "b": b,
            "c": c,
            "d": d,
            "topics": topics,
            "place": draw.place(*SIZE),
        }

    def content(self, p: Params) -> Sequence[SetupStep]:
        return files_in(p.folder, [f"{topic}/" for topic in p.topics])

    def success(self, p: Params) -> Criterion:
        top = f"{p.folder}/{p.top}"
        here = (f"{p.top}/", *(f"{topic}/" for topic in p.topics))
        return AllOf(
            of=(
                DirectoryContains(path=p.folder, names=here, exactly=True),
                DirectoryContains(path=top, names=(f"{p.a}/", f"{p.b}/"), exactly=True),
                DirectoryContains(path=f"{top}/{p.b}", names=(f"{p.c}/", f"{p.d}/"), exactly=True),
            )
        )

    def oracle(self, p: Params) -> Oracle:
        top = f"{p.folder}/{p.top}"
        makes = [(p.folder, p.top), (top, p.a), (top, p.b), (f"{top}/{p.b}", p.c), (f"{top}/{p.b}", p.d)]
        return Goals([folder_made(folder, name) for folder, name in makes])


class RenameSeries(FileManager):
    id = "core/files-rename-series-v1"
    skill = "rename"
    family = "naming"
    difficulty = Difficulty.HARD
    instructions = (
        "In the folder {inner}, rename four files: {pairs}.",
        "The files of {inner} get new names. Rename {pairs}.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        inner, other = draw.words(2, "topics")
        nouns = draw.words(9, "nouns")
        extension = draw.choice(("txt", "csv", "log"))
        names = [f"{noun}.{extension}" for noun in nouns[:5]]
        changed = {
            old: f"{new}.{extension}" for old, new in zip(draw.sample(names, 4), nouns[5:], strict=True)
        }
        return {
            "folder": draw.choice(PARENTS),
            "inner": inner,
            "other": other,
            "names": names,
            "changed": changed,
            "pairs": joined([f"{old} to {new}" for old, new in changed.items()]),
            "place": draw.place(*SIZE),
        }

    def content(self, p: Params) -> Sequence[SetupStep]:
        inner, other = f"{p.folder}/{p.inner}", f"{p.folder}/{p.other}"
        return [*files_in(inner, p.names), *files_in(other, p.names)]

    def success(self, p: Params) -> Criterion:
        before = {new: old for old, new in p.changed.items()}
        names = [p.changed.get(name, name) for name in p.names]
        untouched = holds(f"{p.folder}/{p.other}", p.names)
        return AllOf(of=(holds(f"{p.folder}/{p.inner}", names, before), untouched))

    def oracle(self, p: Params) -> Oracle:
        return Goals([renamed(f"{p.folder}/{p.inner}", old, new) for old, new in p.changed.items()])


class CleanUp(FileManager):
    id = "core/files-clean-up-v1"
    skill = "sort"
    family = "cleaning"
    difficulty = Difficulty.HARD
    instructions = (
        "Tidy this folder up: move {junk_a} and {junk_b} to the trash, make a folder {new} and move "
        "{keep_a} and "
        "{keep_b} into it, and rename {old} to {name}.",
        "Three things to do here. Put {junk_a} and {junk_b} into the trash. Move {keep_a} and "
        "{keep_b} into a new "
        "folder called {new}. Rename {old} to {name}.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        new, topic = draw.words(2, "topics")
        names = messy(draw, draw.choice((7, 8)))
        junk_a, junk_b, keep_a, keep_b, old = draw.sample(names, 5)
        return {
            "folder": draw.choice(PARENTS),
            "new": new,
            "topic": topic,
            "names": names,
            "junk_a": junk_a,
            "junk_b": junk_b,
            "keep_a": keep_a,
            "keep_b": keep_b,
            "old": old,
            "name": f"{draw.word('products')}.{old.rpartition('.')[2]}",
            "place": draw.place(*SIZE),
        }

    def content(self, p: Params) -> Sequence[SetupStep]:
        return files_in(p.folder, [f"{p.topic}/", *p.names])

    def success(self, p: Params) -> Criterion:
        gone = {p.junk_a, p.junk_b, p.keep_a, p.keep_b, p.old}
        left = [f"{p.topic}/", f"{p.new}/", p.name, *(name for name in p.names if name not in gone)]
        return AllOf(
            of=(
                holds(p.folder, left, {p.name: p.old}),
                holds(f"{p.folder}/{p.new}", [p.keep_a, p.keep_b]),
                holds(TRASH, [p.junk_a, p.junk_b]),
            )
        )

    def oracle(self, p: Params) -> Oracle:
        return Goals(
            [
                trashed(p.folder, p.junk_a, p.junk_b),
                folder_made(p.folder, p.new),
                moved([p.keep_a, p.keep_b], p.folder, f"{p.folder}/{p.new}"),
                renamed(p.folder, p.old, p.name),
            ]
        )


class Restore(FileManager):
    id = "core/files-restore-v1"
    skill = "copy"
    family = "moving"
    difficulty = Difficulty.HARD
    unseen = True
    instructions = (
        "Restore {a} and {b}: copy them from the folder {backup} into {live} over the broken ones. "
        "Then move the folder "
        "{backup} to the trash and rename {live} to {new}.",
        "The files {a} and {b} in the folder {live} are broken. Overwrite them with those of the "
        "folder {backup}. After "
        "that, {backup} goes to the trash, and {live} gets the name {new}.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        live, backup, new = draw.words(3, "topics")
        names = [f"{noun}.txt" for noun in draw.words(draw.choice((4, 5)), "nouns")]
        a, b = draw.sample(names, 2)
        return {
            "folder": draw.choice(PARENTS),
            "live": live,
            "backup": backup,
            "new": new,
            "names": names,
            "a": a,
            "b": b,
            "place": draw.place(*SIZE),
        }

    def content(self, p: Params) -> Sequence[SetupStep]:
        live = [WriteFile(path=f"{p.folder}/{p.live}/{name}", text=self.text(p, name)) for name in p.names]
        return [*files_in(f"{p.folder}/{p.backup}", p.names), *live]

    @staticmethod
    def text(p: Params, name: str) -> str:
        """What a file says before it is restored; the others are newer than their backups."""
        return f"%% {name} is broken\n" if name in (p.a, p.b) else f"{name} of today\n"

    def success(self, p: Params) -> Criterion:
        new = f"{p.folder}/{p.new}"
        others = [name for name in p.names if name not in (p.a, p.b)]
        return AllOf(
            of=(
                DirectoryContains(path=p.folder, names=(f"{p.new}/",), exactly=True),
                DirectoryContains(path=new, names=tuple(p.names), exactly=True),
                *(FileEquals(path=f"{new}/{name}", text=says_name(name)) for name in (p.a, p.b)),
                *(FileEquals(path=f"{new}/{name}", text=self.text(p, name)) for name in others),
                holds(f"{TRASH}/{p.backup}", p.names),
                FileNotExists(path=f"{p.folder}/{p.live}"),
            )
        )

    def oracle(self, p: Params) -> Oracle:
        live, backup = f"{p.folder}/{p.live}", f"{p.folder}/{p.backup}"
        copying = copied([p.a, p.b], backup, live, replace=True)

        def restored(view: View) -> bool:
            return not exists(view, backup) or not exists(view, live) or copying.done(view)

        return Goals(
            [Goal(restored, copying.act), trashed(p.folder, p.backup), renamed(p.folder, p.live, p.new)]
        )


class Collect(FileManager):
    id = "core/files-collect-v1"
    skill = "navigate"
    family = "sorting"
    difficulty = Difficulty.HARD
    instructions = (
        "Bring three files together in the folder {target}: move {file_a} there from the folder {a}, "
        "{file_b} from "
        "{b} and {file_c} from {c}.",
        "Move {file_a} (in the folder {a}), {file_b} (in {b}) and {file_c} (in {c}) into the folder "
        "{target}.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        target, a, b, c = draw.words(4, "topics")
        names = [f"{stem}.{draw.choice(('txt', 'csv'))}" for stem in stems(draw, 9)]
        return {
            "folder": draw.choice(PARENTS),
            "target": target,
            "a": a,
            "b": b,
            "c": c,
            "file_a": names[0],
            "file_b": names[1],
            "file_c": names[2],
            "inside": {a: [names[0], *names[3:5]], b: [names[1], *names[5:7]], c: [names[2], *names[7:]]},
            "place": draw.place(*SIZE),
        }

    def content(self, p: Params) -> Sequence[SetupStep]:
        made = [step for name, files in p.inside.items() for step in files_in(f"{p.folder}/{name}", files)]
        return [*made, *files_in(f"{p.folder}/{p.target}", [])]

    def success(self, p: Params) -> Criterion:
        left = [holds(f"{p.folder}/{name}", files[1:]) for name, files in p.inside.items()]
        return AllOf(of=(holds(f"{p.folder}/{p.target}", [p.file_a, p.file_b, p.file_c]), *left))

    def oracle(self, p: Params) -> Oracle:
        target = f"{p.folder}/{p.target}"
        return Goals([moved([files[0]], f"{p.folder}/{name}", target) for name, files in p.inside.items()])


TEMPLATES: tuple[type[Template], ...] = (SortByKind, FolderTree, RenameSeries, CleanUp, Restore, Collect)
