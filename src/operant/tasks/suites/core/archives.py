"""Xarchiver: look into archives, unpack them, take files out and put files in."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from operant.apps import xarchiver
from operant.apps.moves import Goal
from operant.apps.pcmanfm.file_goals import opened_with
from operant.apps.view import HOME, View
from operant.tasks.changes import Change, Disk, answered
from operant.tasks.criteria import AllOf, AnyOf, CommandOutput, Criterion, ProcessRunning, WindowTitle
from operant.tasks.draw import Draw
from operant.tasks.setup import Launch, SetupStep, WriteFile
from operant.tasks.suites.core.files_changes import (
    PARENTS,
    FileManager,
    files_in,
    holds,
    joined,
    says_name,
    stems,
)
from operant.tasks.template import Params, Template
from operant.types import Action, Difficulty

__all__ = ["TEMPLATES"]

REGULAR = 0o100644 << 16
LISTING = """import sys, zipfile
names = zipfile.ZipFile(sys.argv[1]).namelist()
print("\\n".join(sorted(name for name in names if name[-1] != "/")))
"""


def packed(names: Sequence[str]) -> bytes:
    """A zip archive of files that say their names; Xarchiver lists only members with the mode of a file."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            member = zipfile.ZipInfo(name, (2024, 3, 1, 12, 0, 0))
            member.create_system, member.external_attr = 3, REGULAR
            archive.writestr(member, said(name))
    return made.getvalue()


def said(name: str) -> str:
    """What a member of an archive says."""
    return says_name(name.rpartition("/")[2])


def contains(path: str, names: Sequence[str]) -> Criterion:
    """Exactly these files are in a zip archive, and each says its name."""
    listing = CommandOutput(command=["python3", "-I", "-c", LISTING, path], equals="\n".join(sorted(names)))
    texts = [CommandOutput(command=["unzip", "-p", path, name], equals=said(name)) for name in names]
    return AllOf(of=(listing, *texts))


def mixed(draw: Draw, counts: Sequence[int]) -> list[str]:
    """As many names as one of these counts, of texts and tables."""
    return [f"{stem}.{draw.choice(('txt', 'csv'))}" for stem in stems(draw, draw.choice(counts))]


def without(names: Sequence[str], *gone: str) -> list[str]:
    return [name for name in names if name not in gone]


class Archiver(Template):
    """What tasks of the archive manager have in common: archives on the disk, one of them open or none."""

    apps: ClassVar[tuple[str, ...]] = ("xarchiver",)
    is_open: ClassVar[bool] = True

    def archives(self, p: Params) -> Mapping[str, Sequence[str]]:
        """Archives and what is in them."""
        return {p.path: p.names}

    def folders(self, p: Params) -> Mapping[str, Sequence[str]]:
        """Folders and the files in them."""
        return {}

    def setup(self, p: Params) -> Sequence[SetupStep]:
        return [
            *(WriteFile.of_bytes(path, packed(names)) for path, names in self.archives(p).items()),
            *(step for folder, names in self.folders(p).items() for step in files_in(folder, names)),
            Launch(command=["xarchiver", p.path] if self.is_open else ["xarchiver"], place=p.place),
        ]


def extracted(names: Sequence[str], target: str) -> Change:
    """Members of the archive's root are unpacked into a folder, and stay in the archive."""

    def effect(disk: Disk) -> None:
        for name in names:
            disk.write(f"{target}/{name}", said(name))

    return Change(xarchiver.extracted({name: said(name) for name in names}, target), effect)


def deleted(path: str, folder: str, *names: str) -> Change:
    return Change(xarchiver.deleted(path, folder, *names))


def added(path: str, folder: str, name: str) -> Change:
    return Change(xarchiver.added(path, folder, name))


def holding(path: str, names: Sequence[str]) -> Change:
    """What an archive holds after all changes."""
    return Change(holds=[contains(path, names)])


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
            "names": mixed(draw, (3, 4, 5)),
            "place": draw.place(*xarchiver.SIZE),
        }

    def folders(self, p: Params) -> Mapping[str, Sequence[str]]:
        return {p.out: []}

    def changes(self, p: Params) -> Sequence[Change]:
        # By itself Xarchiver puts several files into a folder named after the archive; both are right.
        files = {name: said(name) for name in p.names}
        goals = [xarchiver.extracted(files, out, everything=True) for out in (p.out, f"{p.out}/{p.stem}")]

        def done(view: View) -> bool:
            return any(goal.done(view) for goal in goals)

        either = AnyOf(of=(holds(p.out, p.names), holds(f"{p.out}/{p.stem}", p.names)))
        return [Change(Goal(done, goals[0].act), holds=[either])]


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
            "place": draw.place(*xarchiver.SIZE),
        }

    def changes(self, p: Params) -> Sequence[Change]:
        return [Change(xarchiver.folder_shown(p.inner)), answered(str(p.count), numeric=True)]


class ExtractOne(Archiver):
    id = "core/archives-extract-one-v1"
    skill = "dialog"
    family = "unpacking"
    difficulty = Difficulty.MEDIUM
    is_open = False
    instructions = (
        "Open the archive {archive} and extract only the file {name} from it to {target}.",
        "Take {name} out of the archive {archive}: extract it, and nothing else, to {target}.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        archive, target, other = draw.words(3, "topics")
        folder = draw.choice(PARENTS)
        names = mixed(draw, (4, 5, 6))
        return {
            "archive": f"{HOME}/{folder}/{archive}.zip",
            "path": f"{folder}/{archive}.zip",
            "decoy": f"{folder}/{other}.zip",
            "out": f"{folder}/{target}",
            "target": f"{HOME}/{folder}/{target}",
            "names": names,
            "name": draw.choice(names),
            "place": draw.place(*xarchiver.SIZE),
        }

    def archives(self, p: Params) -> Mapping[str, Sequence[str]]:
        return {p.path: p.names, p.decoy: p.names[:2]}

    def folders(self, p: Params) -> Mapping[str, Sequence[str]]:
        return {p.out: []}

    def changes(self, p: Params) -> Sequence[Change]:
        return [Change(xarchiver.opened(p.path)), extracted([p.name], p.out), holding(p.path, p.names)]


class DeleteTwoEntries(Archiver):
    id = "core/archives-delete-two-v1"
    skill = "click"
    family = "changing"
    difficulty = Difficulty.MEDIUM
    instructions = (
        "Delete two files from this archive: {file_a} in the folder {a} and {file_b} in the folder {b}.",
        "The archive should no longer hold {file_a} (in its folder {a}) nor {file_b} (in {b}). Delete them from it.",
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
            "place": draw.place(*xarchiver.SIZE),
        }

    def changes(self, p: Params) -> Sequence[Change]:
        left = without(p.names, f"{p.a}/{p.file_a}", f"{p.b}/{p.file_b}")
        return [deleted(p.path, p.a, p.file_a), deleted(p.path, p.b, p.file_b), holding(p.path, left)]


class ReplaceFile(Archiver):
    id = "core/archives-replace-file-v1"
    skill = "dialog"
    family = "changing"
    difficulty = Difficulty.MEDIUM
    unseen = True
    instructions = (
        "Add the file {new} of the folder {folder} to this archive, and delete {old} from the archive.",
        "In this archive, {old} is out of date. Delete it there and add {new}, which lies in the folder {folder}.",
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
            "place": draw.place(*xarchiver.SIZE),
        }

    def folders(self, p: Params) -> Mapping[str, Sequence[str]]:
        return {p.folder: [p.new, *p.names[:2]]}

    def changes(self, p: Params) -> Sequence[Change]:
        left = [p.new, *without(p.names, p.old)]
        return [added(p.path, p.folder, p.new), deleted(p.path, "", p.old), holding(p.path, left)]


class UnpackAndOpen(FileManager):
    id = "core/archives-unpack-and-open-v1"
    apps = ("pcmanfm", "xarchiver", "mousepad")
    skill = "navigate"
    family = "unpacking"
    difficulty = Difficulty.MEDIUM
    instructions = (
        "Unpack the archive {archive} into {target}, close the archive manager, and open the text {name} that was in it.",
        "Extract everything in {archive} to {target}. Then close the archive manager and open the extracted file {name}.",
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

    def changes(self, p: Params) -> Sequence[Change]:
        inner, title = f"{p.out}/{p.inner}", f"~/{p.out}/{p.inner}/{p.name} - Mousepad"
        unpacked = xarchiver.extracted({name: said(name) for name in p.names}, p.out, everything=True)
        archiver = opened_with(p.folder, p.archive, "xarchiver", "xarchiver")
        reader = opened_with(inner, p.name, title, "mousepad")

        def unpack(view: View) -> Action:
            shown = view.window(f"{p.archive} - xarchiver") is not None
            return unpacked.act(view) if shown else archiver.act(view)

        files = holds(inner, [name.rpartition("/")[2] for name in p.names])
        closed = ProcessRunning(name="xarchiver", running=False)
        shown = WindowTitle(title=title, wm_class="Mousepad", exact=True)
        return [
            Change(Goal(unpacked.done, unpack), holds=[files]),
            Change(xarchiver.closed(), holds=[closed]),
            Change(Goal(reader.done, reader.act), holds=[shown]),
        ]


class UpdateArchive(Archiver):
    id = "core/archives-update-v1"
    skill = "navigate"
    family = "packing"
    difficulty = Difficulty.HARD
    is_open = False
    instructions = (
        "Bring the archive {archive} up to date: open it, add the files {listed} of the folder {folder}, and delete "
        "{old_a} and {old_b} from it.",
        "Open the archive {archive}. Add {listed}, which lie in the folder {folder}. Then delete {old_a} and {old_b} "
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
            "place": draw.place(*xarchiver.SIZE),
        }

    def archives(self, p: Params) -> Mapping[str, Sequence[str]]:
        return {p.path: p.packed, p.decoy: p.packed[:2]}

    def folders(self, p: Params) -> Mapping[str, Sequence[str]]:
        return {p.folder: p.loose}

    def changes(self, p: Params) -> Sequence[Change]:
        left = without(p.packed, p.old_a, p.old_b)
        return [
            Change(xarchiver.opened(p.path), holds=[holds(p.folder, p.loose)]),
            *(added(p.path, p.folder, name) for name in p.chosen),
            deleted(p.path, "", p.old_a, p.old_b),
            holding(p.path, [*left, *p.chosen]),
        ]


class MoveBetweenArchives(Archiver):
    id = "core/archives-move-between-v1"
    skill = "dialog"
    family = "changing"
    difficulty = Difficulty.HARD
    instructions = (
        "Move {a} and {b} from this archive to the archive {other}: extract them to {target}, delete them here, open "
        "{other} and add both from the folder {folder}.",
        "{a} and {b} are in the wrong archive. Extract them to {target} and delete them from this archive, then open "
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
            "place": draw.place(*xarchiver.SIZE),
        }

    def archives(self, p: Params) -> Mapping[str, Sequence[str]]:
        return {p.path: p.here, p.second: p.there}

    def folders(self, p: Params) -> Mapping[str, Sequence[str]]:
        return {p.folder: []}

    def changes(self, p: Params) -> Sequence[Change]:
        pair = [p.a, p.b]
        return [
            extracted(pair, p.folder),
            deleted(p.path, "", *pair),
            Change(xarchiver.opened(p.second)),
            *(added(p.second, p.folder, name) for name in pair),
            holding(p.path, without(p.here, *pair)),
            holding(p.second, [*p.there, *pair]),
        ]


TEMPLATES: tuple[type[Template], ...] = (
    ExtractAll,
    CountInFolder,
    ExtractOne,
    DeleteTwoEntries,
    ReplaceFile,
    UnpackAndOpen,
    UpdateArchive,
    MoveBetweenArchives,
)
