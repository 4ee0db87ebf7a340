"""Changes: the state before, with the changes made to it, is the criterion."""

from __future__ import annotations

import io

import pytest
from PIL import Image

from operant.apps.moves import Goal, answer
from operant.errors import TaskError
from operant.tasks.changes import Change, Disk, after, answered
from operant.tasks.criteria import AllOf, Answer, DirectoryContains, FileEquals, FileExists, ImageSimilar
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


def test_paths_outside_of_home_are_taken_as_they_are() -> None:
    disk = Disk.of([WriteFile(path="/tmp/site/index.html", text="I")])
    assert (disk.files, disk.folders) == ({"/tmp/site/index.html": "I"}, {"/tmp", "/tmp/site"})


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


def test_scope_names_checks_what_files_say_only_where_that_changes() -> None:
    criterion = after(
        SETUP, [Change(NOWHERE, lambda disk: disk.move("work/a.txt", "work/n.txt"))], scope="names"
    )
    assert criterion == AllOf(
        of=(
            DirectoryContains(path="work", names=("old/", "b.txt", "n.txt"), exactly=True),
            FileEquals(path="work/n.txt", text="A"),
        )
    )


def test_a_goal_that_something_later_undoes_stays_reached() -> None:
    goal = Goal(lambda view: False, lambda view: Action.wait())
    assert goal.or_when(lambda view: True).done(None)  # type: ignore[arg-type]
    assert not goal.or_when(lambda view: False).done(None)  # type: ignore[arg-type]


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


def painted(colour: str) -> bytes:
    made = io.BytesIO()
    Image.new("RGB", (4, 4), colour).save(made, "PNG")
    return made.getvalue()


def test_pictures_are_compared_by_how_they_look() -> None:
    setup = [WriteFile.of_bytes(f"shots/{name}.png", painted(name)) for name in ("red", "blue")]
    criterion = after(setup, [Change(NOWHERE, lambda disk: disk.remove("shots/red.png"))])
    listing, blue = criterion.of if isinstance(criterion, AllOf) else ()
    assert listing == DirectoryContains(path="shots", names=("blue.png",), exactly=True)
    assert isinstance(blue, ImageSimilar)
    assert (blue.path, blue.reference_base64) == ("shots/blue.png", setup[1].base64)


def test_other_files_need_a_criterion_of_their_own() -> None:
    setup = [WriteFile.of_bytes("work/a.zip", b"PK..."), WriteFile(path="work/a.txt", text="A")]
    with pytest.raises(TaskError, match="neither text nor a picture"):
        after(setup, [Change(NOWHERE, lambda disk: disk.remove("work/a.txt"))])


def test_a_file_without_bytes_must_be_there_and_may_hold_anything() -> None:
    disk = Disk({"work/notes.tar": b""}, {"work"})
    assert disk.is_exactly("work") == [
        DirectoryContains(path="work", names=("notes.tar",), exactly=True),
        FileExists(path="work/notes.tar"),
    ]


def test_an_answer_is_the_last_goal_and_the_criterion() -> None:
    change = answered("12", numeric=True)
    assert after((), [change]) == Answer(text="12", numeric=True)
    assert change.goal is not None
    assert not change.goal.done(None)  # type: ignore[arg-type]
    assert change.goal.act(None) == answer("12")  # type: ignore[arg-type]


def test_what_must_stay_needs_no_goal() -> None:
    stays = FileEquals(path="work/a.txt", text="A")
    assert after(SETUP, [Change(holds=[stays])]) == stays
