"""Atril, the document viewer: which page it shows, and how pages are found, documents opened and views set up.

Every document has a viewer process of its own, and of several processes of one name accessibility reads the
first only; so moves look at the widgets of the focused window.
"""

from __future__ import annotations

import configparser
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from operant.apps.base import App
from operant.apps.file_chooser import saved_through
from operant.apps.moves import SELECT_ALL, Goal, all_selected, fill, once
from operant.apps.openbox import raise_it
from operant.apps.view import View
from operant.types import Action, Node

if TYPE_CHECKING:
    from operant.desktop.protocol import Desktop

__all__ = [
    "APP",
    "KEYFILE",
    "VIEWS",
    "Atril",
    "OpenDocument",
    "chosen",
    "copied_to",
    "copy_all",
    "defaults_saved",
    "document_opened",
    "menus_closed",
    "page_shown",
    "search_closed",
    "swapped",
    "word_found",
]

NAME = "atril"
KEYFILE = ".config/glib-2.0/settings/keyfile"
DEFAULTS = "org/mate/atril/default"
FIND, GO_TO_PAGE = Action.key("ctrl", "f"), Action.key("ctrl", "l")
OPEN, CLOSE = Action.key("ctrl", "o"), Action.key("ctrl", "w")
COPY, SAVE, ESCAPE = Action.key("ctrl", "c"), Action.key("ctrl", "s"), Action.key("esc")
#: Entry of the View menu -> key of the setting.
VIEWS = {
    "Dual": "dual-page",
    "Inverted Colors": "inverted-colors",
    "Continuous": "continuous",
    "Side Pane": "show-sidebar",
}


@dataclass(frozen=True)
class OpenDocument:
    """A document that is shown, and where it is: "(2 of 9)"."""

    title: str
    page: str


class Atril(App):
    name = NAME
    title = "document viewer"
    packages = ("atril",)
    toolkit = "gtk3"
    command = (NAME,)
    wm_class = "Atril"
    accessible_name = NAME

    def home(self) -> Mapping[str, str | bytes]:
        return {KEYFILE: f"[{DEFAULTS}]\nsizing-mode='fit-page'\ncontinuous=false\nshow-sidebar=false\n"}

    def state(self, desktop: Desktop) -> OpenDocument | None:
        view = View(desktop)
        window = self.window(view)
        labels = [one.name for one in view.widgets("label", app=NAME) if one.name.startswith("(")]
        return None if window is None else OpenDocument(window.title, labels[0] if labels else "")


# Looking.


def _shows(view: View, page: int, count: int) -> bool:
    """The label beside the page's number says what is shown, the entry only what was typed."""
    return view.widget("label", f"({page} of {count})") is not None


def _page_entry(view: View) -> Node | None:
    return view.widget("text", "page-label-entry")


def _search_entry(view: View) -> Node | None:
    return next((entry for entry in view.widgets("text") if entry.name != "page-label-entry"), None)


def _open_menu(view: View) -> str | None:
    return next((menu.name for menu in view.widgets("menu") if "selected" in menu.states), None)


def _entry(view: View, name: str) -> Node | None:
    return view.widget("check menu item", name) or view.widget("menu item", name)


def _default(view: View, key: str) -> bool:
    """What is stored of the settings that new documents get."""
    parser = configparser.ConfigParser(interpolation=None)
    parser.read_string(view.read(KEYFILE) or "")
    return parser.get(DEFAULTS, key, fallback="false") == "true"


def _is_starting(view: View) -> bool:
    """Whether a second viewer has been started whose window is not there yet."""
    return sum(process.name == NAME for process in view.desktop.processes()) > 1


# Acting.


def _grounded(view: View) -> Action | None:
    """Out of menus and dialogs; None when the focused window is a document's."""
    if _page_entry(view) is None:
        asks = view.tree().role in ("dialog", "alert", "file chooser")
        return ESCAPE if asks else Action.wait()  # a window that has just come up says nothing yet
    return ESCAPE if _open_menu(view) else None


def _choose(view: View, menu: str, entry: str) -> Action:
    """The next click on the way to an entry of a menu."""
    found = _entry(view, entry) if _open_menu(view) == menu else None
    return view.click(found or view.widget("menu", menu))


def copy_all(name: str) -> Callable[[View], Action]:
    """Copy all text of a document that is open."""

    def act(view: View) -> Action:
        window = view.window(name)
        if window is None:
            return Action.wait()
        if view.focused is None or view.focused.id != window.id:
            return Action.click(view.point(window.x + window.width / 2, window.y + window.height * 0.7))
        # What is selected in a document is on its page only: no look tells.
        if view.last == SELECT_ALL:
            return COPY
        return Action.wait() if view.last == COPY else SELECT_ALL

    return act


# Goals.


def page_shown(page: int, count: int) -> Goal:
    """A page is shown, by its number."""

    def act(view: View) -> Action:
        if (there := _grounded(view)) is not None:
            return there
        entry = _page_entry(view)
        marked = entry is not None and "focused" in entry.states and all_selected(view, entry)
        return Action.type(f"{page}\n") if marked else GO_TO_PAGE

    return Goal(lambda view: _shows(view, page, count), act)


def word_found(word: str, page: int, count: int) -> Goal:
    """The page with a word is shown, by a search."""

    def act(view: View) -> Action:
        if (there := _grounded(view)) is not None:
            return there
        entry = _search_entry(view)
        if entry is None or "focused" not in entry.states:
            return FIND
        if entry.text == word:
            return once(view, Action.key("enter"))
        return fill(view, entry, word + "\n")

    return Goal(lambda view: _shows(view, page, count), act)


def search_closed() -> Goal:
    return Goal(lambda view: _search_entry(view) is None, lambda view: ESCAPE)


def chosen(menu: str, entry: str, role: str, name: str) -> Goal:
    """An entry of a menu was chosen, which a widget of that role and name shows."""
    return Goal(lambda view: view.widget(role, name) is not None, lambda view: _choose(view, menu, entry))


def menus_closed() -> Goal:
    return Goal(lambda view: _grounded(view) is None, lambda view: _grounded(view) or Action.wait())


def defaults_saved(entries: tuple[str, ...]) -> Goal:
    """Of the checks of the View menu, these are the default. Only the open menu tells how they are."""

    def act(view: View) -> Action:
        if _saved(view):
            return ESCAPE
        if _open_menu(view) == "Edit":
            return _choose(view, "Edit", "Save Current Settings as Default")
        if _open_menu(view) != "View":
            return view.click(view.widget("menu", "View"))
        for name in VIEWS:
            found = _entry(view, name)
            if found is not None and ("checked" in found.states) != (name in entries):
                return view.click(found)
        return view.click(view.widget("menu", "Edit"))

    def _saved(view: View) -> bool:
        return all(_default(view, key) == (name in entries) for name, key in VIEWS.items())

    return Goal(lambda view: _saved(view) and _open_menu(view) is None, act)


def copied_to(name: str, content: str) -> Goal:
    """A copy of the document was saved under another name."""
    return saved_through("Save As", name, content, lambda view: _grounded(view) or once(view, SAVE))


def document_opened(folder: str, name: str) -> Goal:
    """A document of a folder of HOME is open in a window of its own."""

    def act(view: View) -> Action:
        if view.window("Open Document") is None:
            return Action.wait() if _is_starting(view) else _grounded(view) or once(view, OPEN)
        for wanted in (name, folder):
            cell = view.widget("table cell", wanted)
            if cell is not None and cell.box is not None:
                x, y, _width, height = cell.box
                return once(view, Action.click(view.point(x + 20, y + height / 2), clicks=2))
        return Action.wait()

    return Goal(lambda view: view.window(name) is not None and view.window("Open Document") is None, act)


def swapped(old: str, new: str, page: Goal) -> Goal:
    """Of two open documents, one is at a page and the other one is closed."""

    def in_front(view: View, title: str) -> bool:
        return view.focused is not None and title in view.focused.title

    def act(view: View) -> Action:
        if in_front(view, old):
            return _grounded(view) or CLOSE
        if in_front(view, new) and not page.done(view):
            return page.act(view)
        window = view.window(old if in_front(view, new) else new)
        return Action.wait() if window is None else raise_it(view, window)

    return Goal(lambda view: view.window(old) is None and in_front(view, new) and page.done(view), act)


APP = Atril()
