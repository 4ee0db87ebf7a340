"""Whatever lies where a checkpoint should be, every verb that loads one says so in one line and a hint."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from operant.agents.checkpoint_files import read_tensors, write_tensors
from operant.agents.hierarchical.policy import HierarchicalPolicy
from operant.cli import main
from operant.errors import CheckpointError, NoSpaceLeft


def _junk(path: Path) -> None:
    path.write_text("junk\n")


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _text(path: Path) -> None:
    path.write_text("config: a text that begins like a pickle\n")


def _truncated(path: Path) -> None:
    torch.save({"a": torch.zeros(10_000)}, path)
    path.write_bytes(path.read_bytes()[:20_000])


def _zip(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("letter.txt", "hello")


def _binary(path: Path) -> None:
    path.write_bytes(b"\x80\x02" + bytes(range(256)))


def _other(path: Path) -> None:
    torch.save([1, 2, 3], path)


BROKEN: dict[str, tuple[Callable[[Path], None], str]] = {
    "junk": (_junk, "is not a checkpoint"),
    "empty": (_empty, "is empty"),
    "text": (_text, "is not a checkpoint"),
    "truncated": (_truncated, "is damaged: it is cut short"),
    "zip": (_zip, "is a zip file of something else"),
    "binary": (_binary, "is damaged"),
    "directory": (Path.mkdir, "is a directory"),
    "absent": (lambda path: None, "there is no checkpoint"),
}


@pytest.fixture(params=BROKEN)
def broken(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, str]:
    make, said = BROKEN[request.param]
    path = tmp_path / "checkpoint_7.pt"
    make(path)
    return path, said


def test_every_broken_file_is_one_line(broken: tuple[Path, str]) -> None:
    path, said = broken
    with pytest.raises(CheckpointError) as told:
        read_tensors(path)
    assert said in told.value.message
    assert str(path) in told.value.message
    assert "\n" not in told.value.message
    assert told.value.hint


VERBS: dict[str, list[str]] = {
    "eval --agent": ["eval", "--suite", "core", "--agent", "hierarchical:{path}", "--result-dir", "{out}"],
    "eval --checkpoint": ["eval", "--suite", "core", "--checkpoint", "{path}", "--result-dir", "{out}"],
    "export": ["export", "{path}", "--out", "{out}/agent.pt"],
    "train --init-from": ["train", "hierarchical", "--init-from", "{path}", "--save-dir", "{out}", "--log-dir", "{out}"],
    "train --resume": ["train", "hierarchical", "--resume", "--save-dir", "{here}", "--log-dir", "{out}"],
    "train clone": ["train", "clone", "--demos", "{here}", "--out", "{out}/a.pt", "--init-from", "{path}"],
    "train dagger": ["train", "dagger", "--demos", "{here}", "--out", "{out}/a.pt", "--init-from", "{path}"],
}  # fmt: skip


@pytest.mark.parametrize("broken", ["junk", "empty", "directory"], indirect=True)
@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_says_so(
    verb: str, broken: tuple[Path, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, _ = broken
    out = tmp_path / "out"
    out.mkdir()
    words = [word.format(path=path, here=path.parent, out=out) for word in VERBS[verb]]
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code in (1, 2)
    told = capsys.readouterr().err
    assert "Traceback" not in told
    errors = [line for line in told.splitlines() if line.startswith(("error: ", "Error"))]
    assert len(errors) == 1 or "Invalid value" in told, told
    assert not [file for file in out.rglob("*") if file.is_file()], "nothing is left behind"


def test_a_file_of_something_else(tmp_path: Path) -> None:
    _other(tmp_path / "a.pt")
    with pytest.raises(CheckpointError, match="is not a checkpoint of the hierarchical agent"):
        HierarchicalPolicy.from_checkpoint(tmp_path / "a.pt")


FILL = """
import sys, torch
from pathlib import Path
from operant.agents.checkpoint_files import read_tensors, write_tensors
from operant.errors import NoSpaceLeft
path = Path(sys.argv[1]) / "weights.pt"
write_tensors(path, {"step": 1, "weights": torch.zeros(50_000)})
try:
    write_tensors(path, {"step": 2, "weights": torch.zeros(500_000)})
except NoSpaceLeft as error:
    print(error.message)
print(read_tensors(path)["step"], [one.name for one in path.parent.iterdir()])
"""


@pytest.mark.x11  # a machine that can make the namespace of a small file system
def test_a_full_disk_keeps_the_last_good_file(tmp_path: Path) -> None:
    walls = ["bwrap", "--bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
    small = ["--size", "1000000", "--tmpfs", str(tmp_path)]
    ended = subprocess.run(
        [*walls, *small, sys.executable, "-c", FILL, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=100,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        check=False,
    )
    assert ended.stdout.splitlines() == [
        f"no space left on {tmp_path / 'weights.pt'}",
        "1 ['weights.pt']",
    ], ended.stderr


def test_other_failures_to_write_are_no_full_disk(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CheckpointError, match="can't be written") as told:
        write_tensors(tmp_path / "file" / "a.pt", {})
    assert not isinstance(told.value, NoSpaceLeft)
