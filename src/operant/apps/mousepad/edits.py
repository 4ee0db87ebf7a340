"""Edits of Mousepad: steps from one text to the next, taken by what the caret and the selection are.

An edit that goes somewhere by a click takes the end of the line, so that it needs the same actions wherever the caret
stands before. A text that no step knows is undone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from operant.apps.mousepad.text_view import (
    BOTTOM,
    UNDO,
    caret_at,
    choose,
    dialog,
    end_of_line,
    grounded,
    menu_is_open,
    save,
    save_as,
    selected,
    spot,
    text_of,
)
from operant.apps.moves import Goal, fill, once
from operant.apps.view import View
from operant.types import Action

__all__ = [
    "LINE_UP",
    "Act",
    "TextEdit",
    "appended",
    "edited",
    "filled_in",
    "line_replaced",
    "marked",
    "menu_on_line",
    "menu_on_selection",
    "moved_up",
    "on_line",
    "replaced_everywhere",
    "replaced_word",
    "saved_as",
    "typed",
    "whole_line",
    "without_line",
]

REPLACE, GO_TO = "Find and Replace", "Go To"
LINE_UP = ("Edit", "Move", "Line Up")
Act = Callable[[View], Action]


@dataclass(frozen=True)
class TextEdit:
    """A step from one text to another, and the way to take it."""

    before: str
    after: str
    act: Act
    menu: bool = False
    dialog: str | None = None
    """The dialog that the way leads through."""


def edited(path: str, edits: Sequence[TextEdit], keep: Act = save) -> Goal:
    """The edits are made, and the file says the result, which ``keep`` saves."""
    return _kept(path, edits[-1].after, edits, keep)


def saved_as(name: str, edits: Sequence[TextEdit], ask: Action, text: str | None = None) -> Goal:
    """The edits are made, if there are any, and their result is saved under a name through the dialog."""
    return _kept(name, text or edits[-1].after, edits, lambda view: save_as(view, name, ask))


def _kept(path: str, text: str, edits: Sequence[TextEdit], keep: Act) -> Goal:
    def act(view: View) -> Action:
        now = text_of(view)
        if now is None:
            return Action.wait()
        if now == text:
            return keep(view)
        for edit in reversed(edits):
            if now == edit.before:
                return grounded(view, menu=edit.menu, keep=edit.dialog) or edit.act(view)
        return grounded(view) or UNDO

    return Goal(lambda view: view.read(path) == text, act)


# Edits.


def typed(before: str, offset: int, text: str, go: Action = BOTTOM) -> TextEdit:
    """Go somewhere by keyboard and type."""
    after = before[:offset] + text + before[offset:]
    return TextEdit(before, after, lambda view: Action.type(text) if caret_at(view, offset) else go)


def appended(before: str, text: str) -> TextEdit:
    """Type at the end."""
    return typed(before, len(before), text)


def marked(before: str, after: str, select: Act, wanted: str, then: Action) -> TextEdit:
    """Mark something and do something with it."""
    return TextEdit(before, after, lambda view: then if selected(view) == wanted else select(view))


def replaced_word(before: str, old: str, new: str) -> TextEdit:
    """Double-click a word and type over it."""
    middle = before.index(old) + len(old) // 2
    return marked(
        before,
        before.replace(old, new, 1),
        lambda view: Action.click(spot(view, before, middle), clicks=2),
        old,
        Action.type(new),
    )


def filled_in(text: str, values: Sequence[tuple[str, str]]) -> list[TextEdit]:
    """Type over words, one after another."""
    edits: list[TextEdit] = []
    for old, new in values:
        edits.append(replaced_word(edits[-1].after if edits else text, old, new))
    return edits


def on_line(before: str, after: str, line: int, then: Action) -> TextEdit:
    """Click behind a line and press something."""
    end = end_of_line(before, line)

    def act(view: View) -> Action:
        return then if caret_at(view, end) else Action.click(spot(view, before, end))

    return TextEdit(before, after, act)


def menu_on_line(before: str, after: str, line: int, *path: str) -> TextEdit:
    """Click behind a line and choose something from the menus."""
    end = end_of_line(before, line)

    def act(view: View) -> Action:
        there = menu_is_open(view) or caret_at(view, end)
        return choose(view, *path) if there else Action.click(spot(view, before, end))

    return TextEdit(before, after, act, menu=True)


def menu_on_selection(before: str, after: str, select: Act, wanted: str, *path: str) -> TextEdit:
    """Mark something and choose something from the menus."""

    def act(view: View) -> Action:
        return choose(view, *path) if menu_is_open(view) or selected(view) == wanted else select(view)

    return TextEdit(before, after, act, menu=True)


def line_replaced(text: str, number: int, new: str) -> TextEdit:
    """Go to a line by its number, mark it and type over it."""
    lines = text.split("\n")
    old, start = lines[number - 1], end_of_line(text, number - 2) + 1
    after = "\n".join([*lines[: number - 1], new, *lines[number:]])

    def act(view: View) -> Action:
        if dialog(view) == GO_TO:
            return _enter_line(view, str(number))
        if selected(view) == old + "\n":
            return Action.type(new + "\n")
        return Action.key("shift", "down") if caret_at(view, start) else Action.key("ctrl", "l")

    return TextEdit(text, after, act, dialog=GO_TO)


def _enter_line(view: View, number: str) -> Action:
    """Type a line number into the dialog and confirm it."""
    entry = view.widget("spin button")
    if entry is None:
        return Action.wait()
    if entry.text != number:
        return fill(view, entry, number + "\n")
    # The dialog takes a moment to go away, and until then no look tells whether it was confirmed.
    confirmed = view.last in (Action.type(number + "\n"), Action.wait())
    return Action.wait(0.5) if confirmed else once(view, view.click(view.widget("push button", "Jump to")))


def replaced_everywhere(text: str, old: str, new: str) -> TextEdit:
    """Replace all occurrences with the dialog that does that."""

    def act(view: View) -> Action:
        return _fill_and_replace(view, old, new) if dialog(view) == REPLACE else Action.key("ctrl", "r")

    return TextEdit(text, text.replace(old, new), act, dialog=REPLACE)


def _fill_and_replace(view: View, old: str, new: str) -> Action:
    fields = view.widgets("text", state="single line")
    if len(fields) < 2:
        return Action.wait()
    for field, wanted in zip(fields, (old, new), strict=False):
        if field.text != wanted:
            return fill(view, field, wanted)
    everywhere = view.widget("check box", "Replace all in:")
    if everywhere is not None and "checked" not in everywhere.states:
        return view.click(everywhere)
    # The button changes its name with the check box.
    button = view.widget("push button", "Replace All") or view.widget("push button", "Replace")
    return Action.wait() if button is None else view.click(button)


# Texts and places.


def whole_line(text: str, line: str) -> Act:
    """Click a line three times."""
    start = text.index(line)
    return lambda view: Action.click(spot(view, text, start + 2), clicks=3)


def moved_up(text: str, line: int) -> str:
    lines = text.split("\n")
    lines[line - 1], lines[line] = lines[line], lines[line - 1]
    return "\n".join(lines)


def without_line(text: str, line: int) -> str:
    lines = text.split("\n")
    return "\n".join(lines[:line] + lines[line + 1 :])
