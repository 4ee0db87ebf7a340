"""Xarchiver: look into archives, unpack them, take files out and put files in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from operant.apps.view import View
from operant.tasks.criteria import AllOf, Answer, AnyOf, Criterion, ProcessRunning, WindowTitle
from operant.tasks.draw import Draw
from operant.tasks.oracle import Oracle
from operant.tasks.setup import Launch, SetupStep, WriteFile
from operant.tasks.suites.core.archives_view import (
    SIZE,
    Archiver,
    added,
    archive_open,
    clear_way,
    contains,
    deleted,
    enter,
    extracted,
    location,
    packed,
)
from operant.tasks.suites.core.files_view import (
    HOME,
    PARENTS,
    FileManager,
    Goal,
    Goals,
    answer,
    files_in,
    holds,
    joined,
    once,
    opened_with,
    stems,
    steps,
)
from operant.tasks.template import Params, Template
from operant.types import Action, Difficulty

__all__ = ["TEMPLATES"]


class ExtractAll(Archiver):
    id = "core/archives-extract-all-v1"
    skill = "dialog"
    family = "unpacking"
    difficulty = Difficulty.EASY
    instructions = (
        "Extract all files of this archive to {target}.",
        "Unpack the whole archive {archive} into the folder {target}.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        archive, target = draw.words(2, "topics")
        folder = draw.choice(PARENTS)
        return {
            "archive": f"{archive}.zip",
            "path": f"{folder}/{archive}.zip",
            "stem": archive,
            "out": f"{folder}/{target}",
            "target": f"{HOME}/{folder}/{target}",
            "names": [
                f"{stem}.{draw.choice(('txt', 'csv'))}" for stem in stems(draw, draw.choice((3, 4, 5)))
            ],
            "place": draw.place(*SIZE),
        }

    def content(self, p: Params) -> Sequence[SetupStep]:
        return [WriteFile.of_bytes(p.path, packed(p.names)), *files_in(p.out, [])]

    def success(self, p: Params) -> Criterion:
        # By itself Xarchiver puts several files into a folder named after the archive; both are right.
        return AnyOf(of=(holds(p.out, p.names), holds(f"{p.out}/{p.stem}", p.names)))

    def oracle(self, p: Params) -> Oracle:
        plain = extracted("", p.names, p.out, everything=True)

        def done(view: View) -> bool:
            return plain.done(view) or extracted("", p.names, f"{p.out}/{p.stem}").done(view)

        return Goals([Goal(done, plain.act)])


class CountInFolder(Archiver):
    id = "core/archives-count-in-folder-v1"
    skill = "read"
    family = "looking into"
    difficulty = Difficulty.EASY
    instructions = (
        "How many files are in the folder {inner} of this archive? Answer with the number.",
        "Look into the folder {inner} of the archive {archive} and report how many files it has.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        archive, *folders = draw.words(4, "topics")
        counts = draw.sample(range(2, 8), 3)
        nouns = draw.words(sum(counts), "nouns")
        names: list[str] = []
        for folder, count in zip(folders, counts, strict=True):
            names += [f"{folder}/{nouns.pop()}.txt" for _ in range(count)]
        chosen = draw.choice(range(3))
        return {
            "archive": f"{archive}.zip",
            "path": f"{draw.choice(PARENTS)}/{archive}.zip",
            "names": names,
            "inner": folders[chosen],
            "count": counts[chosen],
            "place": draw.place(*SIZE),
        }

    def content(self, p: Params) -> Sequence[SetupStep]:
        return [WriteFile.of_bytes(p.path, packed(p.names))]

    def success(self, p: Params) -> Criterion:
        return Answer(text=str(p.count), numeric=True)

    def oracle(self, p: Params) -> Oracle:
        look = Goal(lambda view: location(view) == p.inner, steps(clear_way, enter(p.inner)))
        return Goals([look], answer(str(p.count)))


class ExtractOne(Archiver):
    id = "core/archives-extract-one-v1"
    skill = "dialog"
    family = "unpacking"
    difficulty = Difficulty.MEDIUM
    instructions = (
        "Open the archive {archive} and extract only the file {name} from it to {target}.",
        "Take {name} out of the archive {archive}: extract it, and nothing else, to {target}.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        archive, target, other = draw.words(3, "topics")
        folder = draw.choice(PARENTS)
        names = [f"{stem}.{draw.choice(('txt', 'csv'))}" for stem in stems(draw, draw.choice((4, 5, 6)))]
        return {
            "archive": f"{HOME}/{folder}/{archive}.zip",
            "path": f"{folder}/{archive}.zip",
            "decoy": f"{folder}/{other}.zip",
            "out": f"{folder}/{target}",
            "target": f"{HOME}/{folder}/{target}",
            "names": names,
            "name": draw.choice(names),
            "place": draw.place(*SIZE),
        }

    def setup(self, p: Params) -> Sequence[SetupStep]:
        return [
            WriteFile.of_bytes(p.path, packed(p.names)),
            WriteFile.of_bytes(p.decoy, packed(p.names[:2])),
            *files_in(p.out, []),
            Launch(command=["xarchiver"], place=p.place),
        ]

    def success(self, p: Params) -> Criterion:
        return AllOf(of=(holds(p.out, [p.name]), contains(p.path, p.names)))

    def oracle(self, p: Params) -> Oracle:
        return Goals([archive_open(p.path), extracted("", [p.name], p.out)])


class DeleteTwo(Archiver):
    id = "core/archives-delete-two-v1"
    skill = "click"
    family = "changing"
    difficulty = Difficulty.MEDIUM
    instructions = (
        "Delete two files from this archive: {file_a} in the folder {a} and {file_b} in the folder {b}.",
        "The archive should no longer hold {file_a} (in its folder {a}) nor {file_b} (in {b}). "
        "Delete them from it.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        archive, a, b, c = draw.words(4, "topics")
        nouns = draw.words(9, "nouns")
        names = [f"{folder}/{nouns[3 * i + k]}.txt" for i, folder in enumerate((a, b, c)) for k in range(3)]
        return {
            "path": f"{draw.choice(PARENTS)}/{archive}.zip",
            "names": names,
            "a": a,
            "b": b,
            "file_a": f"{nouns[draw.choice((0, 1, 2))]}.txt",
            "file_b": f"{nouns[draw.choice((3, 4, 5))]}.txt",
            "place": draw.place(*SIZE),
        }

    def content(self, p: Params) -> Sequence[SetupStep]:
        return [WriteFile.of_bytes(p.path, packed(p.names))]

    def success(self, p: Params) -> Criterion:
        gone = (f"{p.a}/{p.file_a}", f"{p.b}/{p.file_b}")
        return contains(p.path, [name for name in p.names if name not in gone])

    def oracle(self, p: Params) -> Oracle:
        return Goals([deleted(p.path, p.a, p.file_a), deleted(p.path, p.b, p.file_b)])


class ReplaceFile(Archiver):
    id = "core/archives-replace-file-v1"
    skill = "dialog"
    family = "changing"
    difficulty = Difficulty.MEDIUM
    unseen = True
    instructions = (
        "Add the file {new} of the folder {folder} to this archive, and delete {old} from the archive.",
        "In this archive, {old} is out of date. Delete it there and add {new}, which lies in the "
        "folder {folder}.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        archive, folder = draw.words(2, "topics")
        drawn = [f"{stem}.txt" for stem in stems(draw, draw.choice((5, 6)))]
        *beside, new = sorted(drawn[:3])  # the first one of a folder would be marked already
        names = beside + drawn[3:]
        return {
            "path": f"{draw.choice(PARENTS)}/{archive}.zip",
            "folder": folder,
            "new": new,
            "names": names,
            "old": draw.choice(names),
            "place": draw.place(*SIZE),
        }

    def content(self, p: Params) -> Sequence[SetupStep]:
        return [WriteFile.of_bytes(p.path, packed(p.names)), *files_in(p.folder, [p.new, *p.names[:2]])]

    def success(self, p: Params) -> Criterion:
        return contains(p.path, [p.new, *(name for name in p.names if name != p.old)])

    def oracle(self, p: Params) -> Oracle:
        return Goals([added(p.path, p.folder, p.new), deleted(p.path, "", p.old)])


class UnpackAndOpen(FileManager):
    id = "core/archives-unpack-and-open-v1"
    apps = ("pcmanfm", "xarchiver", "mousepad")
    skill = "navigate"
    family = "unpacking"
    difficulty = Difficulty.MEDIUM
    instructions = (
        "Unpack the archive {archive} into {target}, close the archive manager, and open the text "
        "{name} that was in it.",
        "Extract everything in {archive} to {target}. Then close the archive manager and open the "
        "extracted file {name}.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        archive, inner, out = draw.words(3, "topics")
        folder = draw.choice(PARENTS)
        names = [f"{inner}/{stem}.txt" for stem in stems(draw, draw.choice((3, 4)))]
        return {
            "folder": folder,
            "archive": f"{archive}.zip",
            "inner": inner,
            "out": f"{folder}/{out}",
            "target": f"{HOME}/{folder}/{out}",
            "names": names,
            "name": draw.choice(names).rpartition("/")[2],
            "place": draw.place(680, 380),
        }

    def content(self, p: Params) -> Sequence[SetupStep]:
        archive = WriteFile.of_bytes(f"{p.folder}/{p.archive}", packed(p.names))
        return [archive, *files_in(p.out, [])]

    def success(self, p: Params) -> Criterion:
        inner = f"{p.out}/{p.inner}"
        files = [name.rpartition("/")[2] for name in p.names]
        shown = WindowTitle(title=self.title(p), wm_class="Mousepad", exact=True)
        closed = ProcessRunning(name="xarchiver", running=False)
        return AllOf(of=(holds(inner, files), shown, closed))

    def oracle(self, p: Params) -> Oracle:
        unpacked = extracted("", p.names, p.out, everything=True)
        archiver = opened_with(p.folder, p.archive, "xarchiver", "xarchiver")

        def archive_shown(view: View) -> bool:
            return view.window(f"{p.archive} - xarchiver") is not None

        def unpack(view: View) -> Action:
            return unpacked.act(view) if archive_shown(view) else archiver.act(view)

        def close(view: View) -> Action:
            return steps(clear_way, lambda view: once(view, Action.key("ctrl", "q")))(view)

        return Goals(
            [
                Goal(unpacked.done, unpack),
                Goal(lambda view: view.window(wm_class="Xarchiver") is None, close),
                opened_with(f"{p.out}/{p.inner}", p.name, self.title(p), "mousepad"),
            ]
        )

    @staticmethod
    def title(p: Params) -> str:
        return f"~/{p.out}/{p.inner}/{p.name} - Mousepad"


class UpdateArchive(Archiver):
    id = "core/archives-update-v1"
    skill = "navigate"
    family = "packing"
    difficulty = Difficulty.HARD
    instructions = (
        "Bring the archive {archive} up to date: open it, add the files {listed} of the folder "
        "{folder}, and delete "
        "{old_a} and {old_b} from it.",
        "Open the archive {archive}. Add {listed}, which lie in the folder {folder}. Then delete "
        "{old_a} and {old_b} "
        "from the archive.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        archive, folder, other = draw.words(3, "topics")
        parent = draw.choice(PARENTS)
        names = [f"{stem}.txt" for stem in stems(draw, 9)]
        packed_names, loose = names[:4], names[4:]
        old_a, old_b = draw.sample(packed_names, 2)
        chosen = draw.sample(loose, 3)
        return {
            "archive": f"{HOME}/{parent}/{archive}.zip",
            "path": f"{parent}/{archive}.zip",
            "decoy": f"{parent}/{other}.zip",
            "folder": folder,
            "packed": packed_names,
            "loose": loose,
            "chosen": chosen,
            "listed": joined(chosen),
            "old_a": old_a,
            "old_b": old_b,
            "place": draw.place(*SIZE),
        }

    def setup(self, p: Params) -> Sequence[SetupStep]:
        return [
            WriteFile.of_bytes(p.path, packed(p.packed)),
            WriteFile.of_bytes(p.decoy, packed(p.packed[:2])),
            *files_in(p.folder, p.loose),
            Launch(command=["xarchiver"], place=p.place),
        ]

    def success(self, p: Params) -> Criterion:
        left = [name for name in p.packed if name not in (p.old_a, p.old_b)]
        return AllOf(of=(contains(p.path, [*left, *p.chosen]), holds(p.folder, p.loose)))

    def oracle(self, p: Params) -> Oracle:
        adding = [added(p.path, p.folder, name) for name in p.chosen]
        return Goals([archive_open(p.path), *adding, deleted(p.path, "", p.old_a, p.old_b)])


class MoveBetweenArchives(Archiver):
    id = "core/archives-move-between-v1"
    skill = "dialog"
    family = "changing"
    difficulty = Difficulty.HARD
    instructions = (
        "Move {a} and {b} from this archive to the archive {other}: extract them to {target}, delete "
        "them here, open "
        "{other} and add both from the folder {folder}.",
        "{a} and {b} are in the wrong archive. Extract them to {target} and delete them from this "
        "archive, then open "
        "{other} and add them there from the folder {folder}.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        archive, other, folder = draw.words(3, "topics")
        parent = draw.choice(PARENTS)
        names = [f"{stem}.txt" for stem in stems(draw, 8)]
        a, b = draw.sample(names[:5], 2)
        return {
            "path": f"{parent}/{archive}.zip",
            "second": f"{parent}/{other}.zip",
            "other": f"{HOME}/{parent}/{other}.zip",
            "folder": folder,
            "target": f"{HOME}/{folder}",
            "here": names[:5],
            "there": names[5:],
            "a": a,
            "b": b,
            "place": draw.place(*SIZE),
        }

    def content(self, p: Params) -> Sequence[SetupStep]:
        return [
            WriteFile.of_bytes(p.path, packed(p.here)),
            WriteFile.of_bytes(p.second, packed(p.there)),
            *files_in(p.folder, []),
        ]

    def success(self, p: Params) -> Criterion:
        left = [name for name in p.here if name not in (p.a, p.b)]
        return AllOf(
            of=(contains(p.path, left), contains(p.second, [*p.there, p.a, p.b]), holds(p.folder, [p.a, p.b]))
        )

    def oracle(self, p: Params) -> Oracle:
        return Goals(
            [
                extracted("", [p.a, p.b], p.folder),
                deleted(p.path, "", p.a, p.b),
                archive_open(p.second),
                added(p.second, p.folder, p.a),
                added(p.second, p.folder, p.b),
            ]
        )


TEMPLATES: tuple[type[Template], ...] = (
    ExtractAll,
    CountInFolder,
    ExtractOne,
    DeleteTwo,
    ReplaceFile,
    UnpackAndOpen,
    UpdateArchive,
    MoveBetweenArchives,
)
