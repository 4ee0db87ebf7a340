"""Checkpoints: whole or not there, and never more than numbers."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from operant.errors import CheckpointError, NoSpaceLeft
from operant.learn.checkpoint import (
    FINAL,
    global_random_state,
    load_checkpoint,
    newest_checkpoint,
    restore_global_random_state,
    save_checkpoint,
    steps_crossed,
)
from operant.testing.toys import ToyPolicy


@pytest.mark.parametrize(
    ("before", "now", "crossed"),
    [
        (0, 9_999, None),
        (0, 10_000, 10_000),
        (8_192, 10_240, 10_000),
        (10_000, 12_048, None),
        (10_240, 19_999, None),
        (5_000, 35_000, 30_000),
    ],
)
def test_checkpoints_are_due_when_steps_are_crossed(before: int, now: int, crossed: int | None) -> None:
    assert steps_crossed(before, now, 10_000) == crossed


def test_with_rollouts_of_2048_none_is_missed() -> None:
    steps = range(0, 100_000, 2048)
    found = [steps_crossed(step, step + 2048, 10_000) for step in steps]
    assert [step for step in found if step] == [10_000 * number for number in range(1, 11)]


def test_what_is_saved_comes_back_and_nothing_else_is_left(tmp_path: Path) -> None:
    path = save_checkpoint(tmp_path / "new" / "checkpoint_10.pt", {"policy": ToyPolicy().state_dict()})
    assert set(load_checkpoint(path)["policy"]) == set(ToyPolicy().state_dict())
    assert os.listdir(path.parent) == ["checkpoint_10.pt"]


def test_a_failed_write_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = save_checkpoint(tmp_path / FINAL, {"progress": {"step": 1}})

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(NoSpaceLeft, match=f"no space left on {path}"):
        save_checkpoint(path, {"progress": {"step": 2}})
    assert load_checkpoint(path)["progress"]["step"] == 1
    assert os.listdir(tmp_path) == [FINAL]


class Evil:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self.path),)


@pytest.mark.parametrize("zipped", [True, False])
def test_a_malicious_file_runs_no_code(tmp_path: Path, zipped: bool) -> None:
    proof, path = tmp_path / "proof", tmp_path / "evil.pt"
    content = {"kind": "operant-training", "format": 1, "policy": Evil(proof)}
    torch.save(content, path, _use_new_zipfile_serialization=zipped)
    with pytest.raises(CheckpointError, match="could run code") as told:
        load_checkpoint(path)
    assert not proof.exists()
    assert "\n" not in told.value.message
    torch.load(path, weights_only=False)
    assert proof.is_dir(), "the file was not dangerous in the first place"


class TestBadFiles:
    def refused(self, path: Path) -> CheckpointError:
        with pytest.raises(CheckpointError) as told:
            load_checkpoint(path)
        assert "\n" not in told.value.message
        assert told.value.hint
        return told.value

    def test_absent(self, tmp_path: Path) -> None:
        assert "no checkpoint" in self.refused(tmp_path / "none.pt").message

    @pytest.mark.parametrize("content", [b"", b"no checkpoint at all", b"\x80\x02."])
    def test_not_one_at_all(self, tmp_path: Path, content: bytes) -> None:
        path = tmp_path / "a.pt"
        path.write_bytes(content)
        self.refused(path)

    @pytest.mark.parametrize("kept", [0.3, 0.99])
    def test_cut_short(self, tmp_path: Path, kept: float) -> None:
        path = save_checkpoint(tmp_path / "a.pt", {"policy": ToyPolicy().state_dict()})
        whole = path.read_bytes()
        path.write_bytes(whole[: int(kept * len(whole))])
        assert "damaged" in self.refused(path).message

    def test_of_something_else(self, tmp_path: Path) -> None:
        torch.save({"weight": torch.zeros(2)}, tmp_path / "a.pt")
        assert "not a checkpoint of a training run" in self.refused(tmp_path / "a.pt").message

    def test_of_another_version(self, tmp_path: Path) -> None:
        path = save_checkpoint(tmp_path / "a.pt", {})
        torch.save({**torch.load(path, weights_only=True), "format": 99}, path)
        assert "format 99" in self.refused(path).message


def test_the_newest_has_the_most_steps(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="no checkpoint to go on from"):
        newest_checkpoint(tmp_path / "nowhere")
    for step in (9_000, 10_000, 2_000):
        save_checkpoint(tmp_path / f"checkpoint_{step}.pt", {})
    assert newest_checkpoint(tmp_path).name == "checkpoint_10000.pt"
    save_checkpoint(tmp_path / FINAL, {"progress": {"step": 10_500}})
    assert newest_checkpoint(tmp_path).name == FINAL
    save_checkpoint(tmp_path / "checkpoint_20000.pt", {})
    assert newest_checkpoint(tmp_path).name == "checkpoint_20000.pt"


def test_all_generators_come_back(tmp_path: Path) -> None:
    def draw() -> tuple[float, float, float, float]:
        return float(torch.rand(1)), float(np.random.rand()), random.random(), random.gauss(0, 1)

    draw()
    path = save_checkpoint(tmp_path / "a.pt", {"random": global_random_state()})
    first = draw()
    restore_global_random_state(load_checkpoint(path)["random"])
    assert draw() == first
