"""VLC, the media player: what plays, the playlist, play and pause, position, volume and settings.

VLC is asked by MPRIS, the interface of media players on the session bus. Times are in seconds.
"""

from __future__ import annotations

import os
import re
from typing import Any, Literal
from urllib.parse import quote, unquote, urlsplit

import programs
from bus import SessionBus, session_bus
from display import XDisplay, wait_until
from opening import open_program
from refusal import Refused

WM_CLASS = "vlc"
TIME_LIMITS = {"open_media": 30}
NAME, PATH = "org.mpris.MediaPlayer2.vlc", "/org/mpris/MediaPlayer2"
PLAYER, TRACKS = "org.mpris.MediaPlayer2.Player", "org.mpris.MediaPlayer2.TrackList"
ROOT, PROPERTIES = "org.mpris.MediaPlayer2", "org.freedesktop.DBus.Properties"
APPEND = "/org/mpris/MediaPlayer2/TrackList/Append"
DONE_S = 4.0
MICRO = 1_000_000
CONFIG = "~/.config/vlc/vlcrc"
SETTING = re.compile(r"[a-z][a-z0-9-]{0,60}")
MEDIA = (".mp4", ".mkv", ".avi", ".mov", ".webm", ".mp3", ".ogg", ".wav", ".flac", ".m4a", ".mpg", ".ts")


def open_media(path: str) -> str:
    """Open a file in the player and play it; the player is started if it does not run."""
    place = _file(path)
    with session_bus() as bus:
        if not _runs(bus):
            return open_program(["vlc", place])
        bus.call(NAME, PATH, PLAYER, "OpenUri", "s", (_uri(place),))
        if not wait_until(lambda: _uri(place) == _metadata(bus).get("xesam:url"), DONE_S):
            raise Refused("the player does not play %s" % programs.shown(place))
        return "playing %s" % programs.shown(place)


def get_state() -> dict[str, object]:
    """Tell what is open, whether it plays, position, length and volume, and whether it fills the screen."""
    with session_bus() as bus:
        _check(bus)
        about = _metadata(bus)
        url = str(about.get("xesam:url", ""))
        return {
            "state": str(_get(bus, "PlaybackStatus")).lower(),
            "file": programs.shown(unquote(urlsplit(url).path)) if url.startswith("file:") else url,
            "title": about.get("xesam:title", ""),
            "position": round(_get(bus, "Position") / MICRO, 3),
            "length": round(about.get("mpris:length", 0) / MICRO, 3),
            "volume": round(100 * _get(bus, "Volume")),
            "repeat": {"None": "off", "Track": "one", "Playlist": "all"}.get(_get(bus, "LoopStatus"), "off"),
            "shuffle": bool(_get(bus, "Shuffle")),
            "fullscreen": bool(_get(bus, "Fullscreen", ROOT)),
        }


def get_playlist() -> list[dict[str, object]]:
    """List the entries of the playlist in order, and which one is current."""
    with session_bus() as bus:
        _check(bus)
        current = _metadata(bus).get("mpris:trackid")
        return [
            {
                "number": number,
                "title": one.get("xesam:title") or os.path.basename(unquote(str(one.get("xesam:url", "")))),
                "url": one.get("xesam:url", ""),
                "current": one.get("mpris:trackid") == current,
            }
            for number, one in enumerate(_tracks(bus), 1)
        ]


def add_to_playlist(path: str) -> str:
    """Add a file to the end of the playlist. get_playlist may show it only after the next change of what plays."""
    place = _file(path)
    with session_bus() as bus:
        _check(bus)
        bus.call(NAME, PATH, TRACKS, "AddTrack", "sob", (_uri(place), APPEND, False))
        return "added %s to the playlist" % programs.shown(place)


def go_to(number: int) -> str:
    """Play an entry of the playlist by its number, counted from 1."""
    with session_bus() as bus:
        _check(bus)
        tracks = _get(bus, "Tracks", TRACKS)
        if not 1 <= number <= len(tracks):
            raise Refused("the playlist has %d entries, counted from 1" % len(tracks))
        bus.call(NAME, PATH, TRACKS, "GoTo", "o", (tracks[number - 1],))
        return "playing entry %d" % number


def play() -> str:
    """Play, or go on after a pause."""
    return _driven("Play", "Playing")


def pause() -> str:
    """Pause."""
    return _driven("Pause", "Paused")


def stop() -> str:
    """Stop playing."""
    return _driven("Stop", "Stopped")


def next() -> str:
    """Play the next entry of the playlist."""
    return _stepped("Next")


def previous() -> str:
    """Play the entry of the playlist before this one."""
    return _stepped("Previous")


def seek(position: float) -> str:
    """Go to a position, in seconds from the beginning."""
    with session_bus() as bus:
        _check(bus)
        about = _metadata(bus)
        length = about.get("mpris:length", 0) / MICRO
        if "mpris:trackid" not in about or not 0 <= position <= length:
            raise Refused("what is open is %g s long" % length)
        track = about["mpris:trackid"]
        bus.call(NAME, PATH, PLAYER, "SetPosition", "ox", (track, int(position * MICRO)))
        return "at %g s" % position


def set_volume(percent: int) -> str:
    """Set the volume; 100 is as recorded."""
    if not 0 <= percent <= 125:
        raise Refused("the volume goes from 0 to 125 percent")
    return _set("Volume", ("d", percent / 100), "the volume is %d percent" % percent)


def set_repeat(mode: Literal["off", "one", "all"]) -> str:
    """Repeat nothing, one entry, or the whole playlist."""
    word = {"off": "None", "one": "Track", "all": "Playlist"}[mode]
    return _set("LoopStatus", ("s", word), "repeat is %s" % mode)


def set_shuffle(on: bool) -> str:
    """Play the playlist in random order or not."""
    return _set("Shuffle", ("b", on), "shuffle is %s" % ("on" if on else "off"))


def set_fullscreen(on: bool) -> str:
    """Let the film fill the screen or not. The player must show a film."""
    return _set("Fullscreen", ("b", on), "full screen is %s" % ("on" if on else "off"), ROOT)


def get_media_files(folder: str = "~") -> list[str]:
    """List the films and recordings in a folder and in the folders below it."""
    top = programs.path_of(folder)
    if not os.path.isdir(top):
        raise Refused("there is no folder %s" % programs.shown(top))
    found = []
    for place, folders, names in os.walk(top):
        folders[:] = [one for one in folders if not one.startswith(".")]
        found += [os.path.join(place, name) for name in names if name.lower().endswith(MEDIA)]
        if len(found) > 1000:
            break
    return [programs.shown(one) for one in sorted(found)[:1000]]


def get_settings() -> dict[str, str]:
    """Read the settings that differ from the defaults, as the player's settings file has them."""
    return dict(_settings())


def set_setting(name: str, value: str) -> str:
    """Change a setting in the player's settings file. It counts from the next start of the player on."""
    if not SETTING.fullmatch(name) or "\n" in value or len(value) > 1000:
        raise Refused("a setting has a name such as qt-minimal-view, and a value of one line")
    with session_bus() as bus:
        if _runs(bus):
            raise Refused(
                "the player writes its settings when it ends: windows.close closes it, set them then"
            )
    place = programs.path_of(CONFIG)
    lines = []
    if os.path.exists(place):
        with open(place, encoding="utf-8") as file:
            lines = [one for one in file.read().splitlines() if not re.match(r"#?%s=" % re.escape(name), one)]
    os.makedirs(os.path.dirname(place), exist_ok=True)
    with open(place, "w", encoding="utf-8") as file:
        file.write("\n".join([*lines, "%s=%s" % (name, value)]) + "\n")
    return "%s is %s" % (name, value)


def _settings() -> list[tuple[str, str]]:
    place = programs.path_of(CONFIG)
    if not os.path.exists(place):
        return []
    with open(place, encoding="utf-8", errors="replace") as file:
        lines = [one.strip() for one in file if "=" in one and not one.startswith(("#", "["))]
    return [(one.partition("=")[0], one.partition("=")[2]) for one in lines]


def _driven(method: str, state: str) -> str:
    with session_bus() as bus:
        _check(bus)
        bus.call(NAME, PATH, PLAYER, method)
        if not wait_until(lambda: _get(bus, "PlaybackStatus") == state, DONE_S):
            raise Refused("the player is %s: is a file open?" % str(_get(bus, "PlaybackStatus")).lower())
        return state.lower()


def _stepped(method: str) -> str:
    with session_bus() as bus:
        _check(bus)
        before = _metadata(bus).get("mpris:trackid")
        bus.call(NAME, PATH, PLAYER, method)
        if not wait_until(lambda: _metadata(bus).get("mpris:trackid") not in (before, None), DONE_S):
            raise Refused("the playlist has no such entry")
        about = _metadata(bus)
        return "playing %s" % (about.get("xesam:title") or unquote(str(about.get("xesam:url", ""))))


def _set(name: str, value: tuple[str, object], said: str, interface: str = PLAYER) -> str:
    with session_bus() as bus:
        _check(bus)
        bus.call(NAME, PATH, PROPERTIES, "Set", "ssv", (interface, name, value))
        if not wait_until(lambda: _alike(_get(bus, name, interface), value[1]), DONE_S):
            raise Refused("the player did not take it: is a film open?")
        return said


def _alike(one: Any, other: Any) -> bool:
    return abs(one - other) < 0.02 if isinstance(other, float) else bool(one == other)


def _get(bus: SessionBus, name: str, interface: str = PLAYER) -> Any:
    return _plain(bus.call(NAME, PATH, PROPERTIES, "Get", "ss", (interface, name))[0])


def _metadata(bus: SessionBus) -> dict[str, Any]:
    return dict(_get(bus, "Metadata"))


def _tracks(bus: SessionBus) -> list[dict[str, Any]]:
    tracks = _get(bus, "Tracks", TRACKS)
    if not tracks:
        return []
    return list(_plain(bus.call(NAME, PATH, TRACKS, "GetTracksMetadata", "ao", (tracks,))[0]))


def _plain(value: Any) -> Any:
    """A value without the types of variants."""
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, list) else value


def _runs(bus: SessionBus) -> bool:
    daemon = ("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus")
    return bool(bus.call(*daemon, "NameHasOwner", "s", (NAME,))[0])


def _check(bus: SessionBus) -> None:
    with XDisplay() as display:
        windows = [one for one in display.windows() if one.wm_class == WM_CLASS]
    if not windows and not _runs(bus):
        raise Refused("vlc is not running: open_media starts it")
    dialogs = [one.title for one in windows if one.modal]
    if dialogs:
        raise Refused("the dialog %r of the player is open: close it first" % dialogs[-1])
    if not wait_until(lambda: _runs(bus), DONE_S):
        raise Refused("the player is not ready")


def _file(path: str) -> str:
    place = programs.path_of(path)
    if not os.path.isfile(place):
        raise Refused("there is no file %s" % programs.shown(place))
    return place


def _uri(place: str) -> str:
    return "file://" + quote(place)
