"""Measurements that train, as short as they go, on the fake desktop; and what is refused before anything runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from operant.bench.ablations import measure_ablations
from operant.bench.ppo_learning import measure_ppo
from operant.bench.vlm_learning import measure_vlm_learning
from operant.errors import ConfigError


def test_an_ablation_measures_before_and_after() -> None:
    said: list[str] = []
    found = measure_ablations(said.append, ["instruction"], only="with it", steps=512, episodes=2)
    (run,) = found["runs"]
    assert (run["question"], run["variant"], run["seed"]) == ("instruction", "with it", 0)
    assert set(run["before"]) == set(run["after"]) == {"fake/press-button-v1"}
    assert said == ["instruction: with it, seed 0"]


@pytest.mark.parametrize(("question", "variant"), [("instructon", None), ("instruction", "stages")])
def test_an_unknown_question_or_variant_is_refused(question: str, variant: str | None) -> None:
    with pytest.raises(ConfigError, match="there is no"):
        measure_ablations(print, [question], only=variant)


def test_mistakes_are_found_before_training(tmp_path: Path) -> None:
    (tmp_path / "empty.yaml").write_text("training: {}\n")
    with pytest.raises(ConfigError, match="no templates"):
        measure_ppo(tmp_path, tmp_path / "empty.yaml")
    with pytest.raises(ConfigError, match="no algorithm"):
        measure_vlm_learning(tmp_path, tmp_path / "empty.yaml", only=["grp"])
