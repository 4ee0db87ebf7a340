"""Oracles by calls that follow from what a task changes."""

from __future__ import annotations

from typing import Any, cast

import pytest

from operant.apps.moves import Goal, Goals
from operant.apps.view import View
from operant.config.desktop import DesktopConfig
from operant.evaluation.suite_check import check_suite
from operant.tasks.called import called_oracle
from operant.tasks.changes import Change, Disk, answered
from operant.tasks.criteria import ClipboardEquals, WindowTitle
from operant.tasks.setup import SetupStep, WriteFile
from operant.tasks.suites.core import TEMPLATES
from operant.types import Action, ActionKind

SETUP: list[SetupStep] = [
    WriteFile(path="Notes/a.txt", text="one\ntwo\n"),
    WriteFile(path="Notes/b.txt", text="three\n"),
    WriteFile(path="Old/c.txt", text="four\n"),
]
SEEN = Goal(lambda view: False, lambda view: Action.wait())


class FakeFiles:
    def __init__(self, disk: Disk) -> None:
        self.disk = disk

    def exists(self, path: str) -> bool:
        return path in self.disk.files or path in self.disk.folders


class FakeView:
    """A view of a disk, which carries out calls of files on it."""

    def __init__(self, disk: Disk) -> None:
        self.disk = disk
        self.desktop = self
        self.files = FakeFiles(disk)
        self.last: Action | None = None
        self.copied: str | None = None

    def read(self, path: str) -> str | None:
        return cast(str | None, self.disk.files.get(path))

    def clipboard(self) -> str | None:
        return self.copied

    def perform(self, action: Action) -> None:
        given = dict(action.kwargs)
        name = action.function.partition(".")[2]
        if name == "move":
            self.disk.move(given["source"], given["target"])
        elif name == "copy":
            self.disk.copy(given["source"], given["target"])
        elif name == "write":
            self.disk.write(given["path"], given["text"])
        elif name == "make_folder":
            self.disk.make_folder(given["path"])
        elif name == "trash":
            self.disk.remove(given["path"])
        elif name == "set_text":
            self.copied = given["text"]
        self.last = action


def played(oracle: Goals) -> tuple[FakeView, list[str]]:
    view = FakeView(Disk.of(SETUP))
    done: list[str] = []
    for _ in range(20):
        action = oracle.act(cast(View, view))
        if action.kind is not ActionKind.CALL:
            return view, done
        done.append(action.function.partition(".")[2])
        view.perform(action)
    raise AssertionError(f"it does not end: {done}")


def moved(disk: Disk) -> None:
    disk.move("Notes/b.txt", "New/b.txt")


def folder_renamed(disk: Disk) -> None:
    disk.move("Old", "Older")


def rewritten(disk: Disk) -> None:
    disk.write("Notes/a.txt", "one\nfour\n")


def removed(disk: Disk) -> None:
    disk.remove("Old")


def duplicated(disk: Disk) -> None:
    disk.copy("Notes/a.txt", "Notes/copy.txt")


@pytest.mark.parametrize(
    ("effect", "calls"),
    [
        (moved, ["make_folder", "move"]),
        (folder_renamed, ["move"]),
        (rewritten, ["read", "read", "write"]),
        (removed, ["trash"]),
        (duplicated, ["copy"]),
    ],
)
def test_functions_for_files_make_an_effect(effect: Any, calls: list[str]) -> None:
    oracle = called_oracle(SETUP, [Change(SEEN, effect)])
    assert oracle is not None
    view, done = played(oracle)
    wanted = Disk.of(SETUP)
    effect(wanted)
    assert done == calls
    assert (view.disk.files, view.disk.folders) == (wanted.files, wanted.folders)


def test_what_only_the_screen_can_do_has_no_oracle_by_calls() -> None:
    assert called_oracle(SETUP, [Change(SEEN, holds=[WindowTitle(title="x")])]) is None
    assert called_oracle(SETUP, [Change(SEEN), answered("7")]) is None, "nothing was looked at"
    copied = called_oracle(SETUP, [Change(SEEN, holds=[ClipboardEquals(text="two")])])
    assert copied is not None
    assert played(copied)[1] == ["set_text"]


def test_tasks_that_are_about_pointer_and_keyboard_have_none() -> None:
    tasks = [template.instance(0) for template in TEMPLATES]
    assert not [task.id for task in tasks if task.gui_only and task.api_oracle is not None]
    assert len([task for task in tasks if task.api_oracle is not None]) >= 70


@pytest.mark.x11
def test_they_solve_real_tasks() -> None:
    names = ("calculator-add-prices", "files-sort-by-kind", "editor-merge-files", "browser-send-message")
    chosen = [one for one in TEMPLATES if one.id.split("/")[1].startswith(names)]
    assert len(chosen) == len(names)
    found = check_suite(chosen, seeds=[0], agents=["oracle"], config=DesktopConfig(actions="api"))
    assert [one.task.id for one in found if not one.success] == []
    assert all(one.result.gui_actions == 0 < one.result.calls for one in found)
