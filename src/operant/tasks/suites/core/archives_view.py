"""The archive manager as oracles see and use it, and zip archives as seeds make and criteria read them."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Sequence
from typing import ClassVar

from operant.apps.moves import SELECT_ALL
from operant.apps.view import View
from operant.tasks.criteria import AllOf, CommandOutput, Criterion
from operant.tasks.setup import Launch, SetupStep
from operant.tasks.suites.core.files_view import HOME, Goal, once, says_name, steps, unread
from operant.tasks.template import Params, Template
from operant.types import Action, Node

__all__ = [
    "SIZE",
    "Archiver",
    "added",
    "archive_open",
    "clear_way",
    "contains",
    "deleted",
    "enter",
    "extracted",
    "location",
    "packed",
]

APP = "xarchiver"
SIZE = (720, 430)
REGULAR = 0o100644 << 16


# Archives on the disk.


def packed(names: Sequence[str]) -> bytes:
    """A zip archive of files that say their names; Xarchiver lists only members with the mode of a file."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            member = zipfile.ZipInfo(name, (2024, 3, 1, 12, 0, 0))
            member.create_system, member.external_attr = 3, REGULAR
            archive.writestr(member, says_name(name.rpartition("/")[2]))
    return made.getvalue()


def contains(path: str, names: Sequence[str]) -> Criterion:
    """Exactly these files are in a zip archive, and each says its name."""
    listing = CommandOutput(command=["python3", "-I", "-c", LISTING, path], equals="\n".join(sorted(names)))
    texts = [
        CommandOutput(command=["unzip", "-p", path, name], equals=says_name(name.rpartition("/")[2]))
        for name in names
    ]
    return AllOf(of=(listing, *texts))


LISTING = """import sys, zipfile
names = zipfile.ZipFile(sys.argv[1]).namelist()
print("\\n".join(sorted(name for name in names if name[-1] != "/")))
"""


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
    if unread(view, APP):
        return Action.wait()
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
    return Goal(
        done, steps(extract_to(f"{HOME}/{target}"), clear_way, enter(folder), select, button("Extract"))
    )


def deleted(path: str, folder: str, *names: str) -> Goal:
    """Members of one folder of the archive are no longer in it."""

    def left(view: View) -> list[str]:
        known = inside(view, path)
        return [name for name in names if (f"{folder}/{name}" if folder else name) in known]

    def select(view: View) -> Action | None:
        return choose(*left(view))(view)

    return Goal(
        lambda view: bool(inside(view, path)) and not left(view),
        steps(confirm, clear_way, enter(folder), select, lambda view: once(view, Action.key("delete"))),
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
        steps(
            path_given("Open an archive", f"{HOME}/{path}"),
            clear_way,
            lambda view: once(view, Action.key("ctrl", "o")),
        ),
    )


class Archiver(Template):
    """What tasks of the archive manager have in common: an archive is open in it, somewhere on the screen."""

    apps: ClassVar[tuple[str, ...]] = ("xarchiver",)

    def content(self, p: Params) -> Sequence[SetupStep]:
        return ()

    def setup(self, p: Params) -> Sequence[SetupStep]:
        return [*self.content(p), Launch(command=["xarchiver", p.path], place=p.place)]
