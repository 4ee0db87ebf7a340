"""``operant demos``: what can't be collected is told before any desktop starts."""

from __future__ import annotations

from pathlib import Path

import pytest

from operant.errors import ConfigError
from operant.train.tasks import training_templates


def test_a_difficulty_that_does_not_exist_is_named() -> None:
    with pytest.raises(ConfigError, match="'EASYY' is not a difficulty") as caught:
        training_templates("core", "easyy".upper())
    assert caught.value.hint == "did you mean 'EASY'?"


def test_unseen_templates_are_never_learned() -> None:
    assert not any(template.unseen for template in training_templates("core"))
    with pytest.raises(ConfigError, match="no template is left"):
        training_templates("core", only="archives-replace-file")


@pytest.mark.x11
def test_demonstrations_are_collected(tmp_path: Path) -> None:
    from operant.agents.hierarchical.labeler import HierarchicalLabeler
    from operant.rollout.demonstration_collector import collect_demonstrations
    from operant.rollout.demonstrations import find_demonstrations
    from operant.rollout.lessons import LessonView

    (template,) = training_templates("core", only="calculator-type-sum")
    tasks = [template.instance(seed, "train") for seed in range(2)]
    view = LessonView(HierarchicalLabeler(), tmp_path / "cache")
    done = collect_demonstrations(tasks, tmp_path / "demos", view, workers=2)
    assert (done.episodes, done.successes, done.infra_errors) == (2, 2, 0)
    found = find_demonstrations([tmp_path / "demos"])
    assert [path.name for path in found] == [
        f"{template.id.replace('/', '.')}.train.{seed}" for seed in range(2)
    ]
    assert done.steps == sum(len(view.read(path)) for path in found)
    assert len(list((tmp_path / "cache").rglob("*.safetensors.zst"))) == 2
    size = sum(file.stat().st_size for path in found for file in path.iterdir())
    assert size / done.steps <= 60_000
