"""The accessibility tree as text: one line per widget in sight, with its centre as the model counts."""

from __future__ import annotations

from collections.abc import Callable

from operant.types import Node, Point, Size

__all__ = ["widget_lines"]

MOST = 300
MOST_CHARS = 80
#: Boxes that only hold others.
SILENT = frozenset({"panel", "filler", "scroll pane", "viewport", "split pane", "redundant object"})
TOLD_STATES = ("focused", "checked", "selected", "expanded", "pressed")


def widget_lines(tree: Node | None, screen: Size, locate: Callable[[Point], tuple[float, float]]) -> str:
    """Role, name, centre, text and states of up to 300 widgets."""
    if tree is None:
        return ""
    lines = [line for node in tree.walk() if (line := _line(node, screen, locate))]
    if len(lines) > MOST:
        lines = [*lines[:MOST], f"... and {len(lines) - MOST} more"]
    return "\n".join(["Widgets on the screen (role, name, centre):", *lines])


def _line(node: Node, screen: Size, locate: Callable[[Point], tuple[float, float]]) -> str:
    if node.box is None or (node.role in SILENT and not node.name):
        return ""
    left, top, width, height = node.box
    x, y = left + width // 2, top + height // 2
    if width < 1 or height < 1 or not (0 <= x < screen.width and 0 <= y < screen.height):
        return ""
    across, down = locate(Point.from_pixel(x, y, screen))
    text = f" text={_short(node.text)!r}" if node.text else ""
    states = "".join(f" {state}" for state in TOLD_STATES if state in node.states)
    return f"{node.role} {_short(node.name)!r} ({across}, {down}){text}{states}"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MOST_CHARS else line[: MOST_CHARS - 1] + "…"
