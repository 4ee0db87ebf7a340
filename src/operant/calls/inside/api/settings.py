"""Settings of the desktop's look: themes, the default font and the wallpaper."""

from __future__ import annotations

import os
import re
from typing import Literal

import programs
from display import XDisplay
from programs import path_of, shown
from refusal import Refused

WM_CLASS = "Lxappearance"
KEYS = {
    "theme": "gtk-theme-name",
    "icons": "gtk-icon-theme-name",
    "cursor": "gtk-cursor-theme-name",
    "font": "gtk-font-name",
}
BUILT_IN = {"theme": ["Adwaita", "HighContrast"], "icons": [], "cursor": []}  # come with GTK itself


def get_look() -> dict[str, object]:
    """Tell which themes and which font are chosen; null where none is."""
    text = _read(_gtk2())
    return {name: _stored(text, key) for name, key in KEYS.items()}


def set_look(name: Literal["theme", "icons", "cursor", "font"], value: str) -> str:
    """Choose a theme by its name, or the default font such as DejaVu Sans 11. Programs started from now on use it."""
    if not value or '"' in value or "\n" in value or "\\" in value:
        raise Refused("%r is not a name" % value[:60])
    if name != "font" and not _installed(name, value):
        raise Refused(
            "there is no theme %r; there are: %s" % (value[:60], ", ".join(_themes(name)) or "none")
        )
    key = KEYS[name]
    _store(_gtk2(), "", key, '"%s"' % value)
    _store(os.path.join(programs.home(), ".config/gtk-3.0/settings.ini"), "[Settings]", key, value)
    return "%s is %s" % (name, value)


def list_themes(name: Literal["theme", "icons", "cursor"]) -> list[str]:
    """List the themes that are installed."""
    return _themes(name)


def set_wallpaper(path: str, mode: Literal["stretch", "fit", "center", "tile", "crop"] = "fit") -> str:
    """Show a picture behind the icons of the desktop."""
    place = path_of(path)
    if not os.path.isfile(place):
        raise Refused("there is no file %s" % shown(place))
    with XDisplay() as display:
        if not display.has_icons():
            raise Refused("this desktop shows no icons, and so no wallpaper")
    result = programs.run(["pcmanfm", "--set-wallpaper=" + place, "--wallpaper-mode=" + mode], timeout_s=8)
    if result.returncode != 0:
        raise Refused("the wallpaper could not be set")
    return "the wallpaper is %s" % shown(place)


def _gtk2() -> str:
    return os.path.join(programs.home(), ".gtkrc-2.0")


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(1 << 20)
    except FileNotFoundError:
        return ""


def _stored(text: str, key: str) -> str | None:
    found = re.findall(r'^%s\s*=\s*"?(.*?)"?\s*$' % re.escape(key), text, re.MULTILINE)
    return found[-1] if found else None


def _store(path: str, section: str, key: str, value: str) -> None:
    rows = _read(path).splitlines()
    line = "%s=%s" % (key, value)
    places = [index for index, row in enumerate(rows) if re.match(r"%s\s*=" % re.escape(key), row)]
    if places:
        rows[places[-1]] = line
    elif section and section in rows:
        rows.insert(rows.index(section) + 1, line)
    else:
        rows += [section, line] if section else [line]
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(rows) + "\n")


def _themes(name: str) -> list[str]:
    base = "/usr/share/themes" if name == "theme" else "/usr/share/icons"
    found = sorted(os.listdir(base)) if os.path.isdir(base) else []
    part = {"theme": "gtk-3.0", "icons": "index.theme", "cursor": "cursors"}[name]
    there = [one for one in found if os.path.exists(os.path.join(base, one, part))]
    return sorted({*there, *BUILT_IN[name]})


def _installed(name: str, value: str) -> bool:
    return "/" not in value and value in _themes(name)
