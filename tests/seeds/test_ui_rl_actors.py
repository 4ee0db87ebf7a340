"""UI-RL's actors (document 002), as its readers would write them: TaskRunner and MultiActorRunner.

Adapted in import paths, hosts and the model, which is a tiny one from a directory. The server is a real ``operant
desktop serve --protocol ui-rl`` on this machine, with real desktops and a real browser.
"""

from __future__ import annotations

import json
import os
import queue
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path

import httpx
import pytest
import torch

pytest.importorskip("fastapi", reason="the service is an extra")

from operant.actions.json_actions import to_json
from operant.agents.vlm import VLMWrapper
from operant.agents.vlm.backends.base import Backend, Weights
from operant.agents.vlm.families import Units
from operant.agents.vlm.prompt import Prompt
from operant.agents.vlm.trajectory import Generation, Trajectory
from operant.config.vlm import SamplingSettings
from operant.desktop.sandbox import SandboxDesktop
from operant.learn.vlm.ppo import PPO
from operant.learn.vlm.trainer import Trainer
from operant.tasks.suites import load_suite
from operant.testing.oracle_harness import play
from operant.testing.tiny_vlm import build_tiny_vlm
from operant.train.vlm.ui_rl_actors import MultiActorRunner, TaskRunner
from operant.types import Action, Outcome, Size

pytestmark = [pytest.mark.x11, pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(600)]
ROOT = Path(__file__).parents[2]
START_S = 180.0  # a crowded machine imports slowly
DESKTOPS = 2


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The server as people start it; it has to end by itself, with every desktop closed."""
    log = tmp_path_factory.mktemp("serve") / "log"
    command = [sys.executable, "-m", "operant", "desktop", "serve", "--protocol", "ui-rl"]
    command += ["--port", "0", "--desktops", str(DESKTOPS)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    environment.pop("OPERANT_TOKEN", None)
    with open(log, "wb") as said:
        server = subprocess.Popen(command, stderr=said, env=environment)
    try:
        deadline = time.monotonic() + START_S
        while not (found := re.search(r"at (http://[\d.:]+)", log.read_text())):
            assert server.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.05)
        yield found[1]
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(60)


@pytest.fixture(scope="module")
def vlm(tmp_path_factory: pytest.TempPathFactory) -> VLMWrapper:
    directory = build_tiny_vlm(tmp_path_factory.mktemp("models") / "tiny-qwen2-vl", "qwen2_vl")
    return VLMWrapper(
        model_name=str(directory),
        use_lora=True,
        sampling=SamplingSettings(max_new_tokens=8),
        max_pixels=6000,
    )


@pytest.fixture(autouse=True)
def _nothing_is_left(url: str) -> Iterator[None]:
    """Every session has ended when a test has."""
    yield
    assert httpx.get(f"{url}/status", trust_env=False).json() == {}


def test_task_runner(url: str, vlm: VLMWrapper) -> None:
    """002, "TaskRunner (Actor)": one episode in the UI environment becomes a trajectory, in the queue as well."""
    trajectory_queue: queue.Queue[Trajectory] = queue.Queue()

    runner = TaskRunner(
        ui_env_url=url,
        model=vlm,
        trajectory_queue=trajectory_queue,
        task_prompt="Complete the data entry form",
        session_type="simple_data_entry",
        action_format="json",
        max_steps_per_episode=3,
    )
    trajectory = runner.run_episode()
    print(f"Collected {len(trajectory)} steps with reward {trajectory.total_reward()}")

    assert len(trajectory) == 3
    assert trajectory.total_reward() == 0.0  # a model that was never trained
    assert trajectory.outcome is Outcome.TRUNCATED
    assert trajectory_queue.get_nowait() is trajectory
    turn = trajectory.turns[0]
    assert "Complete the data entry form" in str(turn.prompt.messages)
    assert len(turn.answer.token_ids) == len(turn.answer.log_probs) > 0
    assert turn.prompt.images[0].std() > 0  # a real screen


class Replay(Backend):
    """Answers with these actions, as a model that has learned the task would."""

    units = Units.FRACTIONS

    def __init__(self, actions: list[Action]) -> None:
        super().__init__()
        self.actions = iter(actions)

    def submit(
        self, prompt: Prompt, *, seed: int = 0, temperature: float | None = None
    ) -> Future[Generation]:
        answer: Future[Generation] = Future()
        answer.set_result(Generation(json.dumps(to_json(next(self.actions))), (1,), (-1.0,), (0,)))
        return answer

    def shown(self, screen: Size) -> Size:
        return Size(320, 200)

    def load(self, weights: Weights) -> None:
        raise NotImplementedError


def test_a_task_that_is_done_is_rewarded(url: str) -> None:
    """002, "TaskRunner (Actor)": the reward of a success, by what an oracle does on the same instance elsewhere."""
    (template,) = load_suite("data_entry")
    with SandboxDesktop() as desktop:
        oracle = template.instance(7).oracle
        assert oracle is not None
        ended, actions = play(template.instance(7), desktop, oracle.act)
        assert ended.outcome is Outcome.SUCCESS
    trajectory = TaskRunner(url, Replay(actions), seed=7).run_episode()
    assert trajectory.success
    assert trajectory.total_reward() == 1.0
    assert all(turn.valid for turn in trajectory.turns)


def test_multi_actor_runner(url: str, vlm: VLMWrapper) -> None:
    """002, "Multi-Actor Training": several actors fill one queue, and a trainer learns from it meanwhile."""
    trajectories: queue.Queue[Trajectory] = queue.Queue()

    runner = MultiActorRunner(
        num_actors=DESKTOPS,
        env_urls=[url],
        model=vlm,
        trajectory_queue=trajectories,
        max_steps_per_episode=2,
    )
    runner.start()
    try:
        trainer = Trainer(model=vlm, algorithm=PPO(), batch_size=8, learning_rate=1e-3)
        before = {name: value.detach().clone() for name, value in vlm.trainable().items()}
        for version in (1, 2):  # while the actors go on with the same model
            batch = [trajectories.get(timeout=120) for _ in range(2)]
            metrics = trainer.train_step([one.with_rewards([0.0, 1.0]) for one in batch])
            assert metrics["examples"] == 4
            assert trainer.version == version
    finally:
        runner.stop()
    assert any(not torch.equal(before[name], value) for name, value in vlm.trainable().items())
    assert runner.failure is None
    assert runner.stats.infra_errors == 0
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("operant-actor")]


def test_any_task_of_ours_is_a_session_type(url: str) -> None:
    """002, "session_type": a client that knows nothing of us plays a task of the core suite by plain HTTP."""
    with httpx.Client(base_url=url, timeout=60, trust_env=False) as http:
        made = http.post("/session", params={"type": "browser_fill_field", "n": 1})
        made.raise_for_status()
        (id,) = made.json()["session_ids"]
        try:
            assert http.get(f"/session/{id}").json()["type"] == "core/browser-fill-field-v1"
            shot = http.get(f"/session/{id}/screenshot")
            assert shot.headers["content-type"] == "image/png"
            moved = http.get(f"/session/{id}/act", params={"action_type": "left_click", "x": 640, "y": 400})
            assert moved.headers["content-type"] == "image/png"
            assert http.get(f"/session/{id}/progress").json()["progress"] == 0.0
        finally:
            http.delete(f"/session/{id}").raise_for_status()
