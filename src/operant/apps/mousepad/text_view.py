"""Mousepad as an oracle sees and uses it: the document that is shown, its caret, dialogs and menus."""

from __future__ import annotations

from operant.apps.file_chooser import enter_name
from operant.apps.preferences import stored
from operant.apps.view import View
from operant.types import Action, Node, Point, Window

__all__ = [
    "BOTTOM",
    "COPY",
    "CUT",
    "ESCAPE",
    "KEYFILE",
    "LINE",
    "MARGIN",
    "NAME",
    "NEW",
    "PASTE",
    "SAVE",
    "SAVE_AS",
    "TOP",
    "UNDO",
    "UNTITLED",
    "WM_CLASS",
    "caret_at",
    "choose",
    "dialog",
    "document",
    "end_of_line",
    "grounded",
    "menu_is_open",
    "page",
    "save",
    "save_as",
    "selected",
    "setting",
    "show_tab",
    "spot",
    "tab",
    "tabs",
    "text_of",
]

NAME, WM_CLASS = "mousepad", "Mousepad"
TITLE = " - Mousepad"
KEYFILE = ".config/glib-2.0/settings/keyfile"
UNTITLED = "Untitled 1"
CHARACTER, LINE, MARGIN = 9, 18, 2  # pixels of the editor's font

SAVE = Action.key("ctrl", "s")
SAVE_AS = Action.key("ctrl", "shift", "s")
COPY = Action.key("ctrl", "c")
CUT = Action.key("ctrl", "x")
PASTE = Action.key("ctrl", "v")
UNDO = Action.key("ctrl", "z")
NEW = Action.key("ctrl", "n")
ESCAPE = Action.key("esc")
TOP = Action.key("ctrl", "home")
BOTTOM = Action.key("ctrl", "end")


# Looking.


def _window(view: View) -> Window | None:
    return view.window(TITLE)


def document(view: View) -> str | None:
    """The path of the document that is shown, or its name if it has no file yet."""
    window = _window(view)
    return None if window is None else window.title.removesuffix(TITLE).removeprefix("*").removeprefix("~/")


def page(view: View) -> Node | None:
    """The text of the document that is shown."""
    return view.widget("text", state="multi line", app=NAME)


def text_of(view: View) -> str | None:
    shown = page(view)
    return None if shown is None else shown.text


def selected(view: View) -> str:
    """What is marked in the text that has the focus."""
    caret = view.caret()
    return "" if caret is None else caret.selected


def caret_at(view: View, offset: int) -> bool:
    """Whether the next key goes there, and nothing is marked."""
    caret = view.caret()
    return caret is not None and caret.selection is None and caret.offset == offset


def dialog(view: View) -> str | None:
    """The title of the editor's dialog that has the focus."""
    focused = view.focused
    if focused is None or focused.wm_class != WM_CLASS or focused.title.endswith(TITLE):
        return None
    return focused.title


def menu_is_open(view: View) -> bool:
    return any("selected" in menu.states for menu in view.widgets("menu", app=NAME))


def tabs(view: View) -> list[str]:
    return [one.name for one in view.widgets("page tab", app=NAME)]


def tab(view: View, name: str) -> Node | None:
    return view.widget("page tab", name, app=NAME)


def setting(view: View, section: str, key: str) -> str | None:
    """What the editor stored of its preferences."""
    return stored(view, KEYFILE, key, f"org/xfce/mousepad/preferences/{section}")


def spot(view: View, text: str, offset: int) -> Point:
    """The left edge of a character of the text that is shown."""
    shown = page(view)
    if shown is None or shown.box is None:
        return view.point(0, 0)
    bar = view.widget("scroll bar", app=NAME)
    scrolled = bar.value or 0.0 if bar else 0.0
    line = text.count("\n", 0, offset)
    column = offset - (text.rfind("\n", 0, offset) + 1)
    x, y = shown.box[0] + MARGIN + CHARACTER * column, shown.box[1] + LINE * line + LINE // 2 - scrolled
    return view.point(x, y)


def end_of_line(text: str, line: int) -> int:
    """How many characters stand before the end of a line, which is counted from 0."""
    return len("\n".join(text.split("\n")[: line + 1]))


# Acting.


def grounded(view: View, *, menu: bool = False, keep: str | None = None) -> Action | None:
    """Out of menus and dialogs that the next step has no use for, and into the text; None when there."""
    shown, now, focused = page(view), dialog(view), view.focused
    if now is not None:
        return None if now == keep else ESCAPE
    if shown is None or focused is None:
        return Action.wait()
    if focused.wm_class != WM_CLASS:
        return view.click(shown)
    if menu_is_open(view):
        return None if menu else ESCAPE
    if "focused" in shown.states:
        return None
    return view.click(shown) if view.caret() is None else ESCAPE  # which closes the search bar


def choose(view: View, *path: str) -> Action:
    """The next click on the way through the menus to an entry."""
    entries = [*view.widgets("menu", app=NAME), *view.widgets("menu item", app=NAME)]
    for name in reversed(path):
        for entry in entries:
            if entry.name.strip() == name:
                return view.click(entry)
    return Action.wait()


def save(view: View) -> Action:
    """Save the document to the file that it came from; wait while that is going on."""
    there, window = grounded(view), _window(view)
    if there is not None:
        return there
    return SAVE if window is not None and window.title.startswith("*") else Action.wait()


def save_as(view: View, name: str, ask: Action = SAVE_AS) -> Action:
    """The next action on the way to the file of that name through the dialog that ``ask`` opens."""
    if dialog(view) == "Save As":
        return enter_name(view, name)
    if view.window("Save As") is not None:
        return Action.wait()  # it is there, but does not listen yet
    return grounded(view) or ask


def show_tab(view: View, name: str) -> Action:
    """Bring the tab of a document to the front."""
    return grounded(view) or view.click(tab(view, name))
