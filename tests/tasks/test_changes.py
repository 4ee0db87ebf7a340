"""Changes: the state before, with the changes made to it, is the criterion."""

from __future__ import annotations

import pytest

from operant.apps.moves import Goal
from operant.errors import TaskError
from operant.tasks.changes import Change, Disk, after
from operant.tasks.criteria import AllOf, DirectoryContains, FileEquals
from operant.tasks.setup import MakeDirectory, WriteFile
from operant.types import Action

SETUP = (
    WriteFile(path=".config/app.conf", text="x"),
    MakeDirectory(path="work/old"),
    WriteFile(path="work/a.txt", text="A"),
    WriteFile(path="work/b.txt", text="B"),
    WriteFile(path="else/c.txt", text="C"),
)
NOWHERE = Goal(lambda view: True, lambda view: Action.wait())


def test_the_disk_is_what_the_set_up_writes_without_settings() -> None:
    disk = Disk.of(SETUP)
    assert disk.files == {"work/a.txt": "A", "work/b.txt": "B", "else/c.txt": "C"}
    assert disk.folders == {"work", "work/old", "else"}
    assert disk.names("work") == ["old/", "a.txt", "b.txt"]


def test_a_folder_moves_with_all_that_is_in_it() -> None:
    disk = Disk.of(SETUP)
    disk.move("work", "done/work")
    assert disk.files == {"done/work/a.txt": "A", "done/work/b.txt": "B", "else/c.txt": "C"}
    assert disk.folders == {"done", "done/work", "done/work/old", "else"}


def test_folders_in_which_something_changes_are_checked_whole() -> None:
    criterion = after(SETUP, [Change(NOWHERE, lambda disk: disk.move("work/a.txt", "work/n.txt"))])
    assert criterion == AllOf(
        of=(
            DirectoryContains(path="work", names=("old/", "b.txt", "n.txt"), exactly=True),
            FileEquals(path="work/b.txt", text="B"),
            FileEquals(path="work/n.txt", text="A"),
        )
    )


def test_a_folder_is_checked_whole_after_a_file_was_removed() -> None:
    criterion = after(SETUP, [Change(NOWHERE, lambda disk: disk.remove("work/a.txt"))])
    assert criterion == AllOf(
        of=(
            DirectoryContains(path="work", names=("old/", "b.txt"), exactly=True),
            FileEquals(path="work/b.txt", text="B"),
        )
    )


def test_scope_files_checks_every_file_that_was_there_and_the_changed_ones_first() -> None:
    change = Change(NOWHERE, lambda disk: disk.write("new.txt", "N"))
    assert after(SETUP, [change], "files") == AllOf(
        of=(
            FileEquals(path="new.txt", text="N"),
            FileEquals(path="work/a.txt", text="A"),
            FileEquals(path="work/b.txt", text="B"),
            FileEquals(path="else/c.txt", text="C"),
        )
    )


def test_changes_that_change_nothing_are_refused() -> None:
    with pytest.raises(TaskError, match="change nothing"):
        after(SETUP, [Change(NOWHERE)])


def test_a_kept_folder_is_checked_whole_though_nothing_changes_in_it() -> None:
    criterion = after(SETUP, [Change(NOWHERE, lambda disk: disk.kept.add("else"))])
    assert criterion == AllOf(
        of=(
            DirectoryContains(path="else", names=("c.txt",), exactly=True),
            FileEquals(path="else/c.txt", text="C"),
        )
    )
