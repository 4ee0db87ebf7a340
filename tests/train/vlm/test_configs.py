"""Every shipped configuration parses, and all of its components work together with a tiny model."""

from __future__ import annotations

from pathlib import Path

import pytest

from operant.config.vlm_training import VLMTrainingConfig
from operant.config.yaml_file import load_yaml
from operant.errors import ConfigError
from operant.train.vlm.dry_run import dry_run
from operant.train.vlm.parts import Parts

SHIPPED = sorted((Path(__file__).parents[3] / "config").glob("vlm_*.yaml"))


def test_they_are_there() -> None:
    assert len(SHIPPED) >= 4


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_a_dry_run_makes_an_update(path: Path) -> None:
    config = load_yaml(path, VLMTrainingConfig)
    metrics = dry_run(config)
    assert metrics["version"] == 1
    assert metrics["examples"] > 0
    assert metrics["grad_norm"] > 0 or config.training.options.get("warmup_updates")


def test_overrides_and_mistakes(tmp_path: Path) -> None:
    path = next(path for path in SHIPPED if path.stem == "vlm_tiny_cpu")
    config = load_yaml(path, VLMTrainingConfig, ["training.learning_rate=0.5", "model.lora.r=3"])
    assert config.training.learning_rate == 0.5
    assert config.model.lora.r == 3
    with pytest.raises(ConfigError, match=r"training\.lr is not a setting"):
        load_yaml(path, VLMTrainingConfig, ["training.lr=1"])
    with pytest.raises(ConfigError, match="sets nothing"):
        load_yaml(path, VLMTrainingConfig, ["training"])
    with pytest.raises(ConfigError, match="no file"):
        load_yaml(tmp_path / "none.yaml", VLMTrainingConfig)
    (tmp_path / "list.yaml").write_text("- 1")
    with pytest.raises(ConfigError, match="holds no settings"):
        load_yaml(tmp_path / "list.yaml", VLMTrainingConfig)


def test_a_gpu_that_is_not_there_is_told(tmp_path: Path) -> None:
    path = next(path for path in SHIPPED if path.stem == "vlm_tiny_cpu")
    config = load_yaml(path, VLMTrainingConfig, ["model.device=cuda:7"])
    with pytest.raises(ConfigError, match="no device 'cuda:7'"):
        Parts(config, tmp_path)
