"""Files are replaced whole; a full disk is named in one line and keeps the last good file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import torch

from operant.atomic_files import replacing, write_atomically, write_problem


def test_a_failed_write_keeps_the_last_good_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "a" / "file"
    write_atomically(path, "good", sync=True)
    with pytest.raises(KeyboardInterrupt):
        _interrupted_write(path)
    assert path.read_text() == "good"
    assert list(path.parent.iterdir()) == [path]
    write_atomically(path, b"better")
    assert path.read_bytes() == b"better"


def _interrupted_write(path: Path) -> None:
    with replacing(path) as temporary:
        temporary.write_text("half")
        raise KeyboardInterrupt


def test_ctrl_c_while_a_directory_is_replaced_keeps_the_one_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "checkpoint"
    place.mkdir()
    (place / "weights").write_text("good")
    move, moved = os.replace, []

    def interrupted(source: Path, target: Path) -> None:
        moved.append(target)
        if len(moved) == 2:  # the good one is aside, and the new one not in its place yet
            raise KeyboardInterrupt
        move(source, target)

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt), replacing(place) as temporary:
        temporary.mkdir()
    assert (place / "weights").read_text() == "good"
    assert list(tmp_path.iterdir()) == [place]


def test_a_full_disk_is_one_line_whichever_library_wrote(tmp_path: Path) -> None:
    path = tmp_path / "weights.pt"
    with pytest.raises(OSError, match="No space left") as plain, open("/dev/full", "w") as full:
        full.write("x")
    assert write_problem(path, plain.value) == f"no space left on {path}"
    with pytest.raises(Exception) as torchs, open("/dev/full", "wb", buffering=0) as raw:  # noqa: PT011
        torch.save({"a": torch.zeros(100_000)}, raw)
    assert write_problem(path, torchs.value) == f"no space left on {path}"
    safetensors = RuntimeError("Error while serializing: I/O error: No space left on device (os error 28)")
    assert write_problem(path, safetensors) == f"no space left on {path}"


def test_other_reasons_are_one_line_too(tmp_path: Path) -> None:
    assert write_problem(tmp_path, RuntimeError("a\n  b")) == f"{tmp_path} can't be written: a b"
    assert write_problem(tmp_path, RuntimeError()) == f"{tmp_path} can't be written: RuntimeError"
