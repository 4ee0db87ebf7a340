"""VLC: films and music. Its widgets are accessible as those of Qt 5."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from operant.apps.base import App

if TYPE_CHECKING:
    from operant.desktop.protocol import Desktop

__all__ = ["APP", "Vlc", "VlcState"]

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
