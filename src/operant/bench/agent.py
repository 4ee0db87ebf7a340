"""How fast the hierarchical agent thinks and learns, beside an EfficientNet and beside stable-baselines3.

Both sides train with PPO on the same easy tasks with the same number of desktops, the same size of screen and
the same number of updates of the same rollout length; what is counted are environment steps per second,
everything included. Each gets its own turn on the machine.
"""

from __future__ import annotations

import contextlib
import statistics
import time
from collections.abc import Callable
from typing import Any

from operant.agents.hierarchical.config import EncoderConfig, HierarchicalConfig
from operant.agents.hierarchical.policy import HierarchicalPolicy
from operant.desktop.sandbox import SandboxDesktop
from operant.envs.desktop_env import DesktopEnv
from operant.envs.flat import FlatDesktop
from operant.envs.task_environment import TaskEnvironment
from operant.envs.vector import DesktopVectorEnv
from operant.errors import OperantError
from operant.learn.threads import use_threads
from operant.learn.trainer import PPOTrainer
from operant.tasks.suites import load_suite
from operant.types import Observation

__all__ = ["GOALS", "measure_agent"]

Progress = Callable[[str], None]

#: The goals on two shared cores: (bound, whether smaller is better).
GOALS: dict[str, tuple[float, bool]] = {
    "predict_p50_ms": (12.0, True),
    "train_fps": (150.0, False),
}
TASK = "core/editor-replace-word-v1"
SIZE = (160, 100)
EPOCHS = 4
MINIBATCH = 64


def measure_agent(
    progress: Progress,
    *,
    num_envs: int = 8,
    rollout: int = 256,
    updates: int = 3,
    predictions: int = 100,
    train: bool = True,
) -> dict[str, Any]:
    """Everything."""
    progress("looking at a desktop")
    observation = _observation()
    result: dict[str, Any] = {"num_envs": num_envs, "rollout_steps": rollout, "updates": updates}
    policy = HierarchicalPolicy().eval()
    result["parameters"] = policy.parameter_count
    use_threads(1)
    progress("predicting")
    result["predict_p50_ms"], result["predict_p95_ms"] = _predict_ms(policy, observation, predictions)
    pixels = HierarchicalPolicy(HierarchicalConfig(encoder=EncoderConfig(widgets=0))).eval()
    result["pixels_only_predict_p50_ms"], _ = _predict_ms(pixels, observation, predictions)
    wide = HierarchicalPolicy(HierarchicalConfig(encoder=EncoderConfig(vision="efficientnet_b0"))).eval()
    progress("predicting with EfficientNet-B0")
    result["efficientnet_b0_predict_p50_ms"], _ = _predict_ms(wide, observation, max(10, predictions // 5))
    result["efficientnet_b0_parameters"] = wide.parameter_count
    if train:
        use_threads(2)
        progress(f"training on {num_envs} desktops")
        result["train_fps"] = _train_fps(policy, num_envs, rollout, updates)
        progress(f"stable-baselines3 on {num_envs} desktops")
        result["sb3_train_fps"] = _sb3_train_fps(num_envs, rollout, updates)
        result["ratio_vs_sb3"] = result["train_fps"] / result["sb3_train_fps"]
    return result


def _observation() -> Observation:
    template = next(one for one in load_suite("core") if one.id == TASK)
    with SandboxDesktop() as desktop:
        return TaskEnvironment(desktop, with_tree=True).begin(template.instance(0))


def _predict_ms(policy: HierarchicalPolicy, observation: Observation, count: int) -> tuple[float, float]:
    """From a full-size frame (and its widgets) to an action, batch of one."""
    times = []
    for turn in range(count + 5):
        began = time.perf_counter()
        policy.act(observation)
        if turn >= 5:
            times.append((time.perf_counter() - began) * 1000)
    return statistics.median(times), sorted(times)[int(0.95 * (len(times) - 1))]


def _train_fps(policy: HierarchicalPolicy, num_envs: int, rollout: int, updates: int) -> float:
    env = DesktopVectorEnv(
        num_envs,
        suite="core",
        difficulty="EASY",
        observations=policy.perception,
        actions=policy.action_coder,
    )
    with contextlib.closing(env):
        trainer = PPOTrainer(
            policy, env, buffer_size=rollout, update_epochs=EPOCHS, minibatch_size=MINIBATCH, target_kl=None
        )
        trainer.train(total_timesteps=rollout)  # warms everything up
        began = time.perf_counter()
        trainer.train(total_timesteps=rollout * (1 + updates))
        return rollout * updates / (time.perf_counter() - began)


def _sb3_train_fps(num_envs: int, rollout: int, updates: int) -> float:
    try:
        from stable_baselines3 import PPO
        from stable_baselines3.common.vec_env import SubprocVecEnv, VecTransposeImage
    except ImportError as error:
        raise OperantError(
            "stable-baselines3 is not installed", hint="pip install stable-baselines3, or say --no-train"
        ) from error
    vector = VecTransposeImage(SubprocVecEnv([_make_env] * num_envs, start_method="forkserver"))
    with contextlib.closing(vector):
        model = PPO(
            "CnnPolicy",
            vector,
            n_steps=rollout // num_envs,
            batch_size=MINIBATCH,
            n_epochs=EPOCHS,
            device="cpu",
        )
        model.learn(rollout)
        began = time.perf_counter()
        model.learn(rollout * updates, reset_num_timesteps=False)
        return rollout * updates / (time.perf_counter() - began)


def _make_env() -> FlatDesktop:
    return FlatDesktop(DesktopEnv(suite="core", difficulty="EASY", size=SIZE), observe="image")
