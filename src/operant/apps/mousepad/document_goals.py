"""What can be brought about with documents of Mousepad: opened, closed, searched, sorted, merged, split, and its looks."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from operant.apps.mousepad.edits import LINE_UP, menu_on_line, whole_line
from operant.apps.mousepad.text_view import (
    BOTTOM,
    COPY,
    CUT,
    ESCAPE,
    NEW,
    PASTE,
    SAVE,
    UNDO,
    UNTITLED,
    caret_at,
    choose,
    dialog,
    document,
    grounded,
    menu_is_open,
    page,
    save,
    save_as,
    selected,
    setting,
    show_tab,
    spot,
    tab,
    text_of,
)
from operant.apps.moves import SELECT_ALL, Goal
from operant.apps.view import View
from operant.types import Action

__all__ = [
    "SWITCHES",
    "carried",
    "file_opened",
    "found",
    "line_copied",
    "lines_sorted",
    "merged",
    "scheme_chosen",
    "split_off",
    "switched",
    "tab_closed",
    "tidy",
]

#: What people call it -> menu, entry, section and key of the setting.
SWITCHES = {
    "line numbers": ("View", "Line Numbers", "view", "show-line-numbers"),
    "word wrap": ("Document", "Word Wrap", "view", "word-wrap"),
    "automatic indentation": ("Document", "Auto Indent", "view", "auto-indent"),
    "the toolbar": ("View", "Toolbar", "window", "toolbar-visible"),
}


def tidy(view: View) -> Action | None:
    """Close a menu or a dialog that was left open."""
    return ESCAPE if menu_is_open(view) or dialog(view) is not None else None


# Looks.


def switched(name: str, on: bool) -> Goal:
    """One of the switches is on or off, over the menus."""
    menu, entry, section, key = SWITCHES[name]
    return Goal(
        lambda view: (setting(view, section, key) == "true") is on,
        lambda view: grounded(view, menu=True) or choose(view, menu, entry),
    )


def scheme_chosen(scheme: str) -> Goal:
    return Goal(
        lambda view: setting(view, "view", "color-scheme") == scheme.lower(),
        lambda view: grounded(view, menu=True) or choose(view, "View", "Color Scheme", scheme),
    )


# One document.


def file_opened(folder: str, file: str) -> Goal:
    """A file of a folder is opened through the dialog."""

    def act(view: View) -> Action:
        if dialog(view) != "Open File":
            already = tab(view, file)
            return grounded(view) or (view.click(already) if already else Action.key("ctrl", "o"))
        cell = view.widget("table cell", file) or view.widget("table cell", folder)
        if cell is None or cell.box is None:
            return Action.wait()
        x, y, _width, height = cell.box
        return Action.click(view.point(x + 20, y + height / 2), clicks=2)

    return Goal(lambda view: document(view) == f"{folder}/{file}" and view.window("Open File") is None, act)


def tab_closed(name: str) -> Goal:
    def act(view: View) -> Action:
        here = document(view) == name
        return grounded(view) or (Action.key("ctrl", "w") if here else show_tab(view, name))

    return Goal(lambda view: page(view) is not None and tab(view, name) is None, act)


def line_copied(text: str, line: str) -> Goal:
    """A line of the document that says this is on the clipboard."""

    def act(view: View) -> Action:
        if (there := grounded(view)) is not None:
            return there
        if text_of(view) != text:
            return UNDO
        return COPY if selected(view) == line else whole_line(text, line)(view)

    return Goal(lambda view: view.clipboard() == line, act)


def found(word: str) -> Goal:
    """A word is found by the search bar, which is in no tree but has the caret when it is open."""

    def act(view: View) -> Action:
        shown, caret = page(view), view.caret()
        searching = shown is not None and "focused" not in shown.states and caret is not None
        if not searching or caret is None or dialog(view) is not None:
            return grounded(view) or Action.key("ctrl", "f")
        if caret.text == word:
            return Action.key("enter")
        return Action.type(word + "\n") if caret.selected == caret.text else SELECT_ALL

    return Goal(lambda view: view.desktop.clipboard.get("primary") == word, act)


def lines_sorted(path: str, start: str) -> Goal:
    """The lines stand in the file from A to Z: the first one that comes too late moves up, until none does."""
    lines = start.splitlines()
    wanted = "".join(line + "\n" for line in sorted(lines))

    def act(view: View) -> Action:
        text = text_of(view)
        if text is None:
            return Action.wait()
        now = text.splitlines()
        if sorted(now) != sorted(lines) or not text.endswith("\n"):
            return grounded(view) or UNDO
        late = next((index for index, (a, b) in enumerate(pairwise(now), 1) if a > b), None)
        there = grounded(view, menu=True)
        if there is not None:
            return there
        return (
            choose(view, "File", "Save") if late is None else menu_on_line(text, "", late, *LINE_UP).act(view)
        )

    return Goal(lambda view: view.read(path) == wanted, act)


# Text that goes from one document to another.


def carried(source: str, files: Mapping[str, str], target: str, line: str) -> Goal:
    """A line of one document is copied to the end of another one, which is saved; both are open in tabs."""

    def act(view: View) -> Action:
        if (there := grounded(view)) is not None:
            return there
        name, text, fetched = document(view), text_of(view), view.clipboard() == line
        if name == target and text == files[target] + line:
            return save(view)
        if name in (source, target) and text != files[name]:
            return UNDO
        if name == target and fetched:
            return PASTE if caret_at(view, len(files[target])) else BOTTOM
        if name == source and not fetched:
            return COPY if selected(view) == line else whole_line(files[source], line)(view)
        return show_tab(view, target if fetched else source)

    return Goal(lambda view: view.read(target) == files[target] + line, act)


def merged(files: Mapping[str, str], whole: str) -> Goal:
    """Whole documents, open in tabs, are copied into a new one, one after another, and that is saved."""
    everything = "".join(files.values())

    def act(view: View) -> Action:
        name, text = document(view), text_of(view) or ""
        if name == UNTITLED and text == everything:
            return save_as(view, whole, SAVE)
        if (there := grounded(view)) is not None:
            return there
        if tab(view, UNTITLED) is None:
            return NEW
        if name is not None and name in files:
            return at_source(view, name, text)
        return at_target(view, text)

    def at_source(view: View, name: str, text: str) -> Action:
        if text != files[name]:
            return UNDO
        if view.clipboard() == text:
            return show_tab(view, UNTITLED)
        return COPY if selected(view) == text else SELECT_ALL

    def at_target(view: View, text: str) -> Action:
        written = ""
        for name, content in files.items():
            if text == written:
                if view.clipboard() != content:
                    return show_tab(view, name)
                return PASTE if caret_at(view, len(text)) else BOTTOM
            written += content
        return UNDO

    return Goal(lambda view: view.read(whole) == everything, act)


def split_off(file: str, part: str, text: str, block: str) -> Goal:
    """A block of lines is cut out of one document, and another one is made of it; both are saved."""
    start = text.index(block)
    rest = text[:start] + text[start + len(block) :]

    def act(view: View) -> Action:
        name, now = document(view), text_of(view)
        if name == file:
            return grounded(view) or at_source(view, now)
        if now == block:
            return save_as(view, part, SAVE)
        if now == "":
            stocked = view.clipboard() == block and view.read(file) == rest
            return grounded(view) or (PASTE if stocked else show_tab(view, file))
        return grounded(view) or UNDO

    def at_source(view: View, now: str | None) -> Action:
        if now == text:
            return cut(view)
        if now != rest or view.clipboard() != block:
            return UNDO
        if view.read(file) != rest:
            return save(view)
        return show_tab(view, UNTITLED) if tab(view, UNTITLED) else NEW

    def cut(view: View) -> Action:
        now = selected(view)
        if now == block:
            return CUT
        ends = spot(view, text, start), spot(view, text, start + len(block))
        # A drag that begins on something marked would carry it away.
        return Action.click(spot(view, text, len(text))) if now else Action.drag(*ends)

    return Goal(lambda view: view.read(part) == block and view.read(file) == rest, act)
