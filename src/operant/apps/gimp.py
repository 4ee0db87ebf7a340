"""GIMP: pictures with layers. One window; its dialogs are windows of their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from operant.apps.base import App
from operant.apps.moves import Goal, once
from operant.types import Action

if TYPE_CHECKING:
    from operant.desktop.protocol import Desktop

__all__ = ["APP", "Gimp", "GimpState", "dialog"]

ENDING = " – GIMP"  # of the title of a window with a picture
EMPTY = "GNU Image Manipulation Program"  # the title of one without


@dataclass(frozen=True)
class GimpState:
    """What its windows say."""

    picture: str | None
    """The open picture and its kind, as the title tells them; None if none is open."""
    dialogs: tuple[str, ...]
    """Titles of its other windows."""


class Gimp(App):
    name = "gimp"
    title = "picture editor"
    packages = ("gimp",)
    toolkit = "gtk2"
    command = ("gimp", "--no-splash", "--new-instance")
    wm_class = "Gimp"
    accessible_name = "gimp"

    def state(self, desktop: Desktop) -> GimpState:
        titles = [window.title for window in desktop.windows() if window.wm_class.startswith("Gimp")]
        pictures = [title.removesuffix(ENDING) for title in titles if title.endswith(ENDING)]
        others = [title for title in titles if not title.endswith(ENDING) and title != EMPTY]
        return GimpState(pictures[0] if pictures else None, tuple(others))


APP = Gimp()

# Moves.


def dialog(title: str, *keys: str) -> Goal:
    """A dialog is open, by its keys. Accessibility of GTK 2 does not tell of the entries of menus."""
    press = Action.key(*keys)
    return Goal(lambda view: title in APP.state(view.desktop).dialogs, lambda view: once(view, press))
