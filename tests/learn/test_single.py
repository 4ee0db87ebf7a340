"""What a trainer accepts as policy and environment, and what it says of everything else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium import spaces
from gymnasium.vector import AutoresetMode
from loguru import logger
from torch import nn

import operant.envs
from operant.agents.hierarchical.config import EncoderConfig, HierarchicalConfig, WorkerConfig
from operant.agents.hierarchical.policy import HierarchicalPolicy
from operant.config.desktop import DesktopConfig
from operant.envs import DesktopVectorEnv
from operant.errors import ConfigError
from operant.learn import PPOTrainer
from operant.learn.single import SingleEnvironment
from operant.testing import FAKE_TEMPLATES, FakeDesktop
from operant.testing.toys import ToyEnvironments, ToyPolicy

TINY = HierarchicalConfig(
    encoder=EncoderConfig(
        screen=(32, 20), widgets=8, history=2, instruction_tokens=8, reading_tokens=4, width=16, heads=2,
        text_layers=1, joint_layers=1, vocabulary=64,
    ),
    worker=WorkerConfig(crop=16, reach=4),
)  # fmt: skip
FAST = {"buffer_size": 12, "minibatch_size": 8, "update_epochs": 1}
FAKE: dict[str, Any] = {
    "tasks": FAKE_TEMPLATES,
    "factory": FakeDesktop.factory,
    "desktop": DesktopConfig(width=160, height=100),
}


class Toy(gymnasium.Env[Any, Any]):
    """One of ToyEnvironments, as any Gymnasium environment would be."""

    action_space = spaces.Dict({"type": spaces.Discrete(3)})
    observation_space = spaces.Dict({"task": spaces.Box(0, 1, (3,)), "clock": spaces.Box(0, 1, (1,))})

    def reset(self, *, seed: Any = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.task, self.steps = int(self.np_random.integers(3)), 0
        return self._look(), {}

    def step(self, action: Any) -> Any:
        self.steps += 1
        right = int(action["type"]) == self.task
        info = {"is_success": right, "episode_task": f"toy{self.task}", "episode_terms": {"clock": 0.5}}
        return self._look(), float(right), right, self.steps >= 4, info

    def _look(self) -> dict[str, Any]:
        clock = np.array([self.steps / 4], np.float32)
        return {"task": np.eye(3, dtype=np.float32)[self.task], "clock": clock}


@pytest.fixture
def policy() -> HierarchicalPolicy:
    torch.manual_seed(0)
    return HierarchicalPolicy(TINY)


@pytest.mark.learning
def test_a_policy_learns_on_one_environment() -> None:
    torch.manual_seed(7)
    trainer = PPOTrainer(ToyPolicy(), Toy(), buffer_size=64, minibatch_size=32, learning_rate=0.01)
    reports: list[Any] = []
    trainer.listeners.append(reports.append)
    result = trainer.train(total_timesteps=4000)
    assert result.success_rate > 0.9
    assert result.checkpoint is None
    assert set(reports[-1].tasks) == {"toy0", "toy1", "toy2"}
    assert reports[-1].ended[-1].terms == {"clock": 0.5}


def test_the_vector_of_one_speaks_as_gymnasiums_does() -> None:
    ours = SingleEnvironment(Toy())
    theirs = gymnasium.vector.SyncVectorEnv([Toy], autoreset_mode=AutoresetMode.SAME_STEP)
    first, same = ours.reset(seed=3)[0], theirs.reset(seed=3)[0]
    assert first.keys() == same.keys()
    assert all(np.array_equal(first[name], same[name]) for name in first)
    for step in range(12):
        kind = step % 3
        mine = ours.step([{"type": kind}])
        other = theirs.step({"type": np.array([kind])})
        assert all(np.array_equal(mine[0][name], other[0][name]) for name in mine[0])
        assert all(np.array_equal(part, same) for part, same in zip(mine[1:4], other[1:4], strict=True))
        assert mine[4].keys() == other[4].keys()


@pytest.mark.parametrize("saves", [True, False], ids=["saving", "nowhere"])
def test_a_desktop_made_by_gymnasium(policy: HierarchicalPolicy, tmp_path: Path, saves: bool) -> None:
    """It was made without a policy, and is asked to code as this one does."""
    env = gymnasium.make(operant.envs.ENV_ID, **FAKE)
    trainer = PPOTrainer(policy, env, save_dir=tmp_path if saves else None, **FAST)
    result = trainer.train(total_timesteps=24)
    env.close()
    assert result.step >= 24
    assert [path.name for path in tmp_path.iterdir()] == (["final_model.pt"] if saves else [])
    assert (result.checkpoint is not None) == saves


def test_a_vector_made_without_the_policy(policy: HierarchicalPolicy) -> None:
    env = DesktopVectorEnv(2, **FAKE)
    env.reset(seed=1)  # episodes that were begun in other terms are dropped
    result = PPOTrainer(policy, env, **FAST).train(total_timesteps=12)
    env.close()
    assert result.step >= 12


def test_an_environment_of_a_policy_that_then_took_over_other_settings(tmp_path: Path) -> None:
    policy = HierarchicalPolicy()
    env = gymnasium.make(
        operant.envs.ENV_ID, observations=policy.perception, actions=policy.action_coder, **FAKE
    )
    HierarchicalPolicy(TINY).save(tmp_path / "tiny.pt")
    policy.load(tmp_path / "tiny.pt")
    assert PPOTrainer(policy, env, **FAST).train(total_timesteps=12).step >= 12
    env.close()


def test_a_checkpoint_of_other_settings_comes_before_the_trainer(tmp_path: Path) -> None:
    policy = HierarchicalPolicy()
    env = DesktopVectorEnv(2, **FAKE)
    trainer = PPOTrainer(policy, env, **FAST)
    HierarchicalPolicy(TINY).save(tmp_path / "tiny.pt")
    policy.load(tmp_path / "tiny.pt")
    with pytest.raises(ConfigError, match="after its trainer was made"):
        trainer.train(total_timesteps=12)
    env.close()


def test_data_parallel_is_left_out_with_a_word(policy: HierarchicalPolicy) -> None:
    said: list[str] = []
    before = policy.fingerprint
    env = DesktopVectorEnv(2, **FAKE)
    sink = logger.add(said.append, level="WARNING", format="{message}")
    try:
        trainer = PPOTrainer(nn.DataParallel(policy), env, **FAST)
    finally:
        logger.remove(sink)
    trainer.train(total_timesteps=12)
    env.close()
    assert trainer.policy is policy
    assert policy.fingerprint != before
    assert any("DataParallel" in line and "torchrun" in line for line in said)


def test_what_is_no_environment_or_policy_is_told(policy: HierarchicalPolicy) -> None:
    with pytest.raises(ConfigError, match="NoneType is no environment"):
        PPOTrainer(ToyPolicy(), None)
    with pytest.raises(ConfigError, match="no TrainablePolicy"):
        PPOTrainer(nn.Linear(2, 2), ToyEnvironments(2))  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="no dictionary"):
        PPOTrainer(ToyPolicy(), gymnasium.make("CartPole-v1"))
    with pytest.raises(ConfigError, match="the next episode by NextStep"):
        PPOTrainer(ToyPolicy(), gymnasium.vector.SyncVectorEnv([Toy]))
    with pytest.raises(ConfigError, match="observations of this environment are not those of the policy"):
        PPOTrainer(policy, Toy())


def test_a_wrapper_with_a_space_of_its_own_is_not_spoken_past(policy: HierarchicalPolicy) -> None:
    env = gymnasium.make(operant.envs.ENV_ID, **FAKE)
    narrow = gymnasium.wrappers.FilterObservation(env, ["screen"])
    with pytest.raises(ConfigError, match="not those of the policy"):
        PPOTrainer(policy, narrow)
    assert env.observation_space != policy.perception.space
