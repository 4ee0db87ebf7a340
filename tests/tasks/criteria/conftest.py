"""A real desktop for each module, reset for each test, and a made-up one for what needs no X server."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from operant.desktop.sandbox import SandboxDesktop
from operant.errors import AccessibilityError, UnknownApplication
from operant.tasks.criteria import Criterion, Verdict, World
from operant.testing.fake_files import FakeFiles
from operant.types import Monitor, Node, Process, Size, Window


@pytest.fixture(scope="module")
def _kept() -> Iterator[SandboxDesktop]:
    with SandboxDesktop() as desktop:
        yield desktop


@pytest.fixture
def desktop(_kept: SandboxDesktop) -> SandboxDesktop:
    """A desktop as it is at the start of an episode."""
    _kept.reset()
    return _kept


@pytest.fixture
def ask(desktop: Any) -> Callable[[Criterion], Verdict]:
    """What a criterion says about the desktop now."""
    return lambda criterion: criterion.check(World(desktop))


@pytest.fixture
def shell(desktop: SandboxDesktop) -> Callable[[str], str]:
    """What an agent does in a terminal."""

    def run(script: str) -> str:
        result = desktop.run(["bash", "-c", script])
        assert result.returncode == 0, result.stderr.decode()
        return result.output

    return run


@pytest.fixture
def eventually() -> Callable[[Callable[[], Any]], Any]:
    def wait(predicate: Callable[[], Any], timeout: float = 10.0) -> Any:
        deadline = time.monotonic() + timeout
        while not (found := predicate()):
            assert time.monotonic() < deadline, f"it did not come true; last: {found!r}"
            time.sleep(0.02)
        return found

    return wait


@dataclass
class MadeUpDesktop:
    """Says what the test wants it to say."""

    shown: list[Window] = field(default_factory=list)
    running: list[Process] = field(default_factory=list)
    trees: dict[str, Node] = field(default_factory=dict)
    size: Size = field(default_factory=lambda: Size(1280, 800))
    files: FakeFiles = field(default_factory=FakeFiles)
    monitors: tuple[Monitor, ...] = (Monitor(0, 0, 1280, 800),)

    def windows(self) -> list[Window]:
        return self.shown

    def processes(self) -> list[Process]:
        return self.running

    def run(self, command: list[str], **_: object) -> Any:
        raise UnknownApplication(f"no program {command[0]!r}")

    def accessibility(self, *, app: str, timeout_s: float) -> Node:
        if app not in self.trees:
            raise AccessibilityError(f"no application {app!r} is accessible", hint="accessible: none")
        return self.trees[app]

    def show(self, window: Window, program: str, tree: Node | None = None, app: str = "") -> None:
        self.shown.append(window)
        self.running.append(Process(window.pid or 0, 1, program, (program,)))
        if tree is not None:
            self.trees[app or program] = tree

    def ask(self, criterion: Criterion) -> Verdict:
        return criterion.check(World(cast(SandboxDesktop, self)))


@pytest.fixture
def made_up() -> MadeUpDesktop:
    return MadeUpDesktop()
