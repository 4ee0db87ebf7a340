"""Which tasks a run plays."""

from __future__ import annotations

from typing import Any

import pytest

from operant.errors import ConfigError, TaskError, UnknownSuite
from operant.train.config import TrainConfig
from operant.train.tasks import choose_tasks, stages_of
from operant.types import Difficulty


def config(strategy: str = "none", **environment: Any) -> TrainConfig:
    made: TrainConfig = TrainConfig.build(environment=environment, curriculum={"strategy": strategy})
    return made


def test_everything_that_is_not_kept_unseen() -> None:
    found = choose_tasks(config())
    assert len(found) > 100
    assert not any(template.unseen for template in found)
    assert sum(map(len, stages_of(found).values())) == len(found)
    assert list(stages_of(found)) == ["EASY", "MEDIUM", "HARD"]


def test_one_difficulty_or_all_from_there_on() -> None:
    assert {template.difficulty for template in choose_tasks(config(difficulty="hard"))} == {Difficulty.HARD}
    staged = choose_tasks(config("stages", difficulty="MEDIUM"))
    assert {template.difficulty for template in staged} == set(Difficulty)


def test_tasks_by_name() -> None:
    ids = ("core/calculator-type-sum-v1", "core/browser-click-link-v1")
    assert tuple(template.id for template in choose_tasks(config(tasks=ids))) == ids


def test_a_difficulty_without_tasks_is_refused() -> None:
    with pytest.raises(
        ConfigError, match=r"no HARD tasks to train on .* among those that were named"
    ) as told:
        choose_tasks(config(difficulty="HARD", tasks=("core/calculator-type-sum-v1",)))
    assert told.value.hint is not None
    with pytest.raises(ConfigError, match="no HARD tasks"):
        choose_tasks(config("stages", difficulty="HARD", tasks=("core/calculator-type-sum-v1",)))


def test_names_that_nobody_knows() -> None:
    with pytest.raises(ConfigError, match="'EASI' is not a difficulty") as told:
        choose_tasks(config(difficulty="EASI"))
    assert told.value.hint == "did you mean 'EASY'?"
    with pytest.raises(TaskError, match="no task 'core/calculator-type-sum'") as asked:
        choose_tasks(config(tasks=("core/calculator-type-sum",)))
    assert asked.value.hint == "did you mean 'core/calculator-type-sum-v1'?"
    with pytest.raises(UnknownSuite):
        choose_tasks(config(suite="cores"))


def test_unseen_tasks_are_never_trained_on() -> None:
    from operant.tasks.suites import load_suite

    hidden = next(template.id for template in load_suite("core") if template.unseen)
    with pytest.raises(TaskError, match="never trained on"):
        choose_tasks(config(tasks=(hidden,)))
