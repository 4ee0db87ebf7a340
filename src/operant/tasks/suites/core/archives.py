"""Xarchiver: look into archives, unpack them, take files out and put files in."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from operant.tasks.criteria import AllOf, Answer, AnyOf, CommandOutput, Criterion, DirectoryContains, FileEquals, WindowTitle
from operant.tasks.draw import Draw
from operant.tasks.oracle import Oracle, View
from operant.tasks.setup import Launch, SetupStep, WriteFile
from operant.tasks.suites.core.files_view import (
    HOME,
    PARENTS,
    FileManager,
    Goal,
    Goals,
    answer,
    exists,
    files_in,
    holds,
    joined,
    once,
    opened_with,
    says_name,
    stems,
    steps,
)
from operant.tasks.suites.core.moves import SELECT_ALL
from operant.tasks.template import Params, Template
from operant.types import Action, Difficulty, Node

__all__ = ["TEMPLATES"]

APP = "xarchiver"
SIZE = (720, 430)
REGULAR = 0o100644 << 16


# Archives on the disk.


def packed(names: Sequence[str]) -> bytes:
    """A zip archive of files that say their names. Xarchiver lists only members with the mode of a regular file."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            member = zipfile.ZipInfo(name, (2024, 3, 1, 12, 0, 0))
            member.create_system, member.external_attr = 3, REGULAR
            archive.writestr(member, says_name(name.rpartition("/")[2]))
    return made.getvalue()


def contains(path: str, names: Sequence[str]) -> Criterion:
    """Exactly these files are in a zip archive, and each says its name."""
    listing = CommandOutput(command=["python3", "-c", LISTING, path], equals="\n".join(sorted(names)))
    texts = [
        CommandOutput(command=["unzip", "-p", path, name], equals=says_name(name.rpartition("/")[2])) for name in names
    ]
    return AllOf(of=(listing, *texts))


LISTING = "import sys,zipfile; print('\\n'.join(sorted(n for n in zipfile.ZipFile(sys.argv[1]).namelist() if n[-1]!='/')))"


def inside(view: View, path: str) -> list[str]:
    """What is in a zip archive of the desktop now."""
    try:
        with zipfile.ZipFile(io.BytesIO(view.desktop.files.read(path))) as archive:
            return archive.namelist()
    except (OSError, zipfile.BadZipFile):
        return []


# Looking.


def main_window(view: View) -> Node | None:
    return next((node for node in view.tree(APP).children if node.role == "frame"), None)


def popup(view: View, *titles: str) -> Node | None:
    """An open dialog; any of them if no title is given."""
    for node in view.tree(APP).children:
        if node.role in ("dialog", "alert", "file chooser") and (not titles or node.name in titles):
            return node
    return None


def rows(table: Node | None) -> dict[str, Node]:
    """Cells of the first column of names in the table of files, by name."""
    if table is None:
        return {}
    found: dict[str, Node] = {}
    for one in table.walk():
        if one.role == "table" and one.box is not None:
            left = next((h.box for h in one.children if h.role == "table column header"), one.box)
            if left is None:
                continue
            for cell in one.walk():
                inside_column = cell.box is not None and left[0] <= cell.box[0] < left[0] + max(left[2], 30)
                if cell.role == "table cell" and cell.name and inside_column:
                    found.setdefault(cell.name, cell)
    return found


def members(view: View) -> dict[str, Node]:
    return rows(main_window(view))


def location(view: View) -> str:
    """The folder of the archive that is shown; empty at its root."""
    window = main_window(view)
    field = window.find("text") if window is not None else None
    return (field.text or "").strip("/") if field is not None else ""


# Acting.


def clear_way(view: View) -> Action | None:
    """Close dialogs that are in the way, and bring the archive manager to the front."""
    if popup(view) is not None:
        return Action.key("esc")
    window = view.window(wm_class="Xarchiver")
    if window is None:
        return Action.wait()
    if view.focused is None or view.focused.wm_class != "Xarchiver":
        return Action.click(view.point(window.x + window.width / 2, window.y - 9))
    return None


def enter(folder: str) -> Callable[[View], Action | None]:
    """Show a folder of the archive (or its root)."""

    def attempt(view: View) -> Action | None:
        if location(view) == folder:
            return None
        window = main_window(view)
        root = window.find("push button", "Root") if window is not None else None
        if location(view) != "" and root is not None:
            return once(view, view.click(root))
        item = members(view).get(folder)
        return Action.wait() if item is None else once(view, view.click(item, clicks=2))

    return attempt


def choose(*names: str) -> Callable[[View], Action | None]:
    """Select exactly these members."""

    def attempt(view: View) -> Action | None:
        shown = members(view)
        chosen = [name for name, cell in shown.items() if "selected" in cell.states]
        if sorted(chosen) == sorted(names):
            return None
        if not set(names) <= shown.keys():
            return Action.wait()
        wrong = [name for name in chosen if name not in names]
        missing = next(name for name in names if wrong or name not in chosen)
        more = {"modifiers": ("ctrl",)} if chosen and not wrong else {}
        return once(view, view.click(shown[missing], **more))

    return attempt


def button(label: str) -> Callable[[View], Action | None]:
    """Press a button of the tool bar."""

    def attempt(view: View) -> Action | None:
        window = main_window(view)
        found = window.find("push button", label) if window is not None else None
        return None if found is None else once(view, view.click(found))

    return attempt


def extract_to(path: str) -> Callable[[View], Action | None]:
    """While the dialog for unpacking is open: say where to, and go."""

    def attempt(view: View) -> Action | None:
        shown = popup(view, "Extract files")
        field = shown.find("text") if shown is not None else None
        if shown is None or field is None:
            return None
        go = shown.find("push button", "Extract")
        if field.text == path and go is not None:
            return once(view, view.click(go))
        if field.text and view.last != SELECT_ALL:
            return SELECT_ALL if "focused" in field.states else view.click(field)
        return Action.type(path)

    return attempt


def confirm(view: View) -> Action | None:
    """Yes, delete."""
    shown = popup(view, "Question")
    found = shown.find("push button", "OK") if shown is not None else None
    return None if found is None else once(view, view.click(found))


def pick_to_add(folder: str, name: str) -> Callable[[View], Action | None]:
    """While the dialog for adding is open: go to a folder of HOME, select a file, and add it."""

    def attempt(view: View) -> Action | None:
        shown = popup(view, "Add files")
        if shown is None:
            return None
        listed = rows(shown)
        if name in listed:
            add = next((one for one in shown.walk() if one.role == "push button" and one.name == "Add"), None)
            if "selected" in listed[name].states and add is not None:
                return once(view, view.click(add))
            return once(view, view.click(listed[name]))
        return once(view, view.click(listed[folder], clicks=2)) if folder in listed else Action.wait()

    return attempt


def path_given(title: str, path: str) -> Callable[[View], Action | None]:
    """While a file chooser is open: type a path. A slash opens its location field."""

    def attempt(view: View) -> Action | None:
        shown = popup(view, title)
        if shown is None:
            return None
        field = next((one for one in shown.walk() if one.role == "text" and one.box is not None), None)
        entry = Action.type(path + "\n")
        if view.last == entry:
            return Action.wait()
        if field is not None and field.text == path:
            return once(view, Action.key("enter"))
        if field is not None and field.text and view.last != SELECT_ALL:
            return SELECT_ALL
        return entry

    return attempt


def extracted(folder: str, names: Sequence[str], target: str, *, everything: bool = False) -> Goal:
    """Members of one folder of the archive were unpacked into a folder of the desktop."""

    def done(view: View) -> bool:
        return all(view.read(f"{target}/{name}") == says_name(name.rpartition("/")[2]) for name in names)

    select = (lambda view: None) if everything else choose(*names)
    return Goal(done, steps(extract_to(f"{HOME}/{target}"), clear_way, enter(folder), select, button("Extract")))


def deleted(path: str, folder: str, name: str) -> Goal:
    member = f"{folder}/{name}" if folder else name
    return Goal(
        lambda view: member not in inside(view, path) and bool(inside(view, path)),
        steps(confirm, clear_way, enter(folder), choose(name), lambda view: once(view, Action.key("delete"))),
    )


def added(path: str, folder: str, name: str) -> Goal:
    return Goal(
        lambda view: name in inside(view, path),
        steps(pick_to_add(folder, name), clear_way, button("Add")),
    )


def archive_open(path: str) -> Goal:
    """An archive is shown in the archive manager."""
    name = path.rpartition("/")[2]

    def shown(view: View) -> bool:
        return view.window(f"{name} - xarchiver") is not None and bool(members(view))

    return Goal(
        shown,
        steps(path_given("Open an archive", f"{HOME}/{path}"), clear_way, lambda view: once(view, Action.key("ctrl", "o"))),
    )


class Archiver(Template):
    """What tasks of the archive manager have in common: an archive is open in it, somewhere on the screen."""

    apps = ("xarchiver",)

    def content(self, p: Params) -> Sequence[SetupStep]:
        return ()

    def setup(self, p: Params) -> Sequence[SetupStep]:
        return [*self.content(p), Launch(command=["xarchiver", p.path], place=p.place)]


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
            "names": [f"{stem}.{draw.choice(('txt', 'csv'))}" for stem in stems(draw, draw.choice((3, 4, 5)))],
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
        "In this archive, {old} is out of date. Delete it there and add {new}, which lies in the folder {folder}.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        archive, folder = draw.words(2, "topics")
        new, *names = [f"{stem}.txt" for stem in stems(draw, draw.choice((5, 6)))]
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

    def success(self, p: Params) -> Criterion:
        inner = f"{p.out}/{p.inner}"
        files = [name.rpartition("/")[2] for name in p.names]
        shown = WindowTitle(title=self.title(p), wm_class="Mousepad", exact=True)
        closed = CommandOutput(command=["sh", "-c", "pgrep -x xarchiver || echo none"], equals="none")
        return AllOf(of=(holds(inner, files), shown, closed))

    def oracle(self, p: Params) -> Oracle:
        unpacked = extracted("", p.names, p.out, everything=True)
        archiver = opened_with(p.folder, p.archive, "xarchiver")

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
                opened_with(f"{p.out}/{p.inner}", p.name, self.title(p)),
            ]
        )

    @staticmethod
    def title(p: Params) -> str:
        return f"~/{p.out}/{p.inner}/{p.name} - Mousepad"


class PackFiles(Archiver):
    id = "core/archives-pack-v1"
    skill = "form"
    family = "packing"
    difficulty = Difficulty.HARD
    instructions = (
        "Make a new archive {archive} that holds the files {listed} of the folder {folder}.",
        "Pack {listed}, which lie in the folder {folder}, into a new archive {archive}.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        archive, folder, other = draw.words(3, "topics")
        parent = draw.choice(PARENTS)
        names = [f"{stem}.txt" for stem in stems(draw, draw.choice((5, 6)))]
        chosen = draw.sample(names, 3)
        return {
            "archive": f"{HOME}/{parent}/{archive}.zip",
            "path": f"{parent}/{archive}.zip",
            "decoy": f"{parent}/{other}.zip",
            "folder": folder,
            "names": names,
            "chosen": chosen,
            "listed": joined(chosen),
            "place": draw.place(*SIZE),
        }

    def setup(self, p: Params) -> Sequence[SetupStep]:
        return [
            WriteFile.of_bytes(p.decoy, packed(p.names[:2])),
            *files_in(p.folder, p.names),
            Launch(command=["xarchiver"], place=p.place),
        ]

    def success(self, p: Params) -> Criterion:
        return AllOf(of=(contains(p.path, p.chosen), holds(p.folder, p.names)))

    def oracle(self, p: Params) -> Oracle:
        name = p.path.rpartition("/")[2]
        begin = steps(
            path_given("Create a new archive", p.archive), clear_way, lambda view: once(view, Action.key("ctrl", "n"))
        )
        created = Goal(lambda view: view.window(f"{name} - xarchiver") is not None, begin)
        return Goals([created, *(added(p.path, p.folder, one) for one in p.chosen)])


class MoveBetweenArchives(Archiver):
    id = "core/archives-move-between-v1"
    skill = "dialog"
    family = "changing"
    difficulty = Difficulty.HARD
    instructions = (
        "Move the file {name} from this archive to the archive {other}: extract it to {target}, delete it here, open "
        "{other} and add the file from {folder}.",
        "{name} is in the wrong archive. Extract it to {target} and delete it from this archive, then open {other} and "
        "add it there from the folder {folder}.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        archive, other, folder = draw.words(3, "topics")
        parent = draw.choice(PARENTS)
        names = [f"{stem}.txt" for stem in stems(draw, 7)]
        return {
            "path": f"{parent}/{archive}.zip",
            "second": f"{parent}/{other}.zip",
            "other": f"{HOME}/{parent}/{other}.zip",
            "folder": folder,
            "target": f"{HOME}/{folder}",
            "here": names[:4],
            "there": names[4:],
            "name": draw.choice(names[:4]),
            "place": draw.place(*SIZE),
        }

    def content(self, p: Params) -> Sequence[SetupStep]:
        return [
            WriteFile.of_bytes(p.path, packed(p.here)),
            WriteFile.of_bytes(p.second, packed(p.there)),
            *files_in(p.folder, []),
        ]

    def success(self, p: Params) -> Criterion:
        left = [name for name in p.here if name != p.name]
        return AllOf(
            of=(
                contains(p.path, left),
                contains(p.second, [*p.there, p.name]),
                FileEquals(path=f"{p.folder}/{p.name}", text=says_name(p.name)),
                DirectoryContains(path=p.folder, names=(p.name,), exactly=True),
            )
        )

    def oracle(self, p: Params) -> Oracle:
        unpacking = extracted("", [p.name], p.folder)
        adding = added(p.second, p.folder, p.name)

        def moved_out(view: View) -> bool:
            return p.name not in inside(view, p.path) and exists(view, f"{p.folder}/{p.name}")

        return Goals(
            [
                Goal(unpacking.done, unpacking.act),
                deleted(p.path, "", p.name),
                Goal(lambda view: adding.done(view) or archive_open(p.second).done(view), archive_open(p.second).act),
                Goal(lambda view: moved_out(view) and adding.done(view), adding.act),
            ]
        )


TEMPLATES: tuple[type[Template], ...] = (
    ExtractAll,
    CountInFolder,
    ExtractOne,
    DeleteTwo,
    ReplaceFile,
    UnpackAndOpen,
    PackFiles,
    MoveBetweenArchives,
)
