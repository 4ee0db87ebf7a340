"""Demonstrations: the oracle's steps in a model's words, which still solve the task."""

from __future__ import annotations

from typing import get_args

import pytest

from operant.agents.vlm.answers import Answers
from operant.agents.vlm.demonstrator import Demonstrator
from operant.agents.vlm.families import Units
from operant.config.vlm import AnswerFormat, PromptSettings
from operant.envs.task_environment import TaskEnvironment
from operant.rollout.loop import run_episode
from operant.testing import FAKE_TEMPLATES, FakeDesktop
from operant.types import Size


@pytest.mark.parametrize("units", Units)
@pytest.mark.parametrize("format", [name for name in get_args(AnswerFormat) if name != "computer_rl"])
@pytest.mark.parametrize("template", FAKE_TEMPLATES, ids=lambda template: template.id)
def test_demonstrations_in_every_format_solve_the_tasks(format: AnswerFormat, units: Units, template) -> None:  # type: ignore[no-untyped-def]
    agent = Demonstrator(
        PromptSettings(action_format=format), units, lambda size: Size(320, 200), lambda text: [1, 2]
    )
    result = run_episode(agent, TaskEnvironment(FakeDesktop()), template.instance(3))  # type: ignore[arg-type]
    assert result.success, result.why
    assert len(agent.turns) == result.steps
    for turn in agent.turns:
        assert turn.answer.token_ids == (1, 2)
        assert Answers(format, units, Size(320, 200)).parse(turn.answer.text)
        assert turn.prompt.images[-1].shape == (200, 320, 3)
