"""L3afpad: how it is started, recognised and read, and the moves that oracles are made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from operant.apps.base import App
from operant.apps.moves import SELECT_ALL, Goal, Move, steps
from operant.apps.view import View
from operant.types import Action, Node

if TYPE_CHECKING:
    from operant.desktop.protocol import Desktop

SAVE = Action.key("ctrl", "s")
REPLACE = Action.key("ctrl", "h")


@dataclass(frozen=True)
class Document:
    """What the editor shows."""

    name: str
    text: str
    modified: bool


class L3afpad(App):
    name: ClassVar[str] = "l3afpad"
    title: ClassVar[str] = "plain text editor"
    packages: ClassVar[tuple[str, ...]] = ("l3afpad",)
    toolkit: ClassVar[str] = "gtk3"
    command: ClassVar[tuple[str, ...]] = ("l3afpad",)
    wm_class: ClassVar[str] = "L3afpad"
    accessible_name: ClassVar[str] = "l3afpad"

    def state(self, desktop: Desktop) -> Document | None:
        view = View(desktop)
        window, page = self.window(view), text_page(view)
        if window is None or page is None:
            return None
        return Document(window.title.removeprefix("*"), page.text or "", window.title.startswith("*"))


APP = L3afpad()


# Looking.


def text_page(view: View) -> Node | None:
    """The text of the document."""
    return view.widget("text", state="multi line", app=APP.accessible_name)


def text_is(wanted: str) -> Callable[[View], bool]:
    def holds(view: View) -> bool:
        page = text_page(view)
        return page is not None and page.text == wanted

    return holds


def dialog(view: View) -> Node | None:
    """A dialog or a message that is open."""
    return next((node for node in APP.tree(view).children if node.role in ("dialog", "alert")), None)


# Moves.


def close_dialogs(view: View) -> Action | None:
    """Messages such as "4 strings replaced" have only an OK button, which Escape presses."""
    return Action.key("esc") if dialog(view) else None


def focus_text(view: View) -> Action | None:
    page = text_page(view)
    if page is None:
        return Action.wait()
    return None if "focused" in page.states else view.click(page)


def typed_at_end(text: str, after: str) -> Goal:
    """The caret goes to the end, and the text is typed there."""

    def type_it(view: View) -> Action:
        page, caret = text_page(view), view.caret()
        at_end = caret is not None and page is not None and caret.offset == len(page.text or "")
        return Action.type(text) if at_end else Action.key("ctrl", "end")

    return Goal(text_is(after), steps(close_dialogs, focus_text, type_it))


def replaced(old: str, new: str, after: str) -> Goal:
    """Every occurrence, through the dialog."""
    return Goal(text_is(after), steps(_fill_replace(old, new), focus_text, lambda view: REPLACE))


def saved(path: str, text: str) -> Goal:
    return Goal(lambda view: view.read(path) == text, steps(close_dialogs, focus_text, lambda view: SAVE))


def _fill_replace(old: str, new: str) -> Move:
    def attempt(view: View) -> Action | None:
        shown = dialog(view)
        if shown is None or shown.name != "Replace":
            return close_dialogs(view)
        fields = sorted(view.widgets("text", app=APP.accessible_name, state="single line"), key=_row)
        every = view.widget("check box", "Replace all at once", app=APP.accessible_name)
        if len(fields) != 2 or every is None:
            return Action.wait()
        for field, wanted in zip(fields, (old, new), strict=True):
            if field.text == wanted:
                continue
            if "focused" not in field.states:
                return view.click(field)
            return SELECT_ALL if field.text and not _all_selected(view, field) else Action.type(wanted)
        if "checked" not in every.states:
            return view.click(every)
        return view.click(view.widget("push button", "Find and Replace", app=APP.accessible_name))

    return attempt


def _row(node: Node) -> int:
    return node.box[1] if node.box else 0


def _all_selected(view: View, field: Node) -> bool:
    caret = view.caret()
    return caret is not None and caret.selected == field.text
