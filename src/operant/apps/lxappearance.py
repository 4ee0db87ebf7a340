"""LXAppearance, which sets the look of the desktop: themes, the default font, and images on buttons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from operant.apps.base import App
from operant.apps.moves import Goal, fill
from operant.apps.preferences import labelled, stored, tap
from operant.apps.view import View
from operant.types import Action, Node

if TYPE_CHECKING:
    from operant.desktop.protocol import Desktop

__all__ = ["APP", "FONT", "GTK2", "GTK3", "LXAppearance", "Look", "chosen", "font_size"]

NAME = "lxappearance"
GTK2, GTK3 = ".gtkrc-2.0", ".config/gtk-3.0/settings.ini"
FONT, FONT_DIALOG = "DejaVu Sans", "Pick a Font"


@dataclass(frozen=True)
class Look:
    """What is stored of the look of the desktop; None where nothing was chosen."""

    theme: str | None
    icons: str | None
    cursor: str | None
    font: str | None
    button_images: str | None


class LXAppearance(App):
    name = NAME
    title = "settings of the desktop's look"
    packages = ("lxappearance",)
    toolkit = "gtk2"
    command = (NAME,)
    wm_class = "Lxappearance"
    accessible_name = NAME

    def state(self, desktop: Desktop) -> Look:
        keys = ("theme-name", "icon-theme-name", "cursor-theme-name", "font-name", "button-images")
        return Look(*(stored(View(desktop), GTK2, f"gtk-{key}") for key in keys))


def _on_page(view: View, tab: str) -> Action:
    return tap(view, lambda now: labelled(now, tab, NAME, "page tab"))


def _press(view: View, label: str) -> Action:
    return tap(view, lambda now: labelled(now, label, NAME, "push button"))


def chosen(tab: str, name: str, key: str, value: str) -> Goal:
    """A row of a page is selected, or a box of it is not ticked any more, and that is applied."""

    def find(view: View) -> Node | None:
        return labelled(view, name, NAME, "table cell", "check box")

    def act(view: View) -> Action:
        if view.window(FONT_DIALOG) is not None:
            return Action.key("esc")
        node = find(view)
        if node is None:
            return _on_page(view, tab)
        made = "selected" in node.states if node.role == "table cell" else "checked" not in node.states
        return _press(view, "Apply") if made else view.click(node)

    return Goal(lambda view: stored(view, GTK2, key) == value, act)


def font_size(size: int) -> Goal:
    """The default font has that size, which a dialog asks for, and that is applied."""

    def opener(view: View) -> Node | None:
        for node in view.tree(NAME).walk():
            if node.role == "push button" and any("DejaVu" in child.name for child in node.children):
                return node
        return None

    def act(view: View) -> Action:
        if view.window(FONT_DIALOG) is not None:
            return in_dialog(view)
        button = opener(view)
        if button is None:
            return _on_page(view, "Widget")
        picked = any(node.role == "label" and node.name == str(size) for node in button.walk())
        return _press(view, "Apply") if picked else view.click(button)

    def in_dialog(view: View) -> Action:
        fields = view.widgets("text", app=NAME)
        field = next((node for node in fields if (node.text or "").isdecimal()), None)
        if field is None:
            return Action.wait()
        return _press(view, "OK") if field.text == str(size) else fill(view, field, str(size))

    return Goal(lambda view: stored(view, GTK2, "gtk-font-name") == f"{FONT} {size}", act)


APP = LXAppearance()
