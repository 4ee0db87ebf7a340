"""Calls as steps of an episode: their results in what the agent sees, their errors, and who may call at all."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from operant.agents.base import Agent, Decision, TaskView
from operant.config.desktop import DesktopConfig
from operant.envs.task_environment import TaskEnvironment
from operant.rollout.loop import run_episode
from operant.rollout.store import EpisodeWriter, read_episode
from operant.tasks.loaders import load_tasks
from operant.testing import FAKE_TEMPLATES, FakeDesktop
from operant.types import Action, ActionKind, ActionMode, Observation, Point

READ = Action.call("files.read", {"path": "a.txt"})


class Caller(Agent):
    """Takes these turns, and keeps what it saw."""

    def __init__(self, *turns: tuple[Action, ...]) -> None:
        self._turns = list(turns)
        self.seen: list[Observation] = []
        self.view: TaskView | None = None

    def begin(self, task: TaskView) -> None:
        self.view = task

    def act(self, observation: Observation) -> Decision:
        self.seen.append(observation)
        return Decision(self._turns.pop(0) if self._turns else (Action.done(),))


def desktop_for(mode: ActionMode) -> FakeDesktop:
    desktop = FakeDesktop(DesktopConfig(actions=mode))
    desktop.answers["files.read"] = "what it says"
    return desktop


def test_the_result_of_a_call_is_in_the_next_observation_and_in_the_record(tmp_path: Path) -> None:
    agent = Caller(
        (READ, Action.wait()), (Action.call("files.reed"),), (Action.call("files.read", {"pat": 1}),)
    )
    task = replace(FAKE_TEMPLATES[0].instance(0), max_steps=10)
    writer = EpisodeWriter(tmp_path / "episode", {"agent": "test"})
    result = run_episode(agent, TaskEnvironment(desktop_for("both")), task, writer)
    _first, second, third, fourth = agent.seen
    assert [one.text for one in second.results] == ["what it says", ""]
    assert "did you mean files.read?" in third.results[0].error
    assert "did you mean path?" in fourth.results[0].error
    assert (result.steps, result.invalid_steps) == (5, 2)
    assert agent.view is not None
    assert agent.view.actions == "both"
    episode = read_episode(tmp_path / "episode")
    steps = list(episode.steps)
    assert steps[0].action == READ
    assert steps[0].info["result"] == "what it says"
    assert steps[2].invalid is not None


def test_the_environment_itself_shows_the_result() -> None:
    environment = TaskEnvironment(desktop_for("both"))
    environment.begin(FAKE_TEMPLATES[0].instance(0))
    transition = environment.step(READ)
    assert transition.observation.results[0].text == "what it says"
    assert transition.info == {"result": "what it says"}


@pytest.mark.parametrize(
    ("mode", "action", "said"),
    [
        ("gui", READ, "functions such as files.read can't be called"),
        ("gui", Action.click(Point(0.5, 0.5)), None),
        ("both", Action.click(Point(0.5, 0.5)), None),
        ("both", READ, None),
        ("api", READ, None),
        ("api", Action.wait(), None),
        ("api", Action.click(Point(0.5, 0.5)), "takes calls of functions only: no click"),
        ("api", Action.key("a"), "no key"),
        ("both", Action.call("files.trash", {"path": "x"}), "files.trash can't be called on a fake desktop"),
    ],
)
def test_what_is_allowed_is_what_the_desktop_says(mode: ActionMode, action: Action, said: str | None) -> None:
    environment = TaskEnvironment(desktop_for(mode))
    environment.begin(FAKE_TEMPLATES[0].instance(0))
    transition = environment.step(action)
    if said is None:
        assert "invalid" not in transition.info
    else:
        assert said in transition.info["invalid"]
        assert said in (transition.observation.error or "")
    assert transition.observation.step == 1


def test_a_task_may_be_for_pointer_and_keyboard_only(tmp_path: Path) -> None:
    file = tmp_path / "tasks.yaml"
    file.write_text(
        "- {id: one, instruction: Click., difficulty: EASY, gui_only: true, profile: bare,"
        " success: {file_exists: a.txt}}\n"
    )
    (task,) = load_tasks(file)
    assert task.gui_only
    environment = TaskEnvironment(desktop_for("both"))
    environment.begin(task)
    assert environment.actions == "gui"
    assert "this task takes pointer and keyboard only" in environment.step(READ).info["invalid"]
    agent = Caller((READ,))
    run_episode(agent, TaskEnvironment(desktop_for("both")), replace(task, max_steps=3))
    assert agent.view is not None
    assert agent.view.actions == "gui"


def test_a_call_is_made_by_name_and_arguments() -> None:
    assert Action.call("files.read", {"path": "a"}) == Action(
        ActionKind.CALL, function="files.read", kwargs=(("path", "a"),)
    )
