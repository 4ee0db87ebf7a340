"""PCManFM, long chores: sort a folder out, make a tree of folders, restore, collect, rename in series."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from operant.tasks.changes import Change
from operant.tasks.draw import Draw
from operant.tasks.suites.core.files_changes import (
    PARENTS,
    SIZE,
    TRASH,
    FileManager,
    copied,
    folder_made,
    holds,
    joined,
    kept,
    messy,
    moved,
    renamed,
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
        folder = draw.choice(PARENTS)
        names = [f"{noun}.{kind}" for noun, kind in zip(nouns, kinds, strict=True)]
        which = {"pictures": pictures, "texts": texts}
        return {"folder": folder, **which, "content": {folder: names}, "place": draw.place(*SIZE)}

    def changes(self, p: Params) -> Sequence[Change]:
        kinds = {p.pictures: ".png", p.texts: ".txt"}
        names = p.content[p.folder]
        return [
            *(folder_made(p.folder, into) for into in kinds),
            *(
                moved([name for name in names if name.endswith(kind)], p.folder, f"{p.folder}/{into}")
                for into, kind in kinds.items()
            ),
        ]


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
        folder = draw.choice(PARENTS)
        content = {folder: [f"{topic}/" for topic in topics]}
        which = {"top": top, "a": a, "b": b, "c": c, "d": d}
        return {"folder": folder, **which, "content": content, "place": draw.place(*SIZE)}

    def changes(self, p: Params) -> Sequence[Change]:
        top = f"{p.folder}/{p.top}"
        makes = [(p.folder, p.top), (top, p.a), (top, p.b), (f"{top}/{p.b}", p.c), (f"{top}/{p.b}", p.d)]
        return [folder_made(folder, name) for folder, name in makes]


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
        folder = draw.choice(PARENTS)
        content = {f"{folder}/{inner}": names, f"{folder}/{other}": names}
        pairs = joined([f"{old} to {new}" for old, new in changed.items()])
        which = {"inner": inner, "changed": changed, "pairs": pairs}
        return {"folder": folder, "content": content, **which, "place": draw.place(*SIZE)}

    def changes(self, p: Params) -> Sequence[Change]:
        renames = [renamed(f"{p.folder}/{p.inner}", old, new) for old, new in p.changed.items()]
        return [*renames, kept(*p.content)]


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
        folder = draw.choice(PARENTS)
        return {
            "folder": folder,
            "content": {folder: [f"{topic}/", *names]},
            "new": new,
            "junk_a": junk_a,
            "junk_b": junk_b,
            "keep_a": keep_a,
            "keep_b": keep_b,
            "old": old,
            "name": f"{draw.word('products')}.{old.rpartition('.')[2]}",
            "place": draw.place(*SIZE),
        }

    def changes(self, p: Params) -> Sequence[Change]:
        junk = (p.junk_a, p.junk_b)
        return [
            trashed(p.folder, *junk, inside=[holds(TRASH, junk)]),
            folder_made(p.folder, p.new),
            moved([p.keep_a, p.keep_b], p.folder, f"{p.folder}/{p.new}"),
            renamed(p.folder, p.old, p.name),
        ]


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
        folder = draw.choice(PARENTS)
        # Two files are broken; the others are newer than their backups.
        texts = {n: f"%% {n} is broken\n" if n in (a, b) else f"{n} of today\n" for n in names}
        content = {f"{folder}/{backup}": names, f"{folder}/{live}": texts}
        which = {"live": live, "backup": backup, "new": new, "a": a, "b": b}
        return {"folder": folder, "content": content, **which, "place": draw.place(*SIZE)}

    def changes(self, p: Params) -> Sequence[Change]:
        live, backup = f"{p.folder}/{p.live}", f"{p.folder}/{p.backup}"
        in_trash = holds(f"{TRASH}/{p.backup}", p.content[backup])
        return [
            copied([p.a, p.b], backup, live, replace=True),
            trashed(p.folder, p.backup, inside=[in_trash]),
            renamed(p.folder, p.live, p.new),
        ]


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
        target, *sources = draw.words(4, "topics")
        names = [f"{stem}.{draw.choice(('txt', 'csv'))}" for stem in stems(draw, 9)]
        folder = draw.choice(PARENTS)
        inside = [[names[0], *names[3:5]], [names[1], *names[5:7]], [names[2], *names[7:]]]
        content = {f"{folder}/{source}": files for source, files in zip(sources, inside, strict=True)}
        which = dict(zip(("a", "b", "c", "file_a", "file_b", "file_c"), (*sources, *names), strict=False))
        content[f"{folder}/{target}"] = []
        return {"folder": folder, "target": target, "content": content, **which, "place": draw.place(*SIZE)}

    def changes(self, p: Params) -> Sequence[Change]:
        target = f"{p.folder}/{p.target}"
        return [moved(files[:1], source, target) for source, files in p.content.items() if files]


TEMPLATES: tuple[type[Template], ...] = (SortByKind, FolderTree, RenameSeries, CleanUp, Restore, Collect)
