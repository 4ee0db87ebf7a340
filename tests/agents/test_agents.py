"""The agents that need no learning."""

from __future__ import annotations

import numpy as np
import pytest

from operant.actions.json_actions import from_json, to_json
from operant.agents.base import TaskView
from operant.agents.fixed import DoneAgent, FailAgent, NoopAgent
from operant.agents.oracle import OracleAgent
from operant.agents.random_agent import RandomAgent
from operant.errors import AgentError
from operant.testing import FAKE_TEMPLATES, FakeDesktop
from operant.types import Action, ActionKind, Observation, Point, Size

VIEW = TaskView("Write hello to the file", 10, Size(1280, 800), seed=7)
SEEN = Observation(np.zeros((800, 1280, 3), np.uint8), VIEW.instruction, 0, 10, Point(0.5, 0.5))


def actions(agent: RandomAgent, view: TaskView, count: int) -> list[Action]:
    agent.begin(view)
    return [agent.act(SEEN) for _ in range(count)]


def test_the_random_agent_repeats_itself_for_the_same_seed_only() -> None:
    agent = RandomAgent()
    first = actions(agent, VIEW, 50)
    assert actions(agent, VIEW, 50) == first
    assert actions(RandomAgent(), VIEW, 50) == first
    assert actions(agent, TaskView(VIEW.instruction, 10, VIEW.screen, seed=8), 50) != first


def test_the_random_agent_does_everything_and_all_of_it_is_valid() -> None:
    done = actions(RandomAgent(), VIEW, 2000)
    assert {action.kind for action in done} == {
        *(ActionKind.CLICK, ActionKind.KEY, ActionKind.TYPE, ActionKind.SCROLL, ActionKind.DRAG),
        *(ActionKind.WAIT, ActionKind.DONE),
    }
    assert all(from_json(to_json(action)) == action for action in done)
    assert {action.text for action in done if action.kind is ActionKind.TYPE} <= set(VIEW.instruction.split())


def test_the_random_agent_copes_with_an_empty_instruction() -> None:
    assert actions(RandomAgent(), TaskView("", 10, VIEW.screen), 100)


def test_the_fixed_agents_always_do_the_same() -> None:
    assert {NoopAgent().act(SEEN).kind for _ in range(3)} == {ActionKind.WAIT}
    assert DoneAgent().act(SEEN) == Action.done()
    assert FailAgent().act(SEEN).kind is ActionKind.FAIL


def test_the_oracle_asks_the_tasks_own() -> None:
    task = FAKE_TEMPLATES[0].instance(0)
    desktop = FakeDesktop()
    task.begin(desktop)  # type: ignore[arg-type]
    agent = OracleAgent()
    agent.attach(desktop, task)  # type: ignore[arg-type]
    assert agent.act(SEEN).kind is ActionKind.CLICK


def test_an_oracle_without_a_desktop_or_a_task_that_has_none_says_so() -> None:
    from dataclasses import replace

    with pytest.raises(AgentError, match="not attached"):
        OracleAgent().act(SEEN)
    with pytest.raises(AgentError, match="has no oracle"):
        OracleAgent().attach(FakeDesktop(), replace(FAKE_TEMPLATES[0].instance(0), oracle=None))  # type: ignore[arg-type]
