"""The agent on fake desktops: what it says is done, and what is no action is a recorded invalid step."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path

import pytest
import torch
import yaml

from operant.agents.base import TaskView
from operant.agents.registry import make_agent
from operant.agents.vlm.agent import VLMAgent
from operant.agents.vlm.backends.base import Backend, Weights
from operant.agents.vlm.backends.local import LocalBackend
from operant.agents.vlm.families import Units
from operant.agents.vlm.prompt import Prompt
from operant.agents.vlm.trajectory import Generation
from operant.agents.vlm.wrapper import VLMWrapper
from operant.config.vlm import PromptSettings, SamplingSettings
from operant.envs.task_environment import TaskEnvironment
from operant.errors import ConfigError, ModelError, ModelServerError
from operant.rollout.loop import run_episode
from operant.rollout.store import EpisodeWriter, read_episode
from operant.testing import FAKE_TEMPLATES, FakeDesktop
from operant.testing.model_server import ModelServer
from operant.types import ActionKind, Observation, Outcome, Point, Size

Tiny = Callable[[str], Path]


class Scripted(Backend):
    """Says what it was told to say."""

    units = Units.THOUSANDTHS

    def __init__(self, *answers: str) -> None:
        super().__init__()
        self.answers = list(answers)
        self.prompts: list[Prompt] = []

    def submit(
        self, prompt: Prompt, *, seed: int = 0, temperature: float | None = None
    ) -> Future[Generation]:
        self.prompts.append(prompt)
        future: Future[Generation] = Future()
        future.set_result(Generation(self.answers.pop(0), (5, 6), (-0.5, -0.25), (3, 3)))
        return future

    def shown(self, screen: Size) -> Size:
        return Size(128, 80)

    def load(self, weights: Weights) -> None:
        raise NotImplementedError


def play(agent: VLMAgent, directory: Path, max_steps: int | None = None):  # type: ignore[no-untyped-def]
    from dataclasses import replace

    task = FAKE_TEMPLATES[0].instance(0)
    task = replace(task, max_steps=max_steps or task.max_steps)
    writer = EpisodeWriter(directory, {"agent": "vlm"})
    result = run_episode(agent, TaskEnvironment(FakeDesktop()), task, writer, seed=4)  # type: ignore[arg-type]
    return result, read_episode(directory)


def test_answers_are_performed_and_malformed_ones_are_invalid_steps(tmp_path: Path) -> None:
    backend = Scripted("Thought: hm\nAction: click(start_box='(500,500)')", "gibberish", "Action: finished()")
    agent = VLMAgent(backend, PromptSettings(action_format="ui_tars", history=1))
    result, episode = play(agent, tmp_path)
    assert (result.outcome, result.steps, result.invalid_steps) == (Outcome.FAILURE, 3, 1)
    first, second, third = episode.steps
    assert first.action is not None
    assert first.action.point == Point(0.5, 0.5)
    assert second.action is None
    assert second.invalid
    assert second.response == "gibberish"
    assert third.action is not None
    assert third.action.kind is ActionKind.DONE
    assert first.record == {
        "token_ids": [5, 6],
        "log_probs": [-0.5, -0.25],
        "versions": [3, 3],
        "finished": True,
    }
    assert [turn.valid for turn in agent.turns] == [True, False, True]
    assert [len(prompt.images) for prompt in backend.prompts] == [1, 2, 2]
    assert backend.prompts[0].images[0].shape == (80, 128, 3)
    assert "refused" in str(backend.prompts[2].messages[-1])


def test_an_answer_of_several_actions_is_performed_step_by_step(tmp_path: Path) -> None:
    backend = Scripted("pyautogui.click(500, 500)\npyautogui.write('ab')", "DONE")
    agent = VLMAgent(backend, PromptSettings(action_format="pyautogui"))
    result, episode = play(agent, tmp_path)
    kinds = [step.action.kind.value for step in episode.steps if step.action]
    assert kinds == ["click", "type", "done"]
    assert episode.steps[1].record == {"continued": True}
    assert len(agent.turns) == 2
    assert result.steps == 3


def test_a_server_that_is_gone_is_the_machines_failure(tmp_path: Path) -> None:
    class Gone(Scripted):
        def submit(self, *_: object, **__: object) -> Future[Generation]:
            future: Future[Generation] = Future()
            future.set_exception(ModelServerError("can't be reached"))
            return future

    result, _ = play(VLMAgent(Gone()), tmp_path)
    assert result.outcome is Outcome.INFRA_ERROR


@pytest.mark.parametrize("format", ["json", "ui_tars"])
def test_a_random_model_plays_to_the_end(tiny: Tiny, tmp_path: Path, format: str) -> None:
    prompt = PromptSettings(action_format=format, system="", history=0)
    sampling = SamplingSettings(temperature=1.0, max_new_tokens=5, eval_temperature=1.0)
    vlm = VLMWrapper(tiny("qwen2_vl"), prompt=prompt, sampling=sampling, max_pixels=6000)
    agent = make_agent(f"vlm:{vlm.save(tmp_path / 'model')}")
    assert agent.fingerprint
    result, episode = play(agent, tmp_path / "episode")
    assert result.outcome.is_experience
    assert all(step.record["token_ids"] for step in episode.steps)
    again, other = play(agent, tmp_path / "again")
    assert [step.response for step in episode.steps] == [step.response for step in other.steps]
    agent.close()
    agent.close()
    assert again.steps == result.steps


def test_agents_of_one_path_share_one_model_until_the_last_is_closed(tiny: Tiny, tmp_path: Path) -> None:
    path = str(tiny("qwen2_vl"))
    first, second = make_agent(f"vlm:{path}"), make_agent(f"vlm:{path}")
    assert isinstance(first, VLMAgent)
    assert isinstance(second, VLMAgent)
    assert first.backend is second.backend
    first.close()
    seen = Observation(FakeDesktop().frame(), "Press Save.", 0, 4, Point(0, 0))
    second.begin(TaskView("Press Save.", 4, Size(1280, 800)))
    assert second.act(seen).record["token_ids"]
    second.close()
    with pytest.raises(ModelError, match="closed"):
        second.act(seen)


def test_the_fingerprint_follows_the_weights(tiny: Tiny, tmp_path: Path) -> None:
    vlm = VLMWrapper(tiny("llava"), use_lora=True)
    prints = []
    for round in range(2):
        agent = make_agent(f"vlm:{vlm.save(tmp_path / str(round))}")
        prints.append(agent.fingerprint)
        agent.close()
        with torch.no_grad():
            for parameter in vlm.trainable().values():
                parameter.add_(0.1)
    assert prints[0] != prints[1]


def test_a_servers_file_makes_an_agent(tiny: Tiny, tmp_path: Path) -> None:
    vlm = VLMWrapper(tiny("qwen2_vl"), sampling=SamplingSettings(max_new_tokens=4), max_pixels=6000)
    file = tmp_path / "server.yaml"
    with ModelServer(LocalBackend(vlm)) as server:
        settings = {"url": server.url, "model": "tiny", "family": "qwen2_vl", "max_pixels": 6000}
        file.write_text(yaml.safe_dump({"server": settings, "sampling": {"max_new_tokens": 4}}))
        agent = make_agent(f"vlm:{file}")
        result, _ = play(agent, tmp_path / "episode")
        assert result.outcome.is_experience
        assert server.asked == ["tiny"] * result.steps
        agent.close()


def test_what_is_no_model_says_so(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="needs a model"):
        make_agent("vlm:")
    with pytest.raises(ModelError, match="no model directory"):
        make_agent(f"vlm:{tmp_path / 'missing'}")
    (tmp_path / "bad.yaml").write_text("server: {url: 'http://x/v1', model: m, family: llava, modle: y}")
    with pytest.raises(ConfigError, match=r"server\.modle"):
        make_agent(f"vlm:{tmp_path / 'bad.yaml'}")
    (tmp_path / "operant.json").write_text(json.dumps([1]))
    with pytest.raises(ModelError, match=r"operant\.json holds"):
        make_agent(f"vlm:{tmp_path}")
