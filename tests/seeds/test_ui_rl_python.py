"""UI-RL's Python (document 002), as its readers would write it: the model wrapper, the trainer and its algorithms.

Adapted in import paths and in the model, which is a tiny one from a directory. ``TaskRunner`` and
``MultiActorRunner`` are in test_ui_rl_actors.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from PIL import Image, ImageDraw

from operant.agents.vlm.backends.local import LocalBackend
from operant.agents.vlm.demonstrator import Demonstrator
from operant.agents.vlm.trajectory import Trajectory
from operant.agents.vlm.wrapper import VLMWrapper
from operant.config.vlm import PromptSettings, SamplingSettings
from operant.desktop.pool import DesktopPool
from operant.learn.vlm.ppo import PPO
from operant.learn.vlm.rejection_sampling import RejectionSampling
from operant.learn.vlm.trainer import Trainer
from operant.rollout.player import PooledDesktops
from operant.tasks.suites import load_suite
from operant.testing.tiny_vlm import build_tiny_vlm
from operant.train.vlm.rollouts import Rewards, RolloutJob, RolloutPlayer

SMALL = {"max_pixels": 6000}
PROMPT = PromptSettings(action_format="json", history=0)


@pytest.fixture(scope="module")
def model_name(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(build_tiny_vlm(tmp_path_factory.mktemp("models") / "tiny-qwen2-vl", "qwen2_vl"))


def drawn(word: str) -> Image.Image:
    picture = Image.new("RGB", (320, 200), "white")
    ImageDraw.Draw(picture).text((100, 90), word, fill="black")
    return picture


def test_vlm_wrapper(model_name: str) -> None:
    """002, "VLM Wrapper": a model with LoRA, asked about a screenshot, and its loss for training."""
    vlm = VLMWrapper(model_name=model_name, use_lora=True, lora_config={"r": 16, "lora_alpha": 32}, **SMALL)
    (adapters,) = vlm.model.peft_config.values()
    assert (adapters.r, adapters.lora_alpha) == (16, 32)

    # Inference
    screenshot = drawn("login")
    action_text = vlm.predict_action(screenshot, prompt="Click login")
    assert isinstance(action_text, str)
    assert action_text == vlm.predict_action(screenshot, prompt="Click login")

    # Training
    images, prompts = [drawn("login"), drawn("save")], ["Click login", "Click save"]
    labels = ['{"kind": "click", "point": [0.3, 0.5]}', '{"kind": "done"}']
    optimiser = torch.optim.AdamW(vlm.trainable().values(), lr=0.01)
    losses = []
    for _ in range(5):
        loss = vlm.forward(images, prompts, labels=labels)["loss"]
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0]
    assert all("lora_" in name for name in vlm.trainable())


def played(vlm: VLMWrapper, successes: int, attempts: int) -> list[Trajectory]:
    """Episodes on a real desktop: some that an oracle shows in the model's words, some that the model tries."""
    task = replace(load_suite("clicks")[0].instance(1), max_steps=2)
    with DesktopPool(1) as pool, LocalBackend(vlm) as backend:
        player = RolloutPlayer(PooledDesktops(pool), backend, prompt=PROMPT, rewards=Rewards(invalid=-0.1))
        shown = [
            player.run_episode(
                RolloutJob(task), agent=Demonstrator(PROMPT, vlm.family.units, vlm.shown, vlm.tokens)
            )
            for _ in range(successes)
        ]
        return [*shown, *(player.run_episode(RolloutJob(task)) for _ in range(attempts))]


def before_and_after(vlm: VLMWrapper, step: Callable[[], dict[str, float]]) -> tuple[bool, dict[str, float]]:
    """Whether a step changed what is trained, and what it said."""
    before = {name: value.detach().clone() for name, value in vlm.trainable().items()}
    metrics = step()
    return any(not torch.equal(before[name], value) for name, value in vlm.trainable().items()), metrics


@pytest.mark.x11
@pytest.mark.slow
def test_trainer_with_rejection_sampling(model_name: str) -> None:
    """002, "Trainer (Learner)" and "Rejection Sampling": only trajectories above the threshold are learned."""
    sampling = SamplingSettings(max_new_tokens=12)
    vlm = VLMWrapper(model_name=model_name, use_lora=True, sampling=sampling, **SMALL)
    trajectories = played(vlm, successes=2, attempts=2)
    for trajectory in trajectories:
        print(f"Collected {len(trajectory)} steps with reward {trajectory.total_reward()}")
    assert [trajectory.total_reward() > 0 for trajectory in trajectories] == [True, True, False, False]
    assert all(len(trajectory) for trajectory in trajectories)

    algorithm = RejectionSampling(reward_threshold=0.0)
    trainer = Trainer(model=vlm, algorithm=algorithm, batch_size=32, learning_rate=1e-5)
    changed, metrics = before_and_after(vlm, lambda: trainer.train_step(trajectories))
    assert changed
    assert metrics["examples"] == sum(len(trajectory) for trajectory in trajectories[:2])
    assert metrics["trajectories"] == 4
    assert metrics["success_rate"] == 0.5
    assert metrics["loss"] > 0

    changed, metrics = before_and_after(
        vlm, lambda: trainer.train_step([one for one in trajectories if one.total_reward() <= 0])
    )
    assert not changed
    assert metrics["examples"] == 0


@pytest.mark.x11
@pytest.mark.slow
def test_trainer_with_ppo(model_name: str, tmp_path: Path) -> None:
    """002, "PPO": the clipped objective with a critic and GAE, through the same trainer."""
    sampling = SamplingSettings(max_new_tokens=12)
    vlm = VLMWrapper(model_name=model_name, use_lora=True, sampling=sampling, **SMALL)
    trajectories = played(vlm, successes=0, attempts=3)
    # A random model does not succeed: one episode is called a success, so that there is something to prefer.
    trajectories[0] = trajectories[0].with_rewards([*[0.0] * (len(trajectories[0]) - 1), 1.0])

    algorithm = PPO(clip_epsilon=0.2, gamma=0.99, gae_lambda=0.95)
    trainer = Trainer(model=vlm, algorithm=algorithm, batch_size=32, learning_rate=1e-3)
    changed, metrics = before_and_after(vlm, lambda: trainer.train_step(trajectories))
    assert changed
    assert metrics["examples"] == sum(map(len, trajectories))
    assert metrics["value_loss"] > 0
    assert trainer.version == 1
    turn = trajectories[0].turns[-1]
    now = vlm.judge([turn.prompt], [turn.answer.token_ids]).log_probs.sum().item()
    assert now > sum(turn.answer.log_probs)  # what was rewarded became more likely
    again = VLMWrapper(model_name=str(vlm.save(tmp_path / "adapter")), **SMALL)
    assert again.judge([turn.prompt], [turn.answer.token_ids]).log_probs.sum().item() == pytest.approx(
        now, abs=1e-3
    )
