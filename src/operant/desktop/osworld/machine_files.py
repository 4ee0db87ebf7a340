"""What programs of OSWorld's tasks expect on a machine: ``python`` with pyautogui, and ``google-chrome``.

Every sandboxed desktop shows these files; they are found by programs whose environment names their places.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from importlib import resources

__all__ = ["MACHINE", "OSWORLD_VARIABLES", "machine_files"]

MACHINE = "/run/operant/osworld"
#: Variables of a desktop that is to be like one of OSWorld's machines.
OSWORLD_VARIABLES: Mapping[str, str] = {
    "PATH": f"{MACHINE}/bin:/usr/local/bin:/usr/bin:/bin:/usr/local/games:/usr/games",
    "PYTHONPATH": f"{MACHINE}/python",
}
_SOURCES = {
    "bin/python": "python.sh",
    "bin/google-chrome": "google-chrome.sh",
    "python/pyautogui.py": "pyautogui.py",
}


@functools.lru_cache(maxsize=1)
def machine_files() -> Mapping[str, bytes]:
    """Contents by path below ``MACHINE``."""
    place = resources.files("operant.desktop.osworld.machine")
    return {name: (place / source).read_bytes() for name, source in _SOURCES.items()}
