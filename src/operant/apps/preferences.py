"""What dialogs of settings have in common: widgets by their labels, and what is stored in files."""

from __future__ import annotations

from collections.abc import Callable

from operant.apps.view import View
from operant.types import Action, Node

__all__ = ["labelled", "stored", "tap"]


def labelled(view: View, name: str, app: str, *roles: str) -> Node | None:
    """The widget of that name; menus pad the names of their entries."""
    for node in view.tree(app).walk():
        if node.name.strip() == name and node.box is not None and (not roles or node.role in roles):
            return node
    return None


def tap(view: View, find: Callable[[View], Node | None]) -> Action:
    """Click what is found; wait for what is not there yet."""
    found = find(view)
    if found is None:
        view.desktop.settle()
        found = find(View(view.desktop, view.last))
    return Action.wait() if found is None else view.click(found)


def stored(view: View, path: str, key: str, section: str | None = None) -> str | None:
    """The value of a setting in a file, without quotes."""
    found, current = None, None
    for line in (view.read(path) or "").splitlines():
        if line.startswith("["):
            current = line.strip("[] ")
        name, is_set, value = line.partition("=")
        if is_set and name.strip() == key and section in (None, current):
            found = value.strip().strip("'\"").removeprefix("uint32 ")
    return found
