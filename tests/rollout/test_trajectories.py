"""Trajectories are a view of episodes: the same turns that the agent kept while it played."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from operant.agents.base import Agent
from operant.agents.oracle import OracleAgent
from operant.agents.vlm.agent import VLMAgent
from operant.agents.vlm.backends.base import Backend, Weights
from operant.agents.vlm.demonstrator import Demonstrator
from operant.agents.vlm.families import Units
from operant.agents.vlm.prompt import Prompt
from operant.agents.vlm.trajectory import Generation, Turn
from operant.config.desktop import DesktopConfig
from operant.config.vlm import PromptSettings
from operant.envs.task_environment import TaskEnvironment
from operant.errors import ResultsError
from operant.rollout.episode import Episode
from operant.rollout.loop import run_episode
from operant.rollout.store import EpisodeWriter, read_episode
from operant.rollout.trajectories import turns_of
from operant.testing import FAKE_TEMPLATES, FakeDesktop
from operant.types import ActionMode, Size

SHOWN = Size(128, 80)
ANSWERS = (
    "pyautogui.click(500, 500)\npyautogui.write('ab')",
    "gibberish",
    "pyautogui.click(9000, 9000)",
    "",
    "pyautogui.press('a')",
    "DONE",
)


class Scripted(Backend):
    """Answers from a list, with log-probabilities that have many digits."""

    units = Units.THOUSANDTHS

    def __init__(self, answers: tuple[str, ...] = ANSWERS) -> None:
        super().__init__()
        self.answers = list(answers)

    def submit(
        self, prompt: Prompt, *, seed: int = 0, temperature: float | None = None
    ) -> Future[Generation]:
        future: Future[Generation] = Future()
        number = len(self.answers)
        log_probs = (-1 / 3 - number, -2e-17)
        future.set_result(Generation(self.answers.pop(0), (5, 6), log_probs, (3, 4), number % 2 == 0))
        return future

    def shown(self, screen: Size) -> Size:
        return SHOWN

    def load(self, weights: Weights) -> None:
        raise NotImplementedError


def play(agent: Agent, directory: Path, actions: ActionMode = "gui") -> Episode:
    task = replace(FAKE_TEMPLATES[0].instance(0), max_steps=12)
    desktop: Any = FakeDesktop(DesktopConfig(actions=actions))
    desktop.answers["files.read"] = "what it says"
    run_episode(
        agent, TaskEnvironment(desktop), task, EpisodeWriter(directory, {"agent": "vlm"}, pictures=False)
    )
    return read_episode(directory)


def check(found: list[Turn], wanted: list[Turn]) -> None:
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted, strict=True):
        assert one.answer == other.answer
        assert one.valid == other.valid
        assert one.prompt.messages == other.prompt.messages
        assert len(one.prompt.images) == len(other.prompt.images)
        for image, kept in zip(one.prompt.images, other.prompt.images, strict=True):
            np.testing.assert_array_equal(image, kept)


@pytest.mark.parametrize("history", [0, 2])
def test_turns_are_those_that_the_agent_kept(tmp_path: Path, history: int) -> None:
    settings = PromptSettings(action_format="pyautogui", history=history)
    agent = VLMAgent(Scripted(), settings)
    episode = play(agent, tmp_path)
    assert len(agent.turns) == len(ANSWERS) == len(episode.steps) - 1
    assert [turn.valid for turn in agent.turns].count(False) > 0
    check(turns_of(episode, settings, Units.THOUSANDTHS, lambda size: SHOWN), agent.turns)


def test_calls_and_what_they_answered_are_in_the_prompts_that_are_made_again(tmp_path: Path) -> None:
    call = '{"kind": "call", "function": "files.read", "kwargs": {"path": "a"}}'
    answers = (call, '{"kind": "wait"}', call.replace("path", "paht"), '{"kind": "done"}')
    settings = PromptSettings(history=1)
    agent = VLMAgent(Scripted(answers), settings)
    episode = play(agent, tmp_path, "both")
    assert (episode.header["calls"], episode.header["gui_actions"], episode.header["invalid_steps"]) == (
        2,
        0,
        1,
    )
    told = str(agent.turns[1].prompt.messages)
    assert "Your last call answered: what it says" in told
    assert "files.move(" in told
    assert "did you mean path?" in str(agent.turns[3].prompt.messages)
    check(turns_of(episode, settings, Units.THOUSANDTHS, lambda size: SHOWN), agent.turns)


def test_demonstrations_are_trajectories_too(tmp_path: Path) -> None:
    settings = PromptSettings(action_format="ui_tars")
    agent = Demonstrator(settings, Units.THOUSANDTHS, lambda size: SHOWN, lambda text: [1, 2])
    episode = play(agent, tmp_path)
    assert episode.outcome is not None
    check(turns_of(episode, settings, Units.THOUSANDTHS, lambda size: SHOWN), agent.turns)


def test_episodes_of_others_are_refused(tmp_path: Path) -> None:
    episode = play(OracleAgent(), tmp_path)
    with pytest.raises(ResultsError, match="token_ids") as caught:
        turns_of(episode, PromptSettings(), Units.THOUSANDTHS, lambda size: SHOWN)
    assert "agent vlm" in str(caught.value.hint)
