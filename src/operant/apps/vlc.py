"""VLC: films and music. Its widgets are accessible as those of Qt 5; what plays is asked by MPRIS on the session bus."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal
from urllib.parse import unquote, urlsplit

from operant.apps.base import App
from operant.apps.moves import Goal, through_menu
from operant.apps.view import View
from operant.types import Action

if TYPE_CHECKING:
    from operant.desktop.protocol import Desktop

__all__ = ["APP", "Vlc", "VlcState", "menu", "played", "settings"]

TITLE = "VLC media player"
SETTINGS = ".config/vlc/vlcrc"
ASK = (
    *("dbus-send", "--session", "--print-reply", "--reply-timeout=2000"),
    *("--dest=org.mpris.MediaPlayer2.vlc", "/org/mpris/MediaPlayer2"),
    "org.freedesktop.DBus.Properties.GetAll",
)
INTERFACES = ("org.mpris.MediaPlayer2", "org.mpris.MediaPlayer2.Player")
#: A property in what ``dbus-send`` prints: its name, its type and its value.
PROPERTY = re.compile(
    r'string "([^"\n]+)"\n\s+variant\s+(?:string "(.*)"|(?:boolean|double|u?int\d+) (\S+))\n'
)
REPEATS: Mapping[str, Literal["off", "one", "all"]] = {"None": "off", "Track": "one", "Playlist": "all"}
ANSWER_S = 4.0


@dataclass(frozen=True)
class VlcState:
    """What it plays and how."""

    playing: str | None
    """What is open, as its title names it; None if nothing is."""
    status: Literal["playing", "paused", "stopped"] = "stopped"
    file: str | None = None
    """The path of what is open, or its address if it is no file."""
    position_s: float = 0.0
    length_s: float = 0.0
    volume: int | None = None
    """In percent; None while nothing is open."""
    repeat: Literal["off", "one", "all"] = "off"
    shuffle: bool = False
    fullscreen: bool = False


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
        """Nothing is open if it does not run, or does not answer within two seconds."""
        titles = [window.title for window in desktop.windows() if window.wm_class == self.wm_class]
        named = [title.removesuffix(f" - {TITLE}") for title in titles if title.endswith(f" - {TITLE}")]
        said = "".join(
            desktop.run([*ASK, f"string:{interface}"], timeout_s=ANSWER_S).output for interface in INTERFACES
        )
        told = {name: text or number for name, text, number in PROPERTY.findall(said)}
        url = told.get("xesam:url", "")
        return VlcState(
            named[0] if named else None,
            _STATUS.get(told.get("PlaybackStatus", ""), "stopped"),
            (unquote(urlsplit(url).path) if url.startswith("file:") else url) or None,
            int(told.get("Position", 0)) / 1e6,
            int(told.get("mpris:length", 0)) / 1e6,
            round(100 * float(told.get("Volume", 1))) if url else None,
            REPEATS.get(told.get("LoopStatus", ""), "off"),
            told.get("Shuffle") == "true",
            told.get("Fullscreen") == "true",
        )


_STATUS: Mapping[str, Literal["playing", "paused", "stopped"]] = {"Playing": "playing", "Paused": "paused"}
APP = Vlc()

# Looking.


def settings(desktop: Desktop) -> dict[str, str]:
    """The settings that its file sets, by name. VLC writes it when preferences are saved and when it ends."""
    if not desktop.files.exists(SETTINGS):
        return {}
    lines = desktop.files.read_text(SETTINGS).splitlines()
    pairs = (line.partition("=") for line in lines if "=" in line and not line.startswith(("#", "[")))
    return {name.strip(): value.strip() for name, _, value in pairs}


# Moves.


def menu(*names: str, done: Callable[[View], bool]) -> Goal:
    """Something that an entry of its menus brings about, such as Tools, Preferences."""
    return Goal(done, through_menu(APP.accessible_name, *names))


def played(name: str) -> Goal:
    """A file of the playlist plays: go to the next one until it does."""
    return Goal(lambda view: APP.state(view.desktop).playing == name, lambda view: Action.key("n"))
