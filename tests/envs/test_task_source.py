"""Where tasks come from, and what is said when they can't."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from operant.envs.desktop_env import DesktopEnv
from operant.envs.task_source import TaskSource
from operant.errors import TaskError, UnknownSuite
from operant.tasks.suites import load_suite
from operant.testing import FAKE_TEMPLATES
from operant.types import Difficulty


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"suite": "cor"}, UnknownSuite, "did you mean 'core'"),
        ({"split": "heldot"}, TaskError, "did you mean 'heldout'"),
        ({"difficulty": "ESY"}, TaskError, "did you mean 'EASY'"),
        ({"difficulty": "impossible"}, TaskError, "difficulties: EASY, MEDIUM, HARD"),
        ({"difficulty": []}, TaskError, "no  tasks"),
        ({"unseen": True}, TaskError, "never trained on"),
        ({"tasks": []}, TaskError, "no tasks to draw"),
        ({"tasks": ["core/x-v1"]}, TaskError, "neither a task nor a template"),
    ],
)
def test_bad_input_is_told_before_any_desktop_starts(options: dict[str, Any], error: type, says: str) -> None:
    with pytest.raises(error, match=says):
        DesktopEnv(**options)


def test_a_difficulty_without_tasks_is_an_error() -> None:
    with pytest.raises(TaskError, match="no EASY tasks that need only nothing-there"):
        TaskSource.of("core", difficulty="EASY", apps=["nothing-there"])


def test_difficulties_may_be_one_several_or_all() -> None:
    def found(difficulty: Any) -> set[Difficulty]:
        return {template.difficulty for template in TaskSource.of("core", difficulty=difficulty).tasks}

    assert found("easy") == {Difficulty.EASY}
    assert found(Difficulty.EASY) == {Difficulty.EASY}
    assert found(None) == {template.difficulty for template in load_suite("core") if not template.unseen}


def test_unseen_tasks_are_not_drawn() -> None:
    for split in ("train", "heldout"):
        assert not any(template.unseen for template in TaskSource.of("core", split).tasks)


def test_a_seed_decides_what_is_drawn() -> None:
    source = TaskSource(FAKE_TEMPLATES)

    def draws(seed: int) -> list[tuple[str, str]]:
        random = np.random.default_rng(seed)
        return [(task.id, task.instruction) for task in (source.draw(random) for _ in range(10))]

    assert draws(1) == draws(1) != draws(2)


def test_one_task_by_its_id() -> None:
    source = TaskSource(FAKE_TEMPLATES, "heldout")
    random = np.random.default_rng(0)
    assert source.find("fake/compute-v1", 3, random) is not None
    assert source.find("fake/compute-v1", 3, random).split == "heldout"
    with pytest.raises(TaskError, match="did you mean 'fake/compute-v1'"):
        source.find("fake/compute-v2", 3, random)


def test_a_profile_can_take_the_place_of_that_of_the_tasks() -> None:
    random = np.random.default_rng(0)
    assert TaskSource(FAKE_TEMPLATES).draw(random).profile == "bare"
    source = TaskSource([*FAKE_TEMPLATES, FAKE_TEMPLATES[0].instance(1)], profile="full")
    assert {source.draw(random).profile for _ in range(20)} == {"full"}
    assert source.find(FAKE_TEMPLATES[0].id, 1, random).profile == "full"
