"""Criteria on widgets and web pages, as applications describe them over accessibility.

The description is an application's own, so it counts only if the program of that name really runs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from urllib.parse import SplitResult, urlsplit

from pydantic import Field, model_validator

from operant.errors import AccessibilityError, TaskError
from operant.tasks.criteria.base import Verdict, World
from operant.tasks.criteria.executables import INTERPRETERS, executables, installed
from operant.tasks.criteria.question import Question, Refuted
from operant.types import Node, Size

__all__ = ["Accessible", "Url"]

READ_S = 10.0
BROWSERS = ("Chromium", "Google Chrome", "Firefox")


class Accessible(Question):
    """A widget is shown that has all of these properties."""

    app: str = Field(min_length=1)
    """Name of the application, such as galculator."""
    role: str | None = None
    """What it is, such as push button."""
    name: str | None = None
    """Its whole name."""
    text: str | None = None
    """Its whole text, apart from blanks around it."""
    value: float | None = None
    """Its number, of sliders and the like."""
    state: str | None = None
    """A state that it has, such as checked."""
    without_state: str | None = None
    """A state that it does not have."""
    window: str | None = None
    """Text in the title of the window that it is in."""

    @model_validator(mode="after")
    def _asks_something(self) -> Accessible:
        if all(part is None for part in (self.role, self.name, self.text, self.value)):
            raise TaskError("an accessible needs a role, a name, a text or a value")
        return self

    def judge(self, world: World) -> Verdict:
        tree = application_tree(world, self.app)
        alike = []
        for window, node in _shown(tree, world.desktop.size):
            if self._fits(node, window):
                return Verdict(True, f"{self.app} shows {_describe(node)}")
            if self.role in (None, node.role) and self.name in (None, node.name):
                alike.append(_describe(node))
        shown = "; ".join(alike[:4]) or "no such widget"
        return Verdict(False, f"{self.app} shows {shown}")

    def _fits(self, node: Node, window: str) -> bool:
        return (
            self.role in (None, node.role)
            and self.name in (None, node.name)
            and (self.text is None or (node.text or "").strip() == self.text.strip())
            and (
                self.value is None
                or (node.value is not None and math.isclose(node.value, self.value, abs_tol=1e-6))
            )
            and (self.state is None or self.state in node.states)
            and (self.without_state is None or self.without_state not in node.states)
            and (self.window is None or self.window in window)
        )


class Url(Question):
    """A browser shows the page of that address: loaded as the page of a tab, not typed and not in a frame."""

    url: str = Field(min_length=1)
    """The address. Its query and fragment matter only if it has them; a slash at the end never does."""
    exact: bool = False
    """Whether the address must be letter for letter that."""

    def judge(self, world: World) -> Verdict:
        pages: list[str] = []
        for browser in BROWSERS:
            try:
                tree = application_tree(world, browser)
            except Refuted:
                continue
            pages += [page.url for page in _pages(tree) if page.url]
        for page in pages:
            if page == self.url or (not self.exact and _same_page(urlsplit(self.url), page)):
                return Verdict(True, f"{page[:200]} is shown")
        return Verdict(
            False, f"shown is {', '.join(page[:200] for page in pages)}" if pages else "no page is shown"
        )


def application_tree(world: World, app: str) -> Node:
    """The shown widgets of an application whose program really runs."""
    try:
        tree = world.desktop.accessibility(app=app, timeout_s=READ_S)
    except AccessibilityError as error:
        if error.message.startswith("no application"):
            raise Refuted(error.message) from error
        raise
    names = {name for path in executables(world.desktop).values() if (name := installed(path)) is not None}
    wanted = app.lower().replace(" ", "-")
    if (
        wanted in names
        or wanted.rpartition(".")[2] in names
        or any(name.startswith(wanted) for name in names)
    ):
        return tree
    others = {name for name in names if not name.startswith(INTERPRETERS)}
    if any(word in others for word in wanted.split("-")):
        return tree
    raise Refuted(f"what calls itself {app} is not that program")


def _shown(tree: Node, size: Size) -> Iterator[tuple[str, Node]]:
    """Title of the window and widget, for all that have a place on the screen."""
    for window in tree.children:
        for node in window.walk():
            if node.box is not None:
                x, y, width, height = node.box
                if x < size.width and y < size.height and x + width > 0 and y + height > 0:
                    yield window.name, node


def _pages(node: Node) -> Iterator[Node]:
    """Documents that are not inside others."""
    if node.role == "document web":
        yield node
        return
    for child in node.children:
        yield from _pages(child)


def _same_page(wanted: SplitResult, address: str) -> bool:
    try:
        found = urlsplit(address)
    except ValueError:
        return False
    return (
        (found.scheme, found.netloc.lower()) == (wanted.scheme or found.scheme, wanted.netloc.lower())
        and (found.path.rstrip("/") or "/") == (wanted.path.rstrip("/") or "/")
        and wanted.query in ("", found.query)
        and wanted.fragment in ("", found.fragment)
    )


def _describe(node: Node) -> str:
    parts = [node.role, repr(node.name[:40])]
    if node.text is not None:
        parts.append(f"with text {node.text[:60]!r}")
    if node.value is not None:
        parts.append(f"at {node.value:g}")
    return " ".join(parts)
