"""Every shipped configuration parses, and all of its components work together with a tiny model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from operant.config.vlm_training import VLMTrainingConfig
from operant.errors import ConfigError
from operant.train.vlm.dry_run import dry_run, small
from operant.train.vlm.parts import Parts

CONFIG = Path(__file__).parents[3] / "config"
UI_RL = [CONFIG / "default_config.yaml", CONFIG / "gcp_training.yaml"]
SHIPPED = sorted([*CONFIG.glob("vlm_*.yaml"), *UI_RL])


def test_they_are_there() -> None:
    assert len(SHIPPED) >= 4


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_a_dry_run_makes_an_update(path: Path) -> None:
    config = VLMTrainingConfig.load(path)
    metrics = dry_run(config)
    assert metrics["version"] == 1
    assert metrics["examples"] > 0
    assert metrics["grad_norm"] > 0 or config.training.options.get("warmup_updates")


def test_overrides_and_mistakes(tmp_path: Path) -> None:
    path = next(path for path in SHIPPED if path.stem == "vlm_tiny_cpu")
    config = VLMTrainingConfig.load(path, assignments=["training.learning_rate=0.5", "model.lora.r=3"])
    assert config.training.learning_rate == 0.5
    assert config.model.lora.r == 3
    with pytest.raises(ConfigError, match=r"training\.lr is not a setting"):
        VLMTrainingConfig.load(path, assignments=["training.lr=1"])
    with pytest.raises(ConfigError, match="sets nothing"):
        VLMTrainingConfig.load(path, assignments=["training"])
    with pytest.raises(ConfigError, match="no file"):
        VLMTrainingConfig.load(tmp_path / "none.yaml")
    (tmp_path / "list.yaml").write_text("- 1")
    with pytest.raises(ConfigError, match="holds no settings"):
        VLMTrainingConfig.load(tmp_path / "list.yaml")


SESSION = {"session_type": "simple_data_entry", "task_prompt": "Complete the data entry form"}
SERVERS = {"ui_env_urls": ["http://127.0.0.1:8000"]}


@pytest.mark.parametrize(
    ("sections", "said"),
    [
        ({"actor": {"session_type": "simple_data_entry"}, "environment": SERVERS}, "go together"),
        ({"actor": {"task_prompt": "Complete the form"}, "environment": SERVERS}, "go together"),
        ({"actor": {**SESSION, "task_prompt": ""}, "environment": SERVERS}, "must not be empty"),
        ({"actor": SESSION}, r"set environment\.ui_env_urls"),
        ({"actor": SESSION, "environment": {**SERVERS, "suite": "clicks"}}, r"leave environment\.suite out"),
        ({"actor": SESSION, "environment": SERVERS, "training": {"demonstrations": 5}}, "has no oracle"),
        ({"actor": SESSION, "environment": {"ui_env_urls": ["vm-1:8000"]}}, "is no address"),
        ({"actor": {"sesion_type": "x"}}, r"actor\.sesion_type is not a setting"),
    ],
)
def test_sessions_of_ui_rl_servers_are_checked(sections: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        VLMTrainingConfig.build(model={"name": "tiny:qwen2_vl"}, **sections)


@pytest.mark.parametrize(
    ("name", "family", "kind"),
    [
        ("Qwen/Qwen2-VL-2B-Instruct", "", "qwen2_vl"),
        ("somebody/some-model", "idefics2", "idefics2"),
        ("somebody/some-model", "generic", "generic"),
    ],
)
def test_a_dry_run_puts_a_tiny_model_of_the_same_family_in_place(name: str, family: str, kind: str) -> None:
    config = VLMTrainingConfig.build(
        model={"name": name, "family": family}, environment={"suite": "clicks"}, training={"threads": 1}
    )
    assert small(config).model.name == f"tiny:{kind}"


def test_a_dry_run_reads_what_kind_a_directory_holds(tmp_path: Path) -> None:
    def kind(written: str) -> str:
        (tmp_path / "config.json").write_text(written)
        return small(VLMTrainingConfig.build(model={"name": str(tmp_path)})).model.name

    assert kind('{"model_type": "llava"}') == "tiny:llava"
    assert kind('{"model_type": "paligemma"}') == "tiny:generic"
    with pytest.raises(ConfigError, match="can't tell the family"):
        kind("{")


def test_a_gpu_that_is_not_there_is_told(tmp_path: Path) -> None:
    path = next(path for path in SHIPPED if path.stem == "vlm_tiny_cpu")
    config = VLMTrainingConfig.load(path, assignments=["model.device=cuda:7"])
    with pytest.raises(ConfigError, match="no device 'cuda:7'"):
        Parts(config, tmp_path)
