"""``--profile``: a cProfile file of the run, and its head for people."""

from __future__ import annotations

import pstats
from pathlib import Path
from typing import Any

import pytest

from operant.cli import main
from operant.testing import FAKE_TEMPLATES, FakeDesktop
from operant.train import run
from operant.train.profiling import PROFILE, profiled


def test_a_run_is_profiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    real = run.train

    def on_fake_desktops(config: Any, **options: Any) -> Any:
        return real(config, **{**options, "factory": FakeDesktop.factory}, tasks=FAKE_TEMPLATES)

    monkeypatch.setattr(run, "train", on_fake_desktops)
    few = ["--total-timesteps", "8", "--rollout-steps", "8", "--num-envs", "2"]
    with pytest.raises(SystemExit) as left:
        main(["train", "hierarchical", *few, "--profile"])
    assert left.value.code == 0
    printed = capsys.readouterr()
    assert printed.out.startswith("trained: 8 steps")
    assert "cumulative" in printed.err
    assert "python -m pstats logs/profile.prof" in printed.err
    names = {function for _, _, function in pstats.Stats(str(tmp_path / "logs" / PROFILE)).stats}  # type: ignore[attr-defined]
    assert {"collect", "sample", "update"} <= names


def test_a_run_that_fails_is_profiled_too(tmp_path: Path) -> None:
    said: list[str] = []

    def failing() -> None:
        with profiled(tmp_path / "logs", said.append):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        failing()
    assert (tmp_path / "logs" / PROFILE).is_file()
    assert "function calls" in said[0]
