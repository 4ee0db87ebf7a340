"""Mousepad, the text editor: how it starts and what it shows.

``edits`` leads from one text to another, ``document_goals`` has what else can be brought about with it.
"""

from __future__ import annotations

from dataclasses import dataclass

from operant.apps.base import App
from operant.apps.mousepad.text_view import NAME, WM_CLASS, dialog, document, page, tabs, text_of
from operant.apps.view import View
from operant.desktop.protocol import Desktop

__all__ = ["APP", "Mousepad", "MousepadState"]


@dataclass(frozen=True)
class MousepadState:
    """What the editor shows."""

    document: str | None
    text: str | None
    tabs: tuple[str, ...]
    dialog: str | None


class Mousepad(App):
    name = "mousepad"
    title = "text editor"
    packages = ("mousepad",)
    toolkit = "gtk3"
    command = ("mousepad",)
    wm_class = WM_CLASS
    accessible_name = NAME

    def is_ready(self, view: View) -> bool:
        return page(view) is not None

    def state(self, desktop: Desktop) -> MousepadState:
        view = View(desktop)
        return MousepadState(document(view), text_of(view), tuple(tabs(view)), dialog(view))


APP = Mousepad()
