"""The protocol of desktops: every kind has all of it, and says what it can't do before a task's set-up needs it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

from operant.desktop.local import LocalDesktop
from operant.desktop.protocol import ALL, Capability, Desktop, LimitedDesktop, require
from operant.desktop.remote.client import RemoteDesktop
from operant.desktop.sandbox import SandboxDesktop
from operant.desktop.ui_rl import UiRlDesktop
from operant.errors import NotSupported
from operant.tasks.criteria.files import FileExists
from operant.tasks.setup import (
    Launch,
    MakeDirectory,
    OpenPage,
    Run,
    Serve,
    SetClipboard,
    SetupStep,
    WriteFile,
)
from operant.tasks.task import Task
from operant.testing import FakeDesktop
from operant.types import Difficulty, Window

MEMBERS = [*sorted(name for name in vars(Desktop) if not name.startswith("_")), "__enter__", "__exit__"]
#: Set by constructors, so not to be seen in the class.
ATTRIBUTES = {"size", "monitors", "last_step", "actions", "profile", "closed", "files", "clipboard"}
WINDOW = Window(1, "a", "a", None, 0, 0, 1, 1, focused=False)


class Bare(LimitedDesktop):
    """Can do nothing."""

    def settle(self, still_ms: float = 0.0) -> None:
        raise AssertionError("the set-up went on")


@pytest.mark.parametrize("kind", [SandboxDesktop, RemoteDesktop, LocalDesktop, UiRlDesktop, FakeDesktop])
def test_every_kind_of_desktop_has_the_whole_protocol(kind: type) -> None:
    missing = [name for name in MEMBERS if not hasattr(kind, name) and name not in ATTRIBUTES]
    assert missing == []
    for name in MEMBERS:
        wanted, found = vars(Desktop)[name], getattr(kind, name, None)
        if not inspect.isfunction(wanted) or not inspect.isfunction(found):
            continue
        parameters = inspect.signature(found).parameters
        lacking = [one for one in inspect.signature(wanted).parameters if one not in ("_", *parameters)]
        assert lacking == [], name


@pytest.mark.parametrize(
    "use",
    [
        lambda desktop: desktop.windows(),
        lambda desktop: desktop.place_window(WINDOW, 0, 0, 1, 1),
        lambda desktop: desktop.activate_window(WINDOW),
        lambda desktop: desktop.close_window(WINDOW),
        lambda desktop: desktop.caret(),
        lambda desktop: desktop.processes(),
        lambda desktop: desktop.run("true"),
        lambda desktop: desktop.start("true"),
        lambda desktop: desktop.launch("true"),
        lambda desktop: desktop.use_profile("full"),
        lambda desktop: desktop.files,
        lambda desktop: desktop.clipboard,
    ],
)
def test_what_a_desktop_lacks_is_a_typed_error(use: Callable[[Bare], Any]) -> None:
    with pytest.raises(NotSupported, match="a Bare lacks") as caught:
        use(Bare())
    assert caught.value.hint


@pytest.mark.parametrize(
    ("step", "needs"),
    [
        (WriteFile(path="a"), "files"),
        (MakeDirectory(path="a"), "running commands"),
        (Run(command=["true"]), "running commands"),
        (SetClipboard(text="a"), "the clipboard"),
        (Launch(command=["xterm"]), "starting programs"),
        (Launch(command=["xterm"], place=(0, 0, 100, 100)), "placing, raising and closing windows"),
        (Serve(directory="a"), "running commands, starting programs"),
        (OpenPage(urls=("about:blank",)), "accessibility trees, starting programs, files"),
    ],
)
def test_a_task_is_refused_before_its_set_up_begins(step: SetupStep, needs: str) -> None:
    task = Task("a/b-v1", "Do it", Difficulty.EASY, FileExists(path="a"), setup=(step,))
    with pytest.raises(NotSupported) as caught:
        task.begin(Bare())  # type: ignore[arg-type]
    assert "the set-up of a/b-v1 needs" in caught.value.message
    assert needs in caught.value.message
    assert "which a Bare lacks" in caught.value.message


def test_a_full_desktop_is_asked_for_where_there_is_one() -> None:
    task = Task("a/b-v1", "Do it", Difficulty.EASY, FileExists(path="a"), profile="full")
    with pytest.raises(NotSupported, match="menu, panel and icons"):
        task.begin(Bare())  # type: ignore[arg-type]
    desktop = FakeDesktop()
    task.begin(desktop)
    assert desktop.profile == "full"


def test_nothing_is_refused_where_nothing_is_missing() -> None:
    require(FakeDesktop(), ALL, "everything")
    with pytest.raises(NotSupported, match="this needs files, which a Bare lacks"):
        require(Bare(), [Capability.FILES], "this")  # type: ignore[arg-type]
