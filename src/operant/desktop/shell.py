"""The shell of a full desktop: a panel with application menu, launchers and task bar, and the icons of HOME.

Its parts run inside the episode like any other program, so that they and what they start end with it. Knows how they
are started, when they are ready, and what their widgets are called; ``DesktopConfig.profile`` asks for them.
"""

from __future__ import annotations

import os
import shutil
import time
from dataclasses import replace
from importlib import resources
from pathlib import Path

from operant.desktop.channel import Channel
from operant.desktop.display import Display
from operant.desktop.launch import pack_home
from operant.desktop.windows import all_windows
from operant.errors import DesktopDied, DesktopStartError, MissingProgram
from operant.types import Node

__all__ = ["check_shell", "name_widgets", "start_shell", "wait_for_icons", "wait_for_panel"]

#: What is started, the package of each, and the type of window that it shows.
PANEL, ICONS = ("lxpanel", "--profile", "operant"), ("pcmanfm", "--desktop", "--profile", "operant")
PACKAGES = {PANEL[0]: "lxpanel", ICONS[0]: "pcmanfm"}
WINDOW_POLL_S = 0.003  # longest wait between two looks for a window
READY = "full desktops need lxpanel and pcmanfm"


def start_shell(episode: Channel) -> None:
    """Begin to show the shell; returns at once."""
    missing = [package for program, package in PACKAGES.items() if shutil.which(program) is None]
    if missing:
        raise MissingProgram(
            f"a full desktop is made of programs that are not installed: {', '.join(missing)}",
            hint=f"sudo apt-get install -y {' '.join(missing)}   (or: operant doctor), or use the profile bare",
        )
    entries, contents = pack_home({}, Path(str(resources.files("operant.desktop.files") / "shell")))
    try:
        episode.call("shell", parts=[list(PANEL), list(ICONS)], home=entries, fds=(contents,))
    finally:
        os.close(contents)


def wait_for_panel(display: Display, timeout_s: float) -> None:
    """Return when the panel has its place: windows that open from now on are kept off it."""
    _wait_for(display, "dock", timeout_s)


def wait_for_icons(display: Display, timeout_s: float) -> None:
    """Return when the icons have their window."""
    _wait_for(display, "desktop", timeout_s)


def _wait_for(display: Display, kind: str, timeout_s: float) -> None:
    deadline = time.monotonic() + timeout_s
    while kind not in all_windows(display)[1]:
        left = deadline - time.monotonic()
        if left <= 0:
            raise DesktopStartError(
                f"the desktop's {'panel' if kind == 'dock' else 'icons'} did not come up",
                hint="operant doctor",
            )
        display.wait_events(min(left, WINDOW_POLL_S))


def check_shell(episode: Channel) -> None:
    """Raise unless both parts run; a part that crashed is started again by the episode, a few times."""
    parts = episode.call("shell_parts")
    gone = {PANEL[0], ICONS[0]} - set(parts["running"])
    if gone:
        raise DesktopDied(f"a part of the desktop crashed again and again: {', '.join(sorted(gone))}")


# What its widgets are called.


def name_widgets(node: Node) -> Node:
    """The shell's widgets with the names and roles that people give them.

    Launchers of the panel say their name only as a description. Icons of the desktop have an unknown role.
    """
    children = tuple(name_widgets(child) for child in node.children)
    if node.role == "panel" and node.description and not node.name:
        return replace(node, role="push button", name=node.description, children=())
    return replace(node, children=children)
