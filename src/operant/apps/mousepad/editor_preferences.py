"""The preferences of Mousepad: boxes, numbers and choices on the pages of its dialog."""

from __future__ import annotations

from collections.abc import Callable

from operant.apps import openbox
from operant.apps.mousepad.text_view import KEYFILE, NAME
from operant.apps.moves import Goal, fill
from operant.apps.preferences import labelled, stored, tap
from operant.apps.view import View
from operant.types import Action

__all__ = ["SCHEMA", "TITLE", "number_set", "preferences_closed", "spaces_for_tabs", "ticked"]

TITLE = "Mousepad Preferences"
SCHEMA = "org.xfce.mousepad.preferences.view"


def _stored(view: View, key: str) -> str | None:
    return stored(view, KEYFILE, key, SCHEMA.replace(".", "/"))


def _is_on(view: View, tab: str) -> bool:
    page = labelled(view, tab, NAME, "page tab")
    return page is not None and "selected" in page.states


def _in_preferences(tab: str, act: Callable[[View], Action]) -> Callable[[View], Action]:
    """Do that on a page of the preferences, or what leads there."""

    def open_or_act(view: View) -> Action:
        if view.window(TITLE) is not None:
            return act(view) if _is_on(view, tab) else _tap(view, tab, "page tab")
        menu = labelled(view, "Edit", NAME, "menu")
        is_open = menu is not None and "selected" in menu.states
        return _tap(view, "Preferences...", "menu item") if is_open else _tap(view, "Edit", "menu")

    return open_or_act


def _tap(view: View, name: str, role: str) -> Action:
    return tap(view, lambda now: labelled(now, name, NAME, role))


def ticked(label: str, key: str, tab: str = "View") -> Goal:
    """A box is ticked; when the preferences are closed, the file tells."""

    def done(view: View) -> bool:
        box = labelled(view, label, NAME, "check box")
        return _stored(view, key) == "true" if box is None else "checked" in box.states

    return Goal(done, _in_preferences(tab, lambda view: _tap(view, label, "check box")))


def number_set(number: int, key: str, tab: str) -> Goal:
    """The only number field of a page has taken that number; Enter leaves the field."""

    def done(view: View) -> bool:
        field = view.widget("spin button", app=NAME)
        if field is None or not _is_on(view, tab):
            return _stored(view, key) == str(number)
        return field.value == number

    def act(view: View) -> Action:
        field = view.widget("spin button", app=NAME)
        if field is None:
            return Action.wait()
        return Action.key("enter") if field.text == str(number) else fill(view, field, str(number))

    return Goal(done, _in_preferences(tab, act))


def spaces_for_tabs() -> Goal:
    """Spaces are inserted for tabs, chosen from a box on the page Editor."""

    def done(view: View) -> bool:
        if _is_on(view, "Editor"):
            return labelled(view, "Insert Spaces", NAME, "combo box") is not None
        return _stored(view, "insert-spaces") == "true"

    def act(view: View) -> Action:
        entry = labelled(view, "Insert Spaces", NAME, "menu item")
        return tap(view, lambda now: entry or labelled(now, "Insert Tabs", NAME, "combo box"))

    return Goal(done, _in_preferences("Editor", act))


def preferences_closed() -> Goal:
    return openbox.closed(lambda window: window.title == TITLE)
