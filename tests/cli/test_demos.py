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
    from operant.agents.hierarchical.viewpoint import HierarchicalViewpoint
    from operant.rollout.collection import collect_demonstrations

    (template,) = training_templates("core", only="calculator-type-sum")
    tasks = [template.instance(seed, "train") for seed in range(2)]
    done = collect_demonstrations(tasks, tmp_path, HierarchicalViewpoint(), workers=2)
    assert (done.episodes, done.successes, done.infra_errors) == (2, 2, 0)
    assert len(list(tmp_path.glob("*.npz"))) == 2
