"""``operant export``: the agent of a training run, alone."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from operant.agents.hierarchical.config import EncoderConfig, HierarchicalConfig
from operant.agents.hierarchical.policy import HierarchicalPolicy
from operant.cli import main
from operant.learn.checkpoint import save_checkpoint

TINY = HierarchicalConfig(
    encoder=EncoderConfig(width=16, heads=2, widgets=4, vocabulary=64, text_layers=1, joint_layers=1)
)


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    """As training saves it: the policy among other things."""
    state = {"policy": HierarchicalPolicy(TINY).state(), "learner": {"moments": torch.zeros(100_000)}}
    return save_checkpoint(tmp_path / "final_model.pt", state)


@pytest.mark.parametrize("half", [True, False])
def test_the_agent_alone(
    checkpoint: Path, tmp_path: Path, half: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "new" / "agent.pt"
    with pytest.raises(SystemExit) as left:
        main(["export", str(checkpoint), "--out", str(out), *(["--half"] if half else [])])
    assert left.value.code == 0
    assert str(out) in capsys.readouterr().out
    assert out.stat().st_size < checkpoint.stat().st_size - 300_000
    exported, before = (HierarchicalPolicy.from_checkpoint(path) for path in (out, checkpoint))
    assert exported.config == TINY
    assert (exported.fingerprint == before.fingerprint) == (not half)


@pytest.mark.parametrize(
    ("source", "out", "code", "said"),
    [
        ("absent.pt", "agent.pt", 2, "there is no checkpoint"),
        ("noise.pt", "agent.pt", 1, "is not a checkpoint"),
        ("final_model.pt", "noise.pt/agent.pt", 2, "can't be written"),
    ],
)
def test_mistakes(
    checkpoint: Path,
    tmp_path: Path,
    source: str,
    out: str,
    code: int,
    said: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "noise.pt").write_bytes(b"no")
    with pytest.raises(SystemExit) as left:
        main(["export", str(tmp_path / source), "--out", str(tmp_path / out)])
    assert left.value.code == code
    assert said in capsys.readouterr().err
