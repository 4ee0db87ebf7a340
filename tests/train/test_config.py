"""Settings of a run: every one of the file is read, flags win, and mistakes are told in one line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from operant.errors import ConfigError
from operant.train.config import TrainConfig

SHIPPED = Path(__file__).parents[2] / "config" / "config.yaml"


def load(path: Path | None = None, flags: dict[str, Any] | None = None, **variables: str) -> TrainConfig:
    return TrainConfig.load(path, flags=flags, environ=variables)


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def written(text: str) -> Path:
    path = Path("mine.yaml")
    path.write_text(text, encoding="utf-8")
    return path


def test_the_shipped_file_holds_every_setting_with_its_default() -> None:
    assert load(SHIPPED) == TrainConfig()
    sections = yaml.safe_load(SHIPPED.read_text(encoding="utf-8"))
    for name, section in sections.items():
        model = type(getattr(TrainConfig(), name))
        if name != "desktop":
            assert set(section) >= set(model.model_fields), name


def test_the_file_of_the_seed_system_is_read_and_obeyed() -> None:
    config = load(
        written(
            """
            training:
              learning_rate: 1e-4
              clip_epsilon: 0.1
              gamma: 0.95
              gae_lambda: 0.9
              buffer_size: 1024
              update_epochs: 7
            curriculum:
              easy_threshold: 0.7
              medium_threshold: 0.4
              min_steps_per_stage: 123
            """
        )
    )
    training = config.training
    assert (training.learning_rate, training.clip_epsilon, training.gamma) == (1e-4, 0.1, 0.95)
    assert (training.gae_lambda, training.buffer_size, training.update_epochs) == (0.9, 1024, 7)
    curriculum = config.curriculum
    assert (curriculum.easy_threshold, curriculum.medium_threshold) == (0.7, 0.4)
    assert curriculum.min_steps_per_stage == 123


def test_flags_win_over_variables_over_dotenv_over_the_file() -> None:
    path = written("run: {device: cuda, log_level: ERROR}")
    assert load(path).run.device == "cuda"
    Path(".env").write_text("DEVICE=cuda:1\nexport LOG_LEVEL='warning'\n", encoding="utf-8")
    assert load(path).run.device == "cuda:1"
    assert load(path).run.log_level == "WARNING"
    assert load(path, DEVICE="cuda:2").run.device == "cuda:2"
    assert load(path, {"run.device": "cpu"}, DEVICE="cuda:2").run.device == "cpu"
    assert load(path, {"run.device": None}, DEVICE="").run.device == "cuda:1"


def test_the_file_of_the_current_directory_is_the_default() -> None:
    Path("config").mkdir()
    Path("config/config.yaml").write_text("training: {num_envs: 3}", encoding="utf-8")
    assert load().training.num_envs == 3


@pytest.mark.parametrize(
    ("text", "said", "hint"),
    [
        (
            "training: {learning_rat: 1}",
            "training.learning_rat is not a setting",
            "did you mean 'learning_rate'",
        ),
        ("trainin: {gamma: 1}", "trainin is not a setting", "did you mean 'training'"),
        ("training: {learning_rate: .nan}", "learning_rate", "config.yaml"),
        ("training: {gamma: nan}", "gamma", "config.yaml"),
        ("training: {entropy_coefficients: {kind: .inf}}", "entropy_coefficients", "config.yaml"),
        ("curriculum: {easy_threshold: .nan}", "easy_threshold", "config.yaml"),
        ("training: {learning_rate: -1}", "learning_rate", "config.yaml"),
        ("training: {gamma: 1.5}", "gamma", "config.yaml"),
        ("training: {buffer_size: 4, num_envs: 8}", "buffer_size 4 is smaller than", "--rollout-steps"),
        ("training: {precision: fp8}", "precision", "config.yaml"),
        ("curriculum: {strategy: luck}", "strategy", "config.yaml"),
        ("run: {log_level: loud}", "log_level", "config.yaml"),
        ("agent: {encoder: {vison: small}}", "vison", ""),
        ("training: 5", "training must be a section", "config.yaml"),
        ("- a\n- b", "settings", "training:"),
        ("training: {gamma: 0.9", "is not YAML", "config.yaml"),
    ],
)
def test_mistakes_are_one_line_with_a_hint(text: str, said: str, hint: str) -> None:
    with pytest.raises(ConfigError, match=said) as told:
        load(written(text))
    assert "\n" not in told.value.message
    assert hint in (told.value.hint or "")


def test_a_file_that_is_not_there_is_said() -> None:
    with pytest.raises(ConfigError, match=r"no file none\.yaml"):
        load(Path("none.yaml"))


def test_an_empty_file_is_the_defaults() -> None:
    assert load(written("")) == load(written("training:\nrun:\n")) == TrainConfig()
