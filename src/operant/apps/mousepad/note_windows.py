"""Notes that are open in windows of Mousepad: carry text to the end of one, and save it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from operant.apps.file_chooser import saved_through
from operant.apps.mousepad.text_view import BOTTOM, COPY, LINE, MARGIN, NAME, PASTE, SAVE, TOP, UNDO
from operant.apps.moves import SELECT_ALL, Goal, Move, once
from operant.apps.view import View
from operant.types import Action, Node

__all__ = ["COPY", "answer_question", "copy_all", "copy_line", "pasted", "saved", "saved_as"]


def _editor(view: View, name: str) -> Node | None:
    """The text of the window in which a note is open."""
    for window in view.tree(NAME).children:
        if name in window.name:
            return next((one for one in window.walk() if one.role == "text" and one.box is not None), None)
    return None


def _text(view: View, name: str) -> str | None:
    editor = _editor(view, name)
    return None if editor is None else editor.text or ""


def into(name: str, *, at_top: bool = True) -> Move:
    """Click into a note, unless the keys go there already.

    A click below the last line puts the caret at the end. A move that goes to one end of the text clicks at the other
    one, so that it takes the same keys in every note.
    """

    def attempt(view: View) -> Action | None:
        editor, window = _editor(view, name), view.focused
        if editor is None or editor.box is None:
            return Action.wait()
        if window is not None and name in window.title and "focused" in editor.states:
            return None
        x, y = editor.box[:2]
        return Action.click(view.point(x + MARGIN, y + LINE / 2)) if at_top else view.click(editor)

    return attempt


def copy_all(name: str) -> Callable[[View], Action]:
    """Copy all of a note."""

    def act(view: View) -> Action:
        caret, text = view.caret(), _text(view, name)
        marked = caret is not None and caret.selected == text
        return into(name)(view) or (COPY if marked else SELECT_ALL)

    return act


def copy_line(name: str, line: str, *, first: bool) -> Callable[[View], Action]:
    """Copy the first or the last line of a note."""

    def act(view: View) -> Action:
        if (click := into(name, at_top=not first)(view)) is not None:
            return click
        caret = view.caret()
        if caret is None:
            return Action.wait()
        if caret.selected == line:
            return COPY
        there = caret.selection is None and caret.offset == (0 if first else len(caret.text))
        if not there:
            return TOP if first else BOTTOM
        return Action.key("shift", "end" if first else "home")

    return act


def pasted(name: str, before: str, piece: str, fetch: Callable[[View], Action]) -> Goal:
    """A piece of text stands at the end of a note; ``fetch`` brings it to the clipboard.

    A line break at the end of ``before`` may be missing: it is entered first.
    """

    def act(view: View) -> Action:
        text, caret = _text(view, name), view.caret()
        if text is None:
            return Action.wait()
        if text == before and view.clipboard() != piece:
            return fetch(view)
        if (click := into(name)(view)) is not None:
            return click
        if text not in (before, before.removesuffix("\n")):
            return UNDO
        if caret is None or caret.selection is not None or caret.offset != len(text):
            return BOTTOM
        return PASTE if text == before else Action.key("enter")

    return Goal(lambda view: (_text(view, name) or "").startswith(before + piece), act)


def saved(name: str, text: str) -> Goal:
    """A note that says this is saved, except for blanks at its end."""

    def act(view: View) -> Action:
        window = view.window(name, wm_class="Mousepad")
        if window is None or not window.title.startswith("*"):
            return Action.wait()  # it is being saved
        return into(name)(view) or SAVE

    return Goal(lambda view: (view.read(name) or "").rstrip() == text.rstrip(), act)


def saved_as(title: str, name: str, text: str) -> Goal:
    """The document of that title is saved under a name, through the dialog that asks for it."""
    return saved_through("Save As", name, text, lambda view: into(title)(view) or once(view, SAVE))


def answer_question(keep: Sequence[str]) -> Move:
    """While Mousepad asks about changes of a note that is being closed: save them if it is to be kept."""

    def attempt(view: View) -> Action | None:
        question = view.window("Save Changes")
        if question is None:
            return None
        below = view.windows[view.windows.index(question) - 1].title
        kept = any(name in below for name in keep)
        found = view.widget("push button", "Save" if kept else "Don't Save")
        return Action.wait() if found is None else view.click(found)

    return attempt
