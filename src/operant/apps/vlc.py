"""VLC: films and music. Its widgets are accessible as those of Qt 5."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from operant.apps.base import App
from operant.apps.moves import Goal, through_menu
from operant.apps.view import View
from operant.types import Action

if TYPE_CHECKING:
    from operant.desktop.protocol import Desktop

__all__ = ["APP", "Vlc", "VlcState", "menu", "played"]

TITLE = "VLC media player"


@dataclass(frozen=True)
class VlcState:
    """What its window says."""

    playing: str | None
    """What is open, as its title names it; None if nothing is."""


class Vlc(App):
    name = "vlc"
    title = "media player"
    packages = ("vlc",)
    toolkit = "qt5"
    # Else it asks for permission to fetch covers, and says in a pop-up what plays next.
    command = ("vlc", "--no-qt-privacy-ask", "--qt-notification=0")
    wm_class = "vlc"
    accessible_name = "vlc"

    def state(self, desktop: Desktop) -> VlcState:
        titles = [window.title for window in desktop.windows() if window.wm_class == self.wm_class]
        named = [title.removesuffix(f" - {TITLE}") for title in titles if title.endswith(f" - {TITLE}")]
        return VlcState(named[0] if named else None)


APP = Vlc()

# Moves.


def menu(*names: str, done: Callable[[View], bool]) -> Goal:
    """Something that an entry of its menus brings about, such as Tools, Preferences."""
    return Goal(done, through_menu(APP.accessible_name, *names))


def played(name: str) -> Goal:
    """A file of the playlist plays: go to the next one until it does."""
    return Goal(lambda view: APP.state(view.desktop).playing == name, lambda view: Action.key("n"))
