"""The dialog in which GTK applications ask for the name of a file to save."""

from __future__ import annotations

from collections.abc import Callable

from operant.apps.moves import SELECT_ALL, Goal, once
from operant.apps.view import View
from operant.types import Action

__all__ = ["PATIENT", "enter_name", "saved_through"]

PATIENT = Action.wait(0.5)


def enter_name(view: View, name: str) -> Action:
    """Type a name into the dialog that has the focus and confirm it."""
    stem, _, extension = name.rpartition(".")
    entry, caret = view.widget("text", state="single line"), view.caret()
    if entry is None:
        return Action.wait()
    if entry.text == name:
        return _confirmed(view, name, stem)
    if "focused" not in entry.states or caret is None:
        return view.click(entry)
    if entry.text and caret.selected == entry.text.removesuffix(f".{extension}") != entry.text:
        return Action.type(stem + "\n")  # the dialog offers the old name with all but its extension marked
    return SELECT_ALL if entry.text and caret.selected != entry.text else Action.type(name + "\n")


def _confirmed(view: View, name: str, stem: str) -> Action:
    """The dialog takes half a second to go away, and until then no look tells whether it was confirmed."""
    if view.last in (Action.type(name + "\n"), Action.type(stem + "\n")):
        return Action.wait()
    return (
        PATIENT if view.last == Action.wait() else once(view, view.click(view.widget("push button", "Save")))
    )


def saved_through(title: str, name: str, content: str, ask: Callable[[View], Action]) -> Goal:
    """A file holds that content, saved through the dialog of that title, which ``ask`` opens."""

    def act(view: View) -> Action:
        if view.window(title) is None:
            return ask(view)
        here = view.focused is not None and view.focused.title.startswith(title)
        return enter_name(view, name) if here else Action.wait()  # it is there, but does not listen yet

    return Goal(lambda view: view.window(title) is None and view.read(name) == content, act)
