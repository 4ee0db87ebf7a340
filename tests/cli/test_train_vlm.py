"""``operant train vlm``: a dry run, and mistakes."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from operant.cli import main
from operant.cli.train_vlm import app
from operant.errors import ConfigError

CONFIG = Path(__file__).parents[2] / "config" / "vlm_tiny_cpu.yaml"


def test_a_dry_run_prints_what_an_update_says() -> None:
    result = CliRunner().invoke(app, ["--config", str(CONFIG), "--dry-run"], catch_exceptions=False)
    assert result.exit_code == 0
    assert json.loads(result.stdout)["version"] == 1


def test_where_and_how_it_runs_is_checked_at_once(tmp_path: Path) -> None:
    def refused(*more: str) -> None:
        arguments = ["--config", str(CONFIG), "--output", str(tmp_path), *more]
        CliRunner().invoke(app, arguments, catch_exceptions=False)

    with pytest.raises(ConfigError, match="no cluster 'nowhere'"):
        refused("--cluster", "nowhere")
    with pytest.raises(ConfigError, match="which is synchronous"):
        refused("--mode", "async", "--set", "training.max_staleness=0")
    with pytest.raises(ConfigError, match="asks for 8 GPUs and there are 0"):
        refused("--cluster", "local", "--set", "cluster.learner_gpus=8")


def test_a_wrong_setting_is_told_with_the_right_one() -> None:
    with pytest.raises(ConfigError, match=r"training\.learning_rat is not a setting") as caught:
        CliRunner().invoke(
            app, ["--config", str(CONFIG), "--set", "training.learning_rat=1"], catch_exceptions=False
        )
    assert caught.value.hint == "did you mean 'learning_rate'?"


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_who_is_asked_to_end_is_interrupted_and_so_saves(
    how: signal.Signals,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def train(*_: Any) -> None:
        os.kill(os.getpid(), how)
        time.sleep(30)  # until the signal arrives
        raise AssertionError("it did not arrive")

    monkeypatch.setattr("operant.cli.train_vlm._train", train)
    before = signal.getsignal(how)
    with pytest.raises(SystemExit) as left:
        main(["train", "vlm", "--config", str(CONFIG), "--output", str(tmp_path)])
    assert left.value.code == 130
    assert "stopped before anything was saved" in capsys.readouterr().err
    (tmp_path / "demonstrations").mkdir()
    (tmp_path / "demonstrations" / "shown@0.npz").touch()
    with pytest.raises(SystemExit):
        main(["train", "vlm", "--config", str(CONFIG), "--output", str(tmp_path)])
    assert "1 demonstration: the same command with --resume goes on" in capsys.readouterr().err
    assert signal.getsignal(how) is before
