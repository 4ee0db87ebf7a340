"""What OSWorld's machine image has and a plain desktop has not: programs, folders and settings.

Every sandboxed desktop shows the programs, read-only, below ``MACHINE``; commands find them by ``MACHINE_VARIABLES``.
Both the guest server and the suite ``osworld`` make their machines with what is here.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from importlib import resources
from typing import Any

from operant.desktop.protocol import Desktop

__all__ = [
    "CHROME_NAMES",
    "HOME",
    "MACHINE",
    "MACHINE_SETTINGS",
    "MACHINE_VARIABLES",
    "PASSWORD",
    "STAND_INS",
    "VIDEO_TYPES",
    "machine_files",
    "machine_links",
    "prepare_home",
]

HOME = "/home/user"
PASSWORD = "osworld-public-evaluation"
MACHINE = "/run/operant/osworld"
#: Variables of programs that are to run as on one of OSWorld's machines.
MACHINE_VARIABLES: Mapping[str, str] = {
    "PATH": f"{MACHINE}/bin:/usr/local/bin:/usr/bin:/bin:/usr/local/games:/usr/games",
    "PYTHONPATH": f"{MACHINE}/python",
}
#: Settings that its desktops have unless others are chosen.
MACHINE_SETTINGS: Mapping[str, Any] = {"width": 1920, "height": 1080}
#: Programs of OSWorld's image -> what does the same where they are not installed.
STAND_INS: Mapping[str, str] = {
    "python": "python3",
    "nautilus": "pcmanfm",
    "gnome-terminal": "xterm",
    "gedit": "mousepad",
    "evince": "atril",
    "eog": "ristretto",
}
CHROME_NAMES = ("google-chrome", "google-chrome-stable", "chrome", "chromium-browser")
#: Scripts that do more than start another program: path below ``MACHINE`` -> file of the package ``machine``.
_SCRIPTS = {
    "bin/google-chrome": "google-chrome.sh",
    "bin/gnome-terminal": "gnome-terminal.sh",
    "bin/pkill": "pkill.sh",
    "bin/sudo": "sudo.sh",
    "python/pyautogui.py": "pyautogui.py",
}
_STAND_IN = "bin/stand-in"

FOLDERS = ("Desktop", "Documents", "Downloads", "Music", "Pictures", "Public", "Templates", "Videos")
VIDEO_TYPES = (
    "mp4",
    "x-matroska",
    "webm",
    "quicktime",
    "mpeg",
    "x-msvideo",
    "avi",
    "ogg",
    "x-flv",
    "x-ms-wmv",
    "3gpp",
)
#: Settings of the image: lines that come after those that a desktop has already.
SETTINGS = {
    ".config/vlc/vlcrc": "qt-privacy-ask=0\nextraintf=http\nhttp-password=password\n",
    ".config/google-chrome/First Run": "",
    # There, videos open in a player of GNOME's; here, in the browser, so that a task may choose VLC.
    ".config/mimeapps.list": "[Default Applications]\n"
    + "".join(f"video/{kind}=chromium.desktop\n" for kind in VIDEO_TYPES),
}


@functools.lru_cache(maxsize=1)
def machine_files() -> Mapping[str, bytes]:
    """Contents by path below ``MACHINE``. All of them may be run."""
    place = resources.files("operant.desktop.osworld.machine")
    files = {path: (place / source).read_bytes() for path, source in _SCRIPTS.items()}
    return files | {_STAND_IN: _stand_in_script()}


def _stand_in_script() -> bytes:
    """Starts the program of the name that it was called by, or what stands in for it."""
    cases = "".join(f'    {name}) exec {other} "$@" ;;\n' for name, other in STAND_INS.items())
    return (
        '#!/bin/sh\nname=${0##*/}\n[ -x "/usr/bin/$name" ] && exec "/usr/bin/$name" "$@"\n'
        f'case "$name" in\n{cases}esac\necho "nothing stands in for $name" >&2\nexit 127\n'
    ).encode()


def machine_links() -> Mapping[str, str]:
    """Targets of symbolic links by path below ``MACHINE``."""
    links = {f"bin/{name}": "stand-in" for name in STAND_INS}
    links |= {f"bin/{name}": "google-chrome" for name in CHROME_NAMES}
    links["bin/killall"] = "pkill"
    return {path: target for path, target in links.items() if path not in _SCRIPTS}


def prepare_home(desktop: Desktop) -> None:
    """Make the folders and settings of the image's HOME. What is there already stays."""
    desktop.run(["mkdir", "-p", *(f"{HOME}/{name}" for name in FOLDERS)])
    for path, text in SETTINGS.items():
        place = f"{HOME}/{path}"
        before = desktop.files.read_text(place) if desktop.files.exists(place) else None
        if before is None or text not in before:
            desktop.files.write(place, f"{(before or '').rstrip()}\n{text}".lstrip().encode())
