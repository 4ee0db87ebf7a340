"""The accessibility tree for models: one line per widget in sight, with its centre as the model counts.

Which widgets are listed and which get a number on the picture (a set of marks) is decided here; how marks look:
``operant.pictures.marks``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from operant.types import Node, Point, Size

__all__ = ["ShownWidget", "marked", "widget_lines", "widgets_in_sight"]

MOST_MARKS = 150
MOST_CHARS = 80
#: Boxes that only hold others.
SILENT = frozenset({"panel", "filler", "scroll pane", "viewport", "split pane", "redundant object"})
#: What is there to be read or to hold others, not to be used.
NOT_MARKED = SILENT | {
    *("application", "desktop frame", "frame", "window", "dialog", "alert", "label", "static", "heading"),
    *("paragraph", "section", "document frame", "document web", "document text", "separator", "image"),
    *(
        "menu bar",
        "tool bar",
        "status bar",
        "page tab list",
        "list",
        "list box",
        "table",
        "tree",
        "tree table",
    ),
    *("layered pane", "root pane", "internal frame", "progress bar", "tool tip", "unknown"),
}
TOLD_STATES = ("focused", "checked", "selected", "expanded", "pressed")


@dataclass(frozen=True, slots=True)
class ShownWidget:
    """A widget and the part of it that is on the screen: left, top, width, height."""

    node: Node
    box: tuple[int, int, int, int]

    @property
    def centre(self) -> tuple[int, int]:
        left, top, width, height = self.box
        return left + width // 2, top + height // 2


def widgets_in_sight(tree: Node | None, screen: Size) -> list[ShownWidget]:
    """Widgets of which something is on the screen, parents first."""
    return [] if tree is None else list(_in_sight(tree, screen))


def _in_sight(tree: Node, screen: Size) -> Iterator[ShownWidget]:
    for node in tree.walk():
        if node.box is None or (node.role in SILENT and not node.name):
            continue
        left, top, width, height = node.box
        right, bottom = min(left + width, screen.width), min(top + height, screen.height)
        left, top = max(left, 0), max(top, 0)
        if left < right and top < bottom:
            yield ShownWidget(node, (left, top, right - left, bottom - top))


def marked(widgets: Sequence[ShownWidget]) -> list[ShownWidget]:
    """Those that can be used, each place once."""
    found: dict[tuple[int, int, int, int], ShownWidget] = {}
    for widget in widgets:
        if widget.node.role not in NOT_MARKED:
            # The innermost of equals comes last in a walk.
            found[widget.box] = widget
    return list(found.values())[:MOST_MARKS]


def widget_lines(
    widgets: Sequence[ShownWidget],
    screen: Size,
    locate: Callable[[Point], tuple[float, float]],
    *,
    most: int = 300,
    numbered: bool = False,
) -> str:
    """Role, name, centre, text and states of the first widgets; numbered as the marks are."""
    lines = [
        (f"{number} " if numbered else "") + _line(widget, screen, locate)
        for number, widget in enumerate(widgets[:most], 1)
    ]
    if len(widgets) > most:
        lines.append(f"... and {len(widgets) - most} more")
    head = "Marks on the screen (number, role" if numbered else "Widgets on the screen (role"
    return "\n".join([f"{head}, name, centre):", *lines])


def _line(widget: ShownWidget, screen: Size, locate: Callable[[Point], tuple[float, float]]) -> str:
    node = widget.node
    across, down = locate(Point.from_pixel(*widget.centre, screen))
    text = f" text={_short(node.text)!r}" if node.text else ""
    states = "".join(f" {state}" for state in TOLD_STATES if state in node.states)
    return f"{node.role} {_short(node.name)!r} ({across}, {down}){text}{states}"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MOST_CHARS else line[: MOST_CHARS - 1] + "…"
