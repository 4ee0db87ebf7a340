"""What can be brought about with PCManFM. Whether it is so is read off the disk where that tells."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from operant.apps.moves import Goal, Move, steps
from operant.apps.pcmanfm import SETTINGS
from operant.apps.pcmanfm.folder_view import (
    NAME,
    choose,
    clear_way,
    click,
    copy_waits,
    cut_waits,
    dialog,
    emptied,
    fill,
    items,
    leave_location_bar,
    menu,
    open_menu,
    press,
    say_yes,
    visit,
)
from operant.apps.view import View
from operant.types import Action, Button

__all__ = [
    "copied",
    "dragged",
    "duplicated",
    "file_made",
    "folder_made",
    "folder_shown",
    "hidden_files_shown",
    "moved",
    "opened_with",
    "properties_shown",
    "renamed",
    "sorted_by_size",
    "trashed",
]


def renamed(folder: str, old: str, new: str) -> Goal:
    return Goal(
        lambda view: view.exists(f"{folder}/{new}") and not view.exists(f"{folder}/{old}"),
        steps(fill("Rename File", new, about=old), clear_way, visit(folder), choose(old), press("f2")),
    )


def trashed(folder: str, *names: str) -> Goal:
    def left(view: View) -> list[str]:
        return [name for name in names if view.exists(f"{folder}/{name}")]

    return Goal(
        lambda view: not left(view),
        steps(
            say_yes(names),
            clear_way,
            visit(folder),
            lambda view: choose(*left(view))(view),
            press("delete"),
        ),
    )


def folder_made(folder: str, name: str) -> Goal:
    return Goal(
        lambda view: view.exists(f"{folder}/{name}"),
        steps(fill("Creating New Folder", name, "OK"), clear_way, visit(folder), press("ctrl", "shift", "n")),
    )


def file_made(folder: str, name: str) -> Goal:
    """An empty file, over the context menu."""

    def through_menu(view: View) -> Action | None:
        shown = menu(view)
        entry = shown.find("menu", "Create New...") if shown is not None else None
        if entry is None:
            return None
        # No look tells what a submenu shows or marks, so keys go through it by the action before.
        opening = view.click(entry)
        following = {opening: "right", Action.key("right"): "down", Action.key("down"): "enter"}
        key = following.get(view.last) if view.last is not None else None
        return Action.key(key) if key else opening

    return Goal(
        lambda view: view.exists(f"{folder}/{name}"),
        steps(fill("Creating ...", name), through_menu, clear_way, visit(folder), open_menu),
    )


def _pasted(
    names: Sequence[str],
    source: str,
    target: str,
    *,
    cut: bool = False,
    conflict: Move = lambda view: None,
    go: Callable[[str], Move] = visit,
) -> Callable[[View], Action]:
    """Files come from one folder into another over the clipboard; ``conflict`` answers what is asked of names."""
    waits = cut_waits if cut else copy_waits

    def move(view: View) -> Action | None:
        if waits(view, source, names):
            return go(target)(view) or leave_location_bar(view) or Action.key("ctrl", "v")
        return go(source)(view) or choose(*names)(view) or Action.key("ctrl", "x" if cut else "c")

    return steps(conflict, clear_way, move)


def moved(names: Sequence[str], source: str, target: str) -> Goal:
    def left(view: View) -> list[str]:
        return [
            name for name in names if view.exists(f"{source}/{name}") or not view.exists(f"{target}/{name}")
        ]

    return Goal(lambda view: not left(view), lambda view: _pasted(left(view), source, target, cut=True)(view))


def copied(
    names: Sequence[str],
    source: str,
    target: str,
    *,
    replace: bool = False,
    go: Callable[[str], Move] = visit,
) -> Goal:
    """Copies are in the target, in place of older ones if there are any."""

    def done(view: View) -> bool:
        return all(view.read(f"{target}/{name}") == view.read(f"{source}/{name}") for name in names)

    def overwrite(view: View) -> Action | None:
        shown = dialog(view, "Confirm File Replacing")
        button = shown.find("push button", "Overwrite") if shown is not None and replace else None
        return None if button is None else view.click(button)

    return Goal(done, _pasted(names, source, target, conflict=overwrite, go=go))


def duplicated(folder: str, name: str, new: str) -> Goal:
    """A copy under another name, which the file manager asks for when a file is pasted where it already is."""
    title = "Confirm File Replacing"
    empty, name_it = emptied(title, new), fill(title, new, "Rename")
    return Goal(
        lambda view: view.exists(f"{folder}/{new}"),
        _pasted([name], folder, folder, conflict=lambda view: empty(view) or name_it(view)),
    )


def dragged(folder: str, names: Sequence[str], into: str) -> Goal:
    """Move files into a folder that is shown next to them, with the mouse."""

    def left(view: View) -> list[str]:
        return [name for name in names if not view.exists(f"{folder}/{into}/{name}")]

    def drag(view: View) -> Action | None:
        shown, rest = items(view), left(view)
        if into not in shown or rest[0] not in shown:
            return Action.wait()
        return (choose(*rest)(view) if len(rest) > 1 else None) or Action.drag(
            view.centre(shown[rest[0]]), view.centre(shown[into])
        )

    return Goal(lambda view: not left(view), steps(clear_way, visit(folder), drag))


def folder_shown(folder: str, go: Callable[[str], Move] = visit) -> Goal:
    return Goal(lambda view: go(folder)(view) is None, steps(clear_way, go(folder)))


def opened_with(folder: str, name: str, title: str, program: str) -> Goal:
    """A double click opens a file in its application, which may take its time to come up."""

    def starting(view: View) -> Action | None:
        if not any(process.name == program for process in view.desktop.processes()):
            return None
        window = view.window(wm_class=program.capitalize())
        return Action.wait() if window is None or window.title.startswith("Untitled") else None

    double_click = steps(starting, clear_way, visit(folder), lambda view: click(view, name, clicks=2))
    return Goal(lambda view: view.window(title) is not None, double_click)


def properties_shown(folder: str, name: str) -> Goal:
    """The dialog that tells of a file is open."""

    def choose_entry(view: View) -> Action | None:
        shown = menu(view)
        entry = shown.find("menu item", "Properties") if shown is not None else None
        return None if entry is None else view.click(entry)

    def done(view: View) -> bool:
        properties = dialog(view, "File Properties")
        field = properties.find("text") if properties is not None else None
        return field is not None and field.text == name

    ask = steps(choose_entry, clear_way, visit(folder), lambda view: click(view, name, button=Button.RIGHT))
    return Goal(done, ask)


def sorted_by_size(folder: str) -> Goal:
    """The list shows the largest file first."""

    def click_header(view: View) -> Action:
        header = view.widget("table column header", "Size", app=NAME)
        return Action.wait() if header is None else view.click(header)

    return Goal(
        lambda view: "sort=size;descending;" in (view.read(SETTINGS) or ""),
        steps(clear_way, visit(folder), click_header),
    )


def hidden_files_shown(folder: str, shown: bool) -> Goal:
    """Hidden files are shown or not; the folder must hold one, by which that is seen."""

    def toggle(view: View) -> Action:
        now = any(name.startswith(".") for name in items(view))
        return Action.wait() if now is shown else Action.key("ctrl", "h")

    return Goal(
        lambda view: f"show_hidden={shown:d}" in (view.read(SETTINGS) or ""),
        steps(clear_way, visit(folder), toggle),
    )
