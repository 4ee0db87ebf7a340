"""Criteria on widgets and web pages, as applications describe them over accessibility.

The description is an application's own, so it counts only if one of the windows that it describes is shown by
the program that goes by that name.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from urllib.parse import SplitResult, urlsplit

from pydantic import Field, model_validator

from operant.errors import AccessibilityError, TaskError
from operant.tasks.criteria.base import Verdict, World
from operant.tasks.criteria.executables import akin, programs_of
from operant.tasks.criteria.question import Question, Refuted
from operant.types import Node, Size, Window

__all__ = ["Accessible", "Url"]

READ_S = 10.0
SLACK = 4  # pixels
#: Pixels by which a top-level widget may be larger than its window: any window manager's title bar, or the shadow that
#: some windows draw themselves. A tolerance, not the size of a frame (see ``operant.desktop.decorations``).
MOST_DECORATION = 48
PAGE_S = 3.0  # that a browser may take to describe its page once it is asked for the first time
BROWSERS = ("Chromium", "Google Chrome", "Firefox")


class Accessible(Question):
    """A widget is shown that has all of these properties."""

    app: str = Field(min_length=1)
    """Name of the application, such as galculator."""
    role: str | None = None
    """What it is, such as push button."""
    name: str | None = None
    """Its whole name, apart from blanks around it."""
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
            if self.role in (None, node.role) and self.name in (None, node.name.strip()):
                alike.append(_describe(node))
        shown = "; ".join(alike[:4]) or "no such widget"
        asked = self.model_dump(exclude={"app"}, exclude_none=True)
        wanted = ", ".join(f"{name.replace('_', ' ')} {value!r}" for name, value in asked.items())
        return Verdict.compared(False, f"{self.app} shows {shown}", wanted)

    def _fits(self, node: Node, window: str) -> bool:
        return (
            self.role in (None, node.role)
            and (self.name is None or node.name.strip() == self.name.strip())
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
        pages = _shown_pages(world)
        for page in pages:
            if page == self.url or (not self.exact and _same_page(urlsplit(self.url), page)):
                return Verdict(True, f"{page[:200]} is shown")
        shown = f"shown is {', '.join(page[:200] for page in pages)}" if pages else "no page is shown"
        return Verdict.compared(False, shown, self.url[:200])


def _shown_pages(world: World) -> list[str]:
    """The addresses of the pages that browsers show."""
    deadline = time.monotonic() + PAGE_S
    while True:
        pages, asked = [], False
        for browser in BROWSERS:
            try:
                tree = application_tree(world, browser)
            except Refuted:
                continue
            asked = True
            pages += [page.url for page in _pages(tree) if page.url]
        if pages or not asked or time.monotonic() >= deadline:
            return pages
        time.sleep(0.05)


def application_tree(world: World, app: str) -> Node:
    """The shown widgets of an application that is what it calls itself."""
    try:
        tree = world.desktop.accessibility(app=app, timeout_s=READ_S)
    except AccessibilityError as error:
        if error.message.startswith("no application"):
            raise Refuted(error.message) from error
        raise
    windows = world.desktop.windows()
    programs = programs_of(world.desktop, windows)
    own = [window for window in windows if akin(programs.get(window.id, ""), app)]
    if not any(_frames(top, window) for top in tree.children for window in own):
        raise Refuted(f"no window of {app} is shown")
    return tree


def _frames(top: Node, window: Window) -> bool:
    """Whether a top-level widget is that window: by its title, and by its box with or without the frame."""
    # Chromium puts remarks into the middle of the name ("Network error"); the end is the same.
    if top.box is None or not top.name or top.name.rpartition(" - ")[2] != window.title.rpartition(" - ")[2]:
        return False
    x, y, width, height = top.box
    gaps = (
        window.x - x,
        window.y - y,
        x + width - window.x - window.width,
        y + height - window.y - window.height,
    )
    return all(-SLACK <= gap <= MOST_DECORATION for gap in gaps)


def _shown(tree: Node, size: Size) -> Iterator[tuple[str, Node]]:
    """Title of the window and widget, for all that have a place on the screen."""
    for window in tree.children:
        for node in window.walk():
            if node.box is not None:
                x, y, width, height = node.box
                if x < size.width and y < size.height and x + width > 0 and y + height > 0:
                    yield window.name, node


def _pages(node: Node) -> Iterator[Node]:
    """Documents that are not inside others, and shown as pages rather than as their source."""
    if node.name.startswith("view-source:"):
        return
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
