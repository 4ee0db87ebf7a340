"""Real desktops for the tests of this folder: one that is kept and reset, and fresh ones on demand."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest

from operant.config.desktop import DesktopConfig
from operant.desktop.sandbox import SandboxDesktop
from operant.errors import OperantError
from operant.types import Action, Node, Point

Found = TypeVar("Found")


def _eventually(predicate: Callable[[], Found], timeout: float = 5.0, pause: float = 0.005) -> Found:
    """What ``predicate`` returns as soon as it is true; fails the test if that takes too long."""
    deadline = time.monotonic() + timeout
    while True:
        found = predicate()
        if found:
            return found
        if time.monotonic() > deadline:
            raise AssertionError(f"it did not come true within {timeout:g} s; last: {found!r}")
        time.sleep(pause)


@pytest.fixture(scope="session")
def eventually() -> Callable[..., Any]:
    return _eventually


@pytest.fixture(scope="session")
def _kept() -> Iterator[list[SandboxDesktop]]:
    kept: list[SandboxDesktop] = []
    yield kept
    for desktop in kept:
        desktop.close()


@pytest.fixture
def desktop(_kept: list[SandboxDesktop]) -> SandboxDesktop:
    """A desktop as it is at the start of an episode. It is shared, so tests that break it take ``fresh``."""
    if _kept:
        try:
            _kept[0].reset()
            _kept[0].check()
        except OperantError:  # the last test broke it; that must not fail this one
            _kept.pop().close()
    if not _kept:
        _kept.append(SandboxDesktop())
    return _kept[0]


@pytest.fixture
def fresh() -> Iterator[Callable[..., SandboxDesktop]]:
    """Makes new desktops from settings; all of them are closed when the test ends."""
    made: list[SandboxDesktop] = []

    def make(**settings: Any) -> SandboxDesktop:
        made.append(SandboxDesktop(DesktopConfig.build(**settings) if settings else None))
        return made[-1]

    yield make
    for desktop in made:
        desktop.close()


class Editor:
    """Mousepad, and what is in it by its own account."""

    def __init__(self, desktop: SandboxDesktop) -> None:
        self.desktop = desktop
        self.window = desktop.launch("mousepad")

    def node(self) -> Node:
        found = self.desktop.accessibility(app="mousepad", timeout_s=10.0).find("text")
        assert found is not None
        return found

    def text(self) -> str:
        return self.node().text or ""

    def type(self, text: str) -> None:
        self.desktop.perform(Action.type(text))

    def clear(self) -> None:
        self.desktop.perform(Action.key("ctrl", "a"))
        self.desktop.perform(Action.key("delete"))

    def expect(self, text: str, timeout: float = 10.0) -> None:
        """The text is this, and stays this: a late or a wrong character fails."""
        deadline = time.monotonic() + timeout
        found = self.text()
        while len(found) < len(text) and time.monotonic() < deadline:
            time.sleep(0.02)
            found = self.text()
        self.desktop.settle()
        assert self.text() == text

    def place(self, row: int = 0, column: float = 0.0) -> Point:
        """Somewhere in the text area: ``row`` lines down and ``column`` characters in."""
        box = self.node().box
        assert box is not None
        x, y = box[0] + 4 + column * self.desktop_font()[0], box[1] + 4 + (row + 0.5) * self.desktop_font()[1]
        return Point.from_pixel(x, y, self.desktop.size)

    def desktop_font(self) -> tuple[float, float]:
        return 8.0, 17.0  # the width and height of a character are close to this; tests must not need more


@pytest.fixture
def editor(desktop: SandboxDesktop) -> Editor:
    return Editor(desktop)


@pytest.fixture
def edit() -> Callable[[SandboxDesktop], Editor]:
    return Editor


@pytest.fixture
def pixel() -> Callable[[SandboxDesktop, float, float], Point]:
    return lambda desktop, x, y: Point.from_pixel(x, y, desktop.size)


# Processes of a desktop as the machine sees them.


def _children() -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()
            except OSError:
                continue
            if fields[0] != "Z":
                found.setdefault(int(fields[1]), []).append(int(entry.name))
    return found


def _below(root: int) -> list[int]:
    """That process and all below it, as pids of this machine."""
    children, found, level = _children(), [], [root]
    while level:
        found += level
        level = [child for pid in level for child in children.get(pid, [])]
    return found


@pytest.fixture(scope="session")
def pids_of() -> Callable[[SandboxDesktop], list[int]]:
    """Every process of a desktop."""
    return lambda desktop: _below(desktop._supervised.process.pid)


@pytest.fixture(scope="session")
def pids_below() -> Callable[[int], list[int]]:
    return _below


@pytest.fixture(scope="session")
def pids_named() -> Callable[[SandboxDesktop, str], list[int]]:
    """Those of a desktop's processes that run a program of that name."""

    def named(desktop: SandboxDesktop, name: str) -> list[int]:
        found = []
        for pid in _below(desktop._supervised.process.pid):
            try:
                if Path(f"/proc/{pid}/comm").read_text().strip() == name:
                    found.append(pid)
            except OSError:
                continue
        return found

    return named


@pytest.fixture(scope="session")
def alive() -> Callable[[list[int]], list[int]]:
    """Those of the pids that still run; one that is dead but not yet collected does not."""

    def living(pids: list[int]) -> list[int]:
        found = []
        for pid in pids:
            try:
                state = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[0]
            except OSError:
                continue
            if state != "Z":
                found.append(pid)
        return found

    return living


@pytest.fixture(scope="session")
def open_files() -> Callable[[], int]:
    return lambda: len(os.listdir("/proc/self/fd"))


@pytest.fixture
def call(desktop: SandboxDesktop) -> Callable[..., Any]:
    """Performs a call and returns what it answered, JSON read."""

    def perform(name: str, /, **arguments: object) -> Any:
        desktop.perform(Action.call(name, arguments))
        text = desktop.last_step.text
        return json.loads(text) if text[:1] in ("[", "{") else text

    return perform
