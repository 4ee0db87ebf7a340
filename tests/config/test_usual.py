"""Usual ranges: a warning outside, silence inside, and the guide's table says the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from loguru import logger
from pydantic import BaseModel

from operant.config.learning import CurriculumConfig, PPOConfig
from operant.config.usual import unusual
from operant.errors import ConfigError
from operant.learn import PPOTrainer
from operant.learn.curriculum import make_curriculum
from operant.testing.toys import ToyEnvironments, ToyPolicy
from operant.train.config import TrainConfig

ROOT = Path(__file__).parents[2]
MODELS = (PPOConfig, CurriculumConfig)


@pytest.mark.parametrize("model", MODELS)
def test_every_range_is_of_a_setting_and_holds_its_default(model: type[PPOConfig | CurriculumConfig]) -> None:
    assert set(model.usual) <= set(model.model_fields)
    assert unusual(model()) == []
    for known in model.usual.values():
        assert known.low < known.high
        assert known.advice.endswith(".")


def cells(model: type[BaseModel], name: str) -> list[str]:
    field, known = model.model_fields[name], model.usual[name]  # type: ignore[attr-defined]
    return [
        f"`{name}`",
        f"{field.default:g}",
        str(known),
        " ".join(str(field.description).split()),
        known.advice,
    ]


def test_the_guide_has_the_same_table() -> None:
    text = (ROOT / "docs" / "training.md").read_text(encoding="utf-8")
    section = text.split("### Ranges")[1].split("\n## ")[0]
    told = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if "`" in line
    ]
    rows = [row for row in told if len(row) == 5]
    assert rows == [cells(model, name) for model in MODELS for name in model.usual]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"learning_rate": 0.01}, "learning_rate is 0.01, usual is 1e-05 to 0.001. Start with 0.0003"),
        ({"clip_epsilon": 0.5}, "clip_epsilon is 0.5, usual is 0.1 to 0.3."),
        ({"gamma": 0.9}, "gamma is 0.9"),
        ({"gae_lambda": 1.0}, "gae_lambda is 1"),
        ({"buffer_size": 100_000}, "buffer_size is 100000"),
        ({"target_kl": None}, None),
        ({"learning_rate": 1e-5}, None),
    ],
)
def test_what_is_said(given: dict[str, float], said: str | None) -> None:
    told = unusual(PPOConfig(**given))  # type: ignore[arg-type]
    assert len(told) == (said is not None)
    if said is not None:
        assert told[0].startswith(said)


def test_trainer_and_curriculum_warn() -> None:
    heard: list[str] = []
    sink = logger.add(heard.append, level="WARNING", format="{message}")
    try:
        PPOTrainer(ToyPolicy(), ToyEnvironments(2), gamma=0.5)
        make_curriculum({"EASY": ["toy"]}, CurriculumConfig(strategy="stages", easy_threshold=1.0))
        make_curriculum({"EASY": ["toy"]}, CurriculumConfig(easy_threshold=1.0))  # not used: nothing to say
    finally:
        logger.remove(sink)
    assert [line.split(",")[0] for line in heard] == ["gamma is 0.5", "easy_threshold is 1"]


def test_no_shipped_configuration_is_unusual() -> None:
    read = 0
    for path in sorted((ROOT / "config").glob("*.yaml")):
        try:
            config = TrainConfig.load(path, environ={})
        except ConfigError:
            continue  # of another command
        read += 1
        assert unusual(config.training) + unusual(config.curriculum) == [], path.name
    assert read >= 4
