"""Xarchiver, the archive manager: what an archive holds, and how files are taken out, put in and deleted."""

from __future__ import annotations

import io
import time
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from operant.apps.base import App
from operant.apps.moves import SELECT_ALL, Goal, Move, all_selected, fill, once, steps, unread
from operant.apps.openbox import raise_it
from operant.apps.view import HOME, View
from operant.types import Action, Node

if TYPE_CHECKING:
    from operant.desktop.protocol import Desktop

__all__ = [
    "APP",
    "SIZE",
    "OpenArchive",
    "Xarchiver",
    "added",
    "closed",
    "deleted",
    "extracted",
    "folder_shown",
    "opened",
]

NAME = "xarchiver"
SIZE = (720, 430)
DOUBLE_CLICK_S = 0.3  # two clicks within a quarter of a second are a double click for it, however far apart
DIALOGS = ("dialog", "alert", "file chooser")


@dataclass(frozen=True)
class OpenArchive:
    """What the archive manager shows: a folder of the open archive (empty at its root) and the names in it."""

    title: str
    folder: str
    names: tuple[str, ...]


class Xarchiver(App):
    name = NAME
    title = "archive manager"
    packages = ("xarchiver", "zip", "unzip")
    toolkit = "gtk3"
    command = (NAME,)
    wm_class = "Xarchiver"
    accessible_name = NAME

    def state(self, desktop: Desktop) -> OpenArchive | None:
        view = View(desktop)
        window = self.window(view)
        return None if window is None else OpenArchive(window.title, _location(view), tuple(_members(view)))


# Looking.


def _main_window(view: View) -> Node | None:
    return next((node for node in view.tree(NAME).children if node.role == "frame"), None)


def _popup(view: View, *titles: str) -> Node | None:
    """An open dialog; any of them if no title is given."""
    for node in view.tree(NAME).children:
        if node.role in DIALOGS and (not titles or node.name in titles):
            return node
    return None


def _rows(above: Node | None) -> dict[str, Node]:
    """Cells of the first column of the tables below a widget, by name."""
    found: dict[str, Node] = {}
    for table in above.walk() if above is not None else ():
        if table.role != "table" or table.box is None:
            continue
        column = next((one.box for one in table.children if one.role == "table column header"), table.box)
        if column is None:
            continue
        left, right = column[0], column[0] + max(column[2], 30)
        for cell in table.walk():
            if (
                cell.role == "table cell"
                and cell.name
                and cell.box is not None
                and left <= cell.box[0] < right
            ):
                found.setdefault(cell.name, cell)
    return found


def _members(view: View) -> dict[str, Node]:
    """What is listed of the folder that is shown, by name."""
    return _rows(_main_window(view))


def _location(view: View) -> str:
    """The folder of the archive that is shown; empty at its root."""
    window = _main_window(view)
    field = window.find("text") if window is not None else None
    return (field.text or "").strip("/") if field is not None else ""


def _inside(view: View, path: str) -> list[str]:
    """What is in a zip archive of the desktop now."""
    try:
        with zipfile.ZipFile(io.BytesIO(view.desktop.files.read(path))) as archive:
            return archive.namelist()
    except (OSError, zipfile.BadZipFile):
        return []


# Acting.


def _clear_way(view: View) -> Action | None:
    """Close dialogs that are in the way, and bring the archive manager to the front."""
    if unread(view, NAME):
        return Action.wait()
    if _popup(view) is not None:
        return Action.key("esc")
    window = APP.window(view)
    if window is None:
        return Action.wait()
    away = view.focused is None or view.focused.wm_class != APP.wm_class
    return raise_it(view, window) if away else None


def _click(view: View, cell: Node, **more: object) -> Action:
    """Click a row, not so soon after another click that the two are taken for a double click."""
    action = once(view, view.click(cell, **more))
    if action.point is not None and view.last is not None and view.last.point is not None:
        time.sleep(DOUBLE_CLICK_S)
    return action


def _enter(folder: str) -> Move:
    """Show a folder of the archive (or its root)."""

    def attempt(view: View) -> Action | None:
        if _location(view) == folder:
            return None
        if _location(view) != "":
            return _button("Root")(view)
        item = _members(view).get(folder)
        return Action.wait() if item is None else _click(view, item, clicks=2)

    return attempt


def _choose(names: Callable[[View], Sequence[str]]) -> Move:
    """Select exactly these members."""

    def attempt(view: View) -> Action | None:
        shown, wanted = _members(view), names(view)
        chosen = [name for name, cell in shown.items() if "selected" in cell.states]
        if sorted(chosen) == sorted(wanted):
            return None
        if not set(wanted) <= shown.keys():
            return Action.wait()
        wrong = [name for name in chosen if name not in wanted]
        missing = next(name for name in wanted if wrong or name not in chosen)
        more = {"modifiers": ("ctrl",)} if chosen and not wrong else {}
        return _click(view, shown[missing], **more)

    return attempt


def _button(label: str, title: str | None = None) -> Move:
    """Press a button of the tool bar, or of the dialog of that title while it is open."""

    def attempt(view: View) -> Action | None:
        above = _main_window(view) if title is None else _popup(view, title)
        found = above.find("push button", label) if above is not None else None
        return None if found is None else once(view, view.click(found))

    return attempt


def _keys(*keys: str) -> Move:
    return lambda view: once(view, Action.key(*keys))


def _extract_to(path: str) -> Move:
    """While the dialog for unpacking is open: say where to, and go."""

    def attempt(view: View) -> Action | None:
        shown = _popup(view, "Extract files")
        field = shown.find("text") if shown is not None else None
        if field is None:
            return None
        return _button("Extract", "Extract files")(view) if field.text == path else fill(view, field, path)

    return attempt


def _pick_to_add(folder: str, name: str) -> Move:
    """While the dialog for adding is open: go to a folder of HOME, select a file, and add it."""

    def attempt(view: View) -> Action | None:
        shown = _popup(view, "Add files")
        if shown is None:
            return None
        listed = _rows(shown)
        if name not in listed:
            return _click(view, listed[folder], clicks=2) if folder in listed else Action.wait()
        marked = "selected" in listed[name].states
        return (_button("Add", "Add files")(view) if marked else None) or _click(view, listed[name])

    return attempt


def _path_given(title: str, path: str) -> Move:
    """While a file chooser is open: type a path. A slash opens its location field."""
    entry = Action.type(path + "\n")

    def attempt(view: View) -> Action | None:
        shown = _popup(view, title)
        if shown is None:
            return None
        if view.last == entry:
            return Action.wait()  # the dialog takes a moment to go, and says the same until then
        field = next((one for one in shown.walk() if one.role == "text" and one.box is not None), None)
        if field is not None and field.text == path:
            return once(view, Action.key("enter"))
        if field is not None and field.text and not all_selected(view, field):
            return SELECT_ALL
        return entry

    return attempt


# Goals.


def folder_shown(folder: str) -> Goal:
    """A folder of the archive is shown."""
    return Goal(lambda view: _location(view) == folder, steps(_clear_way, _enter(folder)))


def extracted(files: dict[str, str], target: str, *, everything: bool = False) -> Goal:
    """Members of the archive's root were unpacked into a folder of HOME: their names, and what each says.

    The members are selected first, unless the whole archive is unpacked.
    """

    def done(view: View) -> bool:
        return all(view.read(f"{target}/{name}") == text for name, text in files.items())

    select = (lambda view: None) if everything else _choose(lambda view: list(files))
    return Goal(
        done, steps(_extract_to(f"{HOME}/{target}"), _clear_way, _enter(""), select, _button("Extract"))
    )


def deleted(path: str, folder: str, *names: str) -> Goal:
    """Members of one folder of the archive are no longer in it."""

    def left(view: View) -> list[str]:
        known = _inside(view, path)
        return [name for name in names if (f"{folder}/{name}" if folder else name) in known]

    return Goal(
        lambda view: bool(_inside(view, path)) and not left(view),
        steps(_button("OK", "Question"), _clear_way, _enter(folder), _choose(left), _keys("delete")),
    )


def added(path: str, folder: str, name: str) -> Goal:
    """A file of a folder of HOME is in the archive."""
    return Goal(
        lambda view: name in _inside(view, path),
        steps(_pick_to_add(folder, name), _clear_way, _button("Add")),
    )


def opened(path: str) -> Goal:
    """An archive is shown in the archive manager."""
    title = f"{path.rpartition('/')[2]} - xarchiver"
    return Goal(
        lambda view: view.window(title) is not None and bool(_members(view)),
        steps(_path_given("Open an archive", f"{HOME}/{path}"), _clear_way, _keys("ctrl", "o")),
    )


def closed() -> Goal:
    return Goal(lambda view: APP.window(view) is None, steps(_clear_way, _keys("ctrl", "q")))


APP = Xarchiver()
