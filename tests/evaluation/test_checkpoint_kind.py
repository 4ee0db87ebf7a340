"""Which agent a checkpoint is of, by what is there."""

from __future__ import annotations

from pathlib import Path

import pytest

from operant.errors import CheckpointError
from operant.evaluation.checkpoint_kind import agent_of_checkpoint
from operant.learn.checkpoint import save_checkpoint
from operant.learn.vlm.checkpoint import write_checkpoint


def version(directory: Path, number: int) -> Path:
    def save_model(place: Path) -> None:
        place.mkdir()
        (place / "adapter_config.json").write_text("{}")

    return write_checkpoint(directory, number, {}, save_model)


def test_a_vision_language_run_its_checkpoints_and_its_models_are_all_meant(tmp_path: Path) -> None:
    checkpoints = tmp_path / "run" / "checkpoints"
    older, newer = version(checkpoints, 9), version(checkpoints, 10)
    for path, model in {
        tmp_path / "run": newer,
        checkpoints: newer,
        older: older,
        older / "state.pt": older,
        older / "model": older,
    }.items():
        assert agent_of_checkpoint(path) == f"vlm:{model / 'model'}"


def test_a_whole_model_is_meant(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    assert agent_of_checkpoint(tmp_path) == f"vlm:{tmp_path}"


def test_a_hierarchical_file_or_its_run_is_meant(tmp_path: Path) -> None:
    files = [
        save_checkpoint(tmp_path / "run" / f"checkpoint_{steps}.pt", {"progress": {"step": steps}})
        for steps in (900, 1000)
    ]
    assert agent_of_checkpoint(files[0]) == f"hierarchical:{files[0]}"
    assert agent_of_checkpoint(tmp_path / "run") == f"hierarchical:{files[1]}"
    (tmp_path / "experiment").mkdir()
    (tmp_path / "run").rename(tmp_path / "experiment" / "checkpoints")
    found = agent_of_checkpoint(tmp_path / "experiment")
    assert found == f"hierarchical:{tmp_path / 'experiment' / 'checkpoints' / 'checkpoint_1000.pt'}"


def test_anything_else_says_what_would_do(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="there is no checkpoint") as caught:
        agent_of_checkpoint(tmp_path / "missing.pt")
    assert "version_N" in str(caught.value.hint)
    (tmp_path / "empty").mkdir()
    with pytest.raises(CheckpointError, match="holds no checkpoint"):
        agent_of_checkpoint(tmp_path / "empty")
