"""The icons of HOME on a full desktop, which the file manager draws, and their menus."""

from __future__ import annotations

from operant.apps.lxpanel import ESCAPE, FILES, Program, in_front, window_of
from operant.apps.moves import Move, once
from operant.apps.view import View
from operant.types import Action, Button, Node

__all__ = [
    "chosen",
    "empty_spot",
    "entry_clicked",
    "folder_made",
    "folder_made_in",
    "icon_menu",
    "icon_opened",
    "name_entered",
]


def icon(view: View, name: str) -> Node | None:
    return next((node for node in view.widgets("icon", name) if node.name), None)


def icon_menu(view: View) -> bool:
    """Whether a menu of the desktop or of one of its icons is open."""
    return (
        view.widget("menu item", "Properties") is not None or view.widget("menu", "Create New...") is not None
    )


def icon_opened(name: str, program: Program, title: str) -> Move:
    """Double-click an icon until a window shows what it stands for."""

    def step(view: View) -> Action | None:
        if view.window(title, wm_class=program.wm_class) is not None:
            return None
        if icon_menu(view):
            return ESCAPE
        found = icon(view, name)
        if found is None:
            return Action.wait()
        return once(view, view.click(found, clicks=2))

    return step


def chosen(view: View, name: str, *path: str) -> Action:
    """The next action on the way to an entry of an icon's menu."""
    found = icon(view, name)
    if found is None:
        return Action.wait()
    if not icon_menu(view):
        return view.click(found, button=Button.RIGHT)
    return entry_clicked(view, *path)


def entry_clicked(view: View, *path: str) -> Action:
    entries = [*view.widgets("menu item"), *view.widgets("menu")]
    for name in reversed(path):
        for entry in entries:
            if entry.name == name:
                return view.click(entry)
    return ESCAPE


def empty_spot(view: View) -> Action:
    """A right click where the desktop shows, in the middle if possible."""
    for x, y in ((0.5, 0.5), (0.8, 0.5), (0.5, 0.85), (0.85, 0.2), (0.25, 0.6), (0.95, 0.9)):
        u, v = int(x * view.size.width), int(y * view.size.height)
        covered = any(
            one.x - 4 <= u < one.x + one.width + 4 and one.y - 26 <= v < one.y + one.height + 8
            for one in view.windows
            if not one.minimized
        )
        if not covered:
            return Action.click(view.point(u, v), button=Button.RIGHT)
    return Action.key("alt", "tab")


def name_entered(view: View, title: str, name: str) -> Action | None:
    """Fill in the dialog that asks for a name; None if it is not there."""
    dialog = view.window(title, wm_class="Pcmanfm")
    if dialog is None:
        return None
    entry = view.widget("text", state="editable")
    if entry is None:
        return Action.wait()
    if entry.text == name:
        return Action.key("enter")
    return Action.type(name + "\n")  # the name that it offers is marked


def folder_made(name: str) -> Move:
    """Make a folder by the menu of the desktop."""

    def step(view: View) -> Action | None:
        if view.desktop.files.exists(name):
            return None
        entering = name_entered(view, "Creating New Folder", name)
        if entering is not None:
            return entering
        if icon_menu(view):
            return entry_clicked(view, "Create New...", "Folder")
        return empty_spot(view)

    return step


def folder_made_in(place: str, name: str, open_it: Move) -> Move:
    """Make a folder in a window of the file manager that ``open_it`` opens."""

    def step(view: View) -> Action | None:
        if view.desktop.files.exists(f"{place}/{name}") and window_of(view, FILES) is not None:
            return None
        entering = name_entered(view, "Creating New Folder", name)
        if entering is not None:
            return entering
        return open_it(view) or in_front(view, FILES) or Action.key("ctrl", "shift", "n")

    return step
