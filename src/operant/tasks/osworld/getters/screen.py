"""What the screen shows: its size, windows, wallpaper and terminals."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from operant.desktop.osworld.tree_xml import write_tree
from operant.desktop.osworld.wallpaper import find_wallpaper
from operant.errors import AccessibilityError
from operant.tasks.criteria.executables import TERMINALS
from operant.tasks.osworld.getters.evidence import Evidence
from operant.types import Node

__all__ = ["GETTERS"]

TREE_S = 20.0


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
    path = find_wallpaper(evidence.desktop)
    return None if path is None else evidence.fetch(path, "wallpaper")


def _accessibility_tree(source: Mapping[str, Any], evidence: Evidence) -> str | None:
    """The widgets of all programs, as the XML of OSWorld's guests."""
    try:
        return write_tree(evidence.desktop.accessibility("desktop", timeout_s=TREE_S))
    except AccessibilityError:
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
    "accessibility_tree": _accessibility_tree,
    "vm_terminal_output": _terminal_output,
}
