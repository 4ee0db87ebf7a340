"""The hierarchical agent's training guide: its Python snippets and sections of configuration, run as they are written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import gymnasium
import pytest
import torch
import yaml
from torch import nn

import operant.envs
from operant.agents.hierarchical.agent import DEFAULT
from operant.agents.hierarchical.policy import HierarchicalPolicy
from operant.envs import DesktopVectorEnv
from operant.learn import PPOTrainer
from operant.testing import FAKE_TEMPLATES, FakeDesktop
from operant.train.config import TrainConfig
from operant.train.run import train

torch.set_num_threads(1)

SMALL = {"buffer_size": 8, "minibatch_size": 8, "update_epochs": 1}
FAKE: dict[str, Any] = {"tasks": FAKE_TEMPLATES, "factory": FakeDesktop.factory}


@pytest.mark.x11
@pytest.mark.timeout(240)
def test_fine_tuning_from_checkpoint(tmp_path: Path) -> None:
    """003, "Fine-tuning from Checkpoint": load in place, then PPOTrainer(policy, env, learning_rate=1e-4).train."""
    pretrained = tmp_path / "pretrained.pt"
    pretrained.write_bytes(DEFAULT.read_bytes())
    env = gymnasium.make(operant.envs.ENV_ID, difficulty="EASY")

    policy = HierarchicalPolicy()
    untrained = policy.fingerprint
    policy.load(str(pretrained))
    loaded = policy.fingerprint

    trainer = PPOTrainer(policy, env, learning_rate=1e-4, **SMALL)
    result = trainer.train(total_timesteps=8)
    env.close()

    assert loaded == HierarchicalPolicy.from_checkpoint(pretrained).fingerprint
    assert len({untrained, loaded, policy.fingerprint}) == 3
    assert trainer.config.learning_rate == 1e-4
    assert result.step >= 8


def test_multi_gpu_training() -> None:
    """003, "Multi-GPU Training": nn.DataParallel(policy, device_ids=[0, 1]) trains, with a word about torchrun."""
    inner = HierarchicalPolicy()
    before = inner.fingerprint
    policy = nn.DataParallel(inner, device_ids=[0, 1] if torch.cuda.device_count() > 1 else None)

    env = DesktopVectorEnv(2, **FAKE)
    trainer = PPOTrainer(policy, env, **SMALL)
    trainer.train(total_timesteps=8)
    env.close()
    assert trainer.policy is inner
    assert inner.fingerprint != before


def test_custom_reward_shaping(tmp_path: Path) -> None:
    """003, "Custom Reward Shaping": +0.5 when an action took effect, and more when the pointer came nearer the target."""
    path = tmp_path / "config.yaml"
    path.write_text(
        """
        environment:
          reward_terms:
            - {use: action_effect, weight: 0.5}
            - {use: pointer_nearer, weight: 0.1}
          spares: 2
        training: {total_timesteps: 16, num_envs: 2, buffer_size: 16, minibatch_size: 8, update_epochs: 1}
        """,
        encoding="utf-8",
    )
    config = TrainConfig.load(
        path, flags={"run.save_dir": tmp_path / "c", "run.log_dir": tmp_path / "l"}, environ={}
    )
    assert train(config, tasks=FAKE_TEMPLATES, factory=FakeDesktop.factory).step >= 16
    told = json.loads((tmp_path / "l" / "progress.jsonl").read_text(encoding="utf-8").splitlines()[-1])
    assert {"success", "action_effect", "pointer_nearer"} == set(told["reward_terms"])
    assert told["reward_terms"]["action_effect"] >= 0.0


def test_load_checkpoint(tmp_path: Path) -> None:
    """003, "Load checkpoint": policy.load of what training saved on the way."""
    env = DesktopVectorEnv(2, **FAKE)
    trained = HierarchicalPolicy()
    PPOTrainer(trained, env, save_dir=tmp_path / "checkpoints", checkpoint_every=8, **SMALL).train(8)
    env.close()

    policy = HierarchicalPolicy()
    policy.load(str(tmp_path / "checkpoints" / "checkpoint_8.pt"))
    assert policy.fingerprint == trained.fingerprint


SECTIONS = {
    "003": """
training:
  learning_rate: 0.0003    # Adam learning rate
  clip_epsilon: 0.2        # PPO clipping parameter
  gamma: 0.99              # Discount factor
  gae_lambda: 0.95         # GAE lambda
  buffer_size: 2048        # Replay buffer size
  update_epochs: 4         # Epochs per update

curriculum:
  easy_threshold: 0.6
  medium_threshold: 0.5
  min_steps_per_stage: 50000
""",
    "000": """
training:
  learning_rate: 0.0003
  clip_epsilon: 0.2
  gamma: 0.99
  buffer_size: 2048

curriculum:
  easy_threshold: 0.6
  medium_threshold: 0.5
  min_steps_per_stage: 50000
""",
}


@pytest.mark.parametrize("document", sorted(SECTIONS))
def test_training_and_curriculum_sections(document: str, tmp_path: Path) -> None:
    """003, "Basic Parameters" and "Curriculum Learning"; 000, "Training Configuration": they load as written."""
    path = tmp_path / "config.yaml"
    path.write_text(SECTIONS[document], encoding="utf-8")
    config = TrainConfig.load(path, environ={})
    for section, values in yaml.safe_load(SECTIONS[document]).items():
        for name, value in values.items():
            assert getattr(getattr(config, section), name) == value
