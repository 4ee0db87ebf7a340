"""Accessible objects as they are put together: calls that ask for them, and the tree that they make.

Talks to no application itself; ``widget_walk`` and ``accessibility`` do.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from operant.desktop.bus import Bus, BusCall, BusError
from operant.types import Node, Window

__all__ = [
    "ACCESSIBLE",
    "COMPONENT",
    "OBJECTS",
    "ROOT",
    "SCREEN",
    "AccessibleWidget",
    "Application",
    "assemble",
    "get_property",
    "is_menu",
    "place_by_windows",
    "prune",
    "show_icons",
    "show_submenus",
    "text_of",
]

ROOT = "/org/a11y/atspi/accessible/root"
ACCESSIBLE = "org.a11y.atspi.Accessible"
COMPONENT = "org.a11y.atspi.Component"
PROPERTIES = "org.freedesktop.DBus.Properties"
SCREEN = 0  # coordinates relative to the screen
OBJECTS = "a(so)"
MAX_NAME = 10_000  # characters of a name that are kept
DEEPEST = 200  # widgets within widgets


@dataclass(slots=True)
class AccessibleWidget:
    """One accessible object as it is being put together."""

    path: str
    parent: str
    order: int
    interfaces: list[str]
    name: str
    role: str
    description: str | None
    """None if it was not asked for."""
    states: frozenset[str]
    children: list[AccessibleWidget] = field(default_factory=list)
    box: tuple[int, int, int, int] | None = None
    text: str | None = None
    value: float | None = None
    url: str | None = None
    count: int = 0
    """How many children it says it has; -1 if it does not say."""

    def walk(self) -> Iterable[AccessibleWidget]:
        yield self
        for child in self.children:
            yield from child.walk()

    def node(self) -> Node:
        children = tuple(child.node() for child in self.children)
        return Node(
            self.role,
            self.name,
            self.states,
            self.box,
            self.text,
            self.value,
            self.description or "",
            children,
            self.url,
        )


@dataclass(slots=True)
class Application:
    """An application on the bus, and the quickest connection to it."""

    destination: str
    name: str
    pid: int
    link: Bus
    toolkit: str = ""
    """What it says that it is made with, such as ``GTK 4.8.3``."""

    @property
    def is_gtk4(self) -> bool:
        return self.toolkit.lower().startswith("gtk 4")


def show_icons(widgets: Iterable[AccessibleWidget]) -> None:
    """Icons of the desktop have no role, and never say that they are in sight."""
    for widget in widgets:
        if widget.role == "unknown" and "visible" in widget.states:
            widget.role, widget.states = "icon", widget.states | {"showing"}


def show_submenus(menu: AccessibleWidget) -> bool:
    """Items of an open submenu never say that they are in sight; a submenu is open while it or an item has the focus.

    Returns whether the widget, or one below it, has the focus.
    """
    inside = [show_submenus(child) for child in menu.children]
    focused = "focused" in menu.states or any(inside)
    if menu.role == "menu" and "showing" in menu.states and focused:
        for child in menu.children:
            child.states = child.states | {"showing"}
    return focused


def get_property(destination: str, path: str, interface: str, name: str) -> BusCall:
    return BusCall(destination, path, PROPERTIES, "Get", "ss", (interface, name), answer="v")


def text_of(answer: tuple[Any, ...] | BusError) -> str:
    """A property that is a text; nothing if it was not answered with one."""
    if isinstance(answer, BusError) or answer[0][0] != "s":
        return ""
    text: str = answer[0][1]
    return text[:MAX_NAME]


def is_menu(widget: AccessibleWidget) -> bool:
    """Whether it is a menu that popped up, which is a window of its own but belongs to the one it was called from."""
    return (
        widget.role == "window"
        and "showing" in widget.states
        and any(child.role == "menu" for child in widget.children)
    )


def assemble(widgets: list[AccessibleWidget]) -> AccessibleWidget:
    """The widgets as a tree under their application."""
    by_path = {widget.path: widget for widget in widgets}
    root = by_path.get(ROOT) or AccessibleWidget(ROOT, "", 0, [], "", "application", "", frozenset())
    for widget in widgets:
        parent = by_path.get(widget.parent)
        if parent is not None and parent is not widget and widget is not root:
            parent.children.append(widget)
    level = [root]
    for _ in range(DEEPEST):
        for widget in level:
            widget.children.sort(key=lambda child: child.order)
        level = [child for widget in level for child in widget.children]
    for widget in level:  # deeper than any window is, and than Python can go down
        widget.children.clear()
    return root


def prune(root: AccessibleWidget, limit: int) -> None:
    """Drop what is not shown, and what goes beyond the limit, deepest first."""
    left = limit
    level = [root]
    while level:
        below = []
        for widget in level:
            widget.children = [child for child in widget.children if "showing" in child.states][
                : max(0, left)
            ]
            left -= len(widget.children)
            below += widget.children
        level = below


def place_by_windows(root: AccessibleWidget, windows: Sequence[Window]) -> None:
    """Move widgets whose boxes are relative to their window to where that window is, and drop those without a box.

    A window that draws its own frame has the same margin on either side.
    """
    for top in [root] if root.box else root.children:
        own = next((one for one in windows if one.title == top.name), windows[0] if windows else None)
        if own is None or top.box is None:
            continue
        x, y, width, height = top.box
        right, down = own.x + (own.width - width) // 2 - x, own.y + (own.height - height) // 2 - y
        for widget in top.walk():
            widget.children = [child for child in widget.children if child.box is not None]
            if widget.box is not None:
                x, y, width, height = widget.box
                widget.box = (x + right, y + down, width, height)
