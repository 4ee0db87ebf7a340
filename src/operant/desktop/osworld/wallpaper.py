"""The picture behind the windows: what the file manager shows there, and GNOME's setting, which OSWorld's checks ask."""

from __future__ import annotations

import contextlib
from urllib.parse import unquote

from operant.desktop.osworld.machine_image import HOME
from operant.desktop.protocol import Desktop
from operant.errors import ApplicationError

__all__ = ["change_wallpaper", "find_wallpaper"]

TIMEOUT_S = 30.0
KEY = ("org.gnome.desktop.background", "picture-uri")
MODE = "--wallpaper-mode=stretch"
ICONS_SETTINGS = f"{HOME}/.config/pcmanfm/operant/desktop-items-0.conf"


def change_wallpaper(desktop: Desktop, path: str) -> None:
    """Show a picture where the desktop shows any, and keep it as GNOME's setting."""
    commands = [["gsettings", "set", *KEY, f"file://{path}"]]
    if desktop.profile == "full":
        commands.append(["pcmanfm", "--profile", "operant", f"--set-wallpaper={path}", MODE])
    for words in commands:
        done = desktop.run(words, timeout_s=TIMEOUT_S)
        if done.returncode:
            raise ApplicationError(done.stderr.decode("utf-8", "replace").strip()[-300:])


def find_wallpaper(desktop: Desktop) -> str | None:
    """The file of the picture; None if there is none."""
    with contextlib.suppress(FileNotFoundError):
        for line in desktop.files.read_text(ICONS_SETTINGS).splitlines():
            name, _, path = line.partition("=")
            if name == "wallpaper" and path and desktop.files.exists(path):
                return path
    done = desktop.run(["gsettings", "get", *KEY], timeout_s=TIMEOUT_S)
    said = unquote(done.output.strip().strip("'\"").removeprefix("file://"))
    return said if said.startswith("/") and desktop.files.exists(said) else None
