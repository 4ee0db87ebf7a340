"""``operant train``: its flags reach the run, and its mistakes are told in words before anything starts."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from operant.cli import main
from operant.errors import ConfigError
from operant.learn.trainer import TrainingResult
from operant.train import run
from operant.train.config import TrainConfig

ROOT = Path(__file__).parents[2]


class Asked(Exception):
    """The run would begin now."""


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Calls the command line and tells what it asked for."""
    monkeypatch.chdir(tmp_path)
    for name in ("DEVICE", "LOG_LEVEL"):
        monkeypatch.delenv(name, raising=False)
    given: dict[str, Any] = {}

    def note(config: TrainConfig, **options: Any) -> Any:
        given.update(options, config=config)
        raise Asked

    monkeypatch.setattr(run, "train", note)

    def call(*args: str) -> dict[str, Any]:
        with pytest.raises(Asked):
            main(["train", "hierarchical", *args])
        return given

    return call


def test_every_flag_of_the_seed_is_obeyed(asked: Any) -> None:
    given = asked(
        *("--total-timesteps", "1000000", "--rollout-steps", "1024", "--learning-rate", "0.0001"),
        *("--difficulty", "EASY", "--device", "cpu", "--save-dir", "c", "--log-dir", "l", "--curriculum"),
        *("--num-envs", "3", "--seed", "9", "--visualize", "--resume", "--init-from", "x.pt"),
        *("--tasks", "core/a-v1, core/b-v1"),
    )
    config: TrainConfig = given["config"]
    assert (config.training.total_timesteps, config.training.buffer_size) == (1_000_000, 1024)
    assert (config.training.learning_rate, config.training.num_envs, config.training.seed) == (0.0001, 3, 9)
    assert (config.environment.difficulty, config.environment.tasks) == ("EASY", ("core/a-v1", "core/b-v1"))
    assert (config.run.device, config.run.save_dir, config.run.log_dir) == ("cpu", Path("c"), Path("l"))
    assert config.curriculum.strategy == "stages"
    assert config.run.visualize
    assert given["resume"]
    assert given["init_from"] == "x.pt"


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ([], "the same command with --resume goes on from there"),
        (
            ["--init-from", "default"],
            "the same command with --resume in place of --init-from goes on from there",
        ),
    ],
)
def test_an_interrupted_run_says_how_to_go_on(
    args: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    ended = TrainingResult(30, 1, 4, 0.5, 0.5, 9.0, 0, 0, True, Path("c/checkpoint_30.pt"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(run, "train", lambda *_, **more: ended)
    with pytest.raises(SystemExit) as left:
        main(["train", "hierarchical", *args])
    assert left.value.code == 130
    told = capsys.readouterr()
    assert told.out.startswith("interrupted: 30 steps, 4 episodes")
    assert said in told.err


@pytest.mark.parametrize(
    ("args", "strategy"),
    [
        (["--curriculum"], "stages"),
        (["--curriculum", "--seed", "1"], "stages"),
        (["--curriculum", "variance"], "variance"),
        (["--curriculum=learning_progress"], "learning_progress"),
        ([], "none"),
    ],
)
def test_a_curriculum_without_a_name_is_the_stages(asked: Any, args: list[str], strategy: str) -> None:
    assert asked(*args)["config"].curriculum.strategy == strategy


def test_variables_are_obeyed(asked: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEVICE", "mps")
    Path(".env").write_text("LOG_LEVEL=ERROR\n", encoding="utf-8")
    config: TrainConfig = asked()["config"]
    assert (config.run.device, config.run.log_level) == ("mps", "ERROR")


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--rollout-steps", "4"], "error: training.buffer_size 4 is smaller than training.num_envs 8"),
        (["--learning-rate", "nan"], "error: training.learning_rate"),
        (["--difficulty", "SIMPLE"], "error: 'SIMPLE' is not a difficulty"),
        (["--device", "tpu"], "error: there is no device 'tpu' here"),
        (["--config", "none.yaml"], "error: there is no file none.yaml"),
        (["--curriculum", "chance"], "error: curriculum.strategy"),
        (["--log-dir", "/proc/nowhere"], "error: log_dir /proc/nowhere can't be written"),
        (["--resume"], "error: checkpoints has no checkpoint to go on from"),
    ],
)
def test_mistakes_are_told_in_two_lines(
    args: list[str],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(run, "DesktopVectorEnv", lambda *_, **__: pytest.fail("desktops were started"))
    with pytest.raises(SystemExit) as left:
        main(["train", "hierarchical", *args])
    printed = capsys.readouterr()
    assert left.value.code in (1, 2)
    assert printed.out == ""
    first, second = printed.err.splitlines()
    assert first.startswith(said)
    assert second.startswith("hint: ")


def test_python_m_operant_train_is_the_same_command() -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "operant.train", "--rollout-steps", "1", "--num-envs", "2"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert ended.returncode == 2
    assert ended.stderr.startswith("error: training.buffer_size 1 is smaller than training.num_envs 2")


def test_the_script_hands_its_variables_on() -> None:
    """To a stand-in for Python, which says what it was called with."""
    ended = subprocess.run(
        ["sh", str(ROOT / "scripts" / "train.sh"), "--curriculum"],
        env={
            **os.environ,
            "PYTHON": "/bin/echo",
            "TOTAL_STEPS": "500",
            "DIFFICULTY": "EASY",
            "DEVICE": "cpu",
        },
        capture_output=True,
        text=True,
        check=True,
        timeout=30,
    )
    assert ended.stdout.split() == [
        "-m", "operant.train", "--device", "cpu", "--difficulty", "EASY", "--total-timesteps", "500", "--curriculum",
    ]  # fmt: skip


def test_bad_settings_are_config_errors() -> None:
    with pytest.raises(ConfigError):
        TrainConfig.build(training={"num_envs": 0})
