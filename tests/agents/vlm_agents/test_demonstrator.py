"""Demonstrations: the oracle's steps in a model's words, which still solve the task."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import numpy as np
import pytest

from operant.agents.vlm.answers import Answers
from operant.agents.vlm.demonstrator import Demonstrator
from operant.agents.vlm.families import Units
from operant.agents.vlm.prompt import Conversation
from operant.apps.moves import Goal, Goals
from operant.calls.offer import FunctionOffer
from operant.config.desktop import DesktopConfig
from operant.config.vlm import AnswerFormat, PromptSettings
from operant.envs.task_environment import TaskEnvironment
from operant.rollout.loop import run_episode
from operant.testing import FAKE_TEMPLATES, FakeDesktop
from operant.types import Action, Observation, Point, Size


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


@pytest.mark.parametrize("format", ["json", "computer_rl_visual"])
def test_demonstrations_call_where_the_oracle_calls(format: AnswerFormat) -> None:
    call = Action.call("files.make_folder", {"path": "Documents/books"})
    oracle = Goals([Goal(lambda view: view.last == call, lambda view: call)])
    task = replace(FAKE_TEMPLATES[0].instance(3), api_oracle=oracle)
    for actions, calls in (("gui", 0), ("both", 1)):
        desktop = FakeDesktop(DesktopConfig(actions=actions))  # type: ignore[arg-type]
        desktop.answers["files.make_folder"] = "made ~/Documents/books"
        agent = Demonstrator(
            PromptSettings(action_format=format), Units.FRACTIONS, lambda size: size, lambda text: [1]
        )
        result = run_episode(agent, TaskEnvironment(desktop), task)
        assert result.calls == calls
        parsed = Answers(format, Units.FRACTIONS, desktop.size).parse(agent.turns[0].answer.text)
        assert (parsed == [call]) is bool(calls)
        listed = "files.make_folder(path: str" in str(agent.turns[0].prompt.messages)
        assert listed is bool(calls)


def test_the_list_of_functions_can_be_left_out() -> None:
    offer = FunctionOffer("both")
    for settings, listed in ((PromptSettings(), True), (PromptSettings(list_functions=False), False)):
        conversation = Conversation(settings, Units.FRACTIONS, "Make a folder.", offer)
        prompt = conversation.prompt(
            np.zeros((8, 8, 3), np.uint8), Observation(np.zeros((8, 8, 3), np.uint8), "", 0, 3, Point(0, 0))
        )
        assert ("files.make_folder(" in str(prompt.messages)) is listed
