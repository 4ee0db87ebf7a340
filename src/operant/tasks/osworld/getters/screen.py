"""What the screen shows: its size, windows, wallpaper and terminals."""

from __future__ import annotations

import urllib.parse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from operant.errors import AccessibilityError
from operant.tasks.criteria.executables import TERMINALS
from operant.tasks.osworld.getters.evidence import Evidence
from operant.types import Node

__all__ = ["GETTERS"]

TREE_S = 20.0
WALLPAPER_SETTINGS = ".config/pcmanfm/default/desktop-items-0.conf"


def _screen_size(source: Mapping[str, Any], evidence: Evidence) -> dict[str, int]:
    size = evidence.desktop.size
    return {"width": size.width, "height": size.height}


def _window_size(source: Mapping[str, Any], evidence: Evidence) -> dict[str, int] | None:
    """The topmost window of a class."""
    name = str(source["app_class_name"]).lower()
    for window in reversed(evidence.desktop.windows()):
        if name in window.wm_class.lower():
            return {"width": window.width, "height": window.height}
    return None


def _wallpaper(source: Mapping[str, Any], evidence: Evidence) -> Path | None:
    """The picture behind the icons: what GNOME's setting names, else what the file manager shows."""
    said = evidence.desktop.run(
        ["gsettings", "get", "org.gnome.desktop.background", "picture-uri"], timeout_s=10.0
    ).output.strip()
    if said.strip("'").startswith("file://"):
        return evidence.fetch(urllib.parse.unquote(said.strip("'").removeprefix("file://")), "wallpaper")
    settings = evidence.read(WALLPAPER_SETTINGS)
    for line in (settings or b"").decode("utf-8", "replace").splitlines():
        key, _, path = line.partition("=")
        if key == "wallpaper" and path:
            return evidence.fetch(path, "wallpaper")
    return None


def _terminal_output(source: Mapping[str, Any], evidence: Evidence) -> str | None:
    """What the topmost terminal shows."""
    desktop = evidence.desktop
    for window in reversed(desktop.windows()):
        if window.wm_class.lower() in TERMINALS:
            desktop.activate_window(window)
            try:
                tree = desktop.accessibility(timeout_s=TREE_S)
            except AccessibilityError:
                return None
            return "\n".join(node.text for node in tree.walk() if _is_terminal(node) and node.text)
    return None


def _is_terminal(node: Node) -> bool:
    return node.role == "terminal"


GETTERS: dict[str, Callable[[Mapping[str, Any], Evidence], Any]] = {
    "vm_screen_size": _screen_size,
    "vm_window_size": _window_size,
    "vm_wallpaper": _wallpaper,
    "vm_terminal_output": _terminal_output,
}
