"""How fast environments are: many desktops at once with everything included, and against stable-baselines3's way.

The agent is ``random`` of ``operant.agents`` (it mostly clicks, and seldom says that it is done), the tasks are the easy
ones of the core suite, the observation is 160x100. Both sides hold the same number of the same environments and get
the same kind of actions; warming up is not measured.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from operant.agents.base import TaskView
from operant.agents.random_agent import RandomAgent
from operant.desktop.sandbox import SandboxDesktop
from operant.envs.desktop_env import DesktopEnv
from operant.envs.task_environment import TaskEnvironment
from operant.envs.vector import DesktopVectorEnv
from operant.errors import OperantError
from operant.tasks.oracle import View
from operant.tasks.suites import load_suite
from operant.tasks.template import Template
from operant.types import Action, Outcome, Size

__all__ = ["GOALS", "measure_env", "measure_oracles"]

Progress = Callable[[str], None]

#: The goals on two shared cores: (bound, whether smaller is better).
GOALS: dict[str, tuple[float, bool]] = {
    "env_steps_per_s": (150.0, False),
    "reset_share": (0.1, True),
    "oracle_seconds_per_task_without_browser": (2.0, True),
    "sb3_vec_ratio": (1.5, False),
}

OPTIONS: dict[str, Any] = {"suite": "core", "difficulty": "EASY", "size": (160, 100), "action_mode": "canonical"}
BROWSER = "chromium"
MOST_STEPS = 200  # of an oracle; the task's own cap comes first


class RandomAgents:
    """One random agent for each environment."""

    def __init__(self, count: int) -> None:
        self._agents = [RandomAgent() for _ in range(count)]
        self._episodes = 0

    def begin(self, index: int, instruction: str) -> None:
        self._episodes += 1
        self._agents[index].begin(TaskView(instruction, 15, Size(1280, 800), seed=self._episodes))

    def begin_new(self, infos: dict[str, Any], indices: Sequence[int]) -> None:
        """Those of these environments that have just moved on to another episode."""
        if "_final_obs" in infos:
            for index in indices:
                if infos["_final_obs"][index]:
                    self.begin(index, infos["instruction"][index])

    def act(self, indices: Sequence[int]) -> list[Action]:
        return [self._agents[index].act(None) for index in indices]  # type: ignore[arg-type]


def measure_env(
    progress: Progress,
    *,
    num_envs: int = 8,
    spares: int | None = None,
    seconds: float = 30.0,
    sb3: bool = True,
    oracles: bool = True,
) -> dict[str, Any]:
    """Everything at once."""
    result = measure_vector(progress, num_envs, spares, seconds)
    if sb3:
        result |= measure_sb3(progress, num_envs, seconds)
        if result["sb3_steps_per_s"]:
            result["sb3_vec_ratio"] = result["env_steps_per_s"] / result["sb3_steps_per_s"]
    return result | (measure_oracles(progress) if oracles else {})


def measure_vector(progress: Progress, num_envs: int, spares: int | None, seconds: float) -> dict[str, Any]:
    progress(f"starting {num_envs} desktops and spares")
    vector = DesktopVectorEnv(num_envs, spares=spares, **OPTIONS)
    try:
        agents = RandomAgents(num_envs)
        _, infos = vector.reset(seed=0)
        for index in range(num_envs):
            agents.begin(index, infos["instruction"][index])

        def together(duration: float) -> tuple[int, float]:
            """All environments in step."""
            count, began = 0, time.perf_counter()
            while time.perf_counter() - began < duration:
                infos = vector.step(agents.act(range(num_envs)))[4]
                agents.begin_new(infos, range(num_envs))
                count += num_envs
            return count, time.perf_counter() - began

        def as_they_come(duration: float) -> tuple[int, float]:
            """Every environment gets its next action as soon as it is back."""
            count, began = 0, time.perf_counter()
            vector.send(agents.act(range(num_envs)))
            while time.perf_counter() - began < duration:
                *_, infos, indices = vector.recv(1)
                agents.begin_new(infos, indices)
                vector.send(agents.act(indices), indices)
                count += len(indices)
            elapsed = time.perf_counter() - began
            *_, infos, indices = vector.recv()
            agents.begin_new(infos, indices)
            return count, elapsed

        progress("warming up")
        as_they_come(min(5.0, seconds))
        result: dict[str, Any] = {}
        for prefix, way in (("", as_they_come), ("in_step_", together)):
            progress(f"stepping {num_envs} desktops {'in step' if prefix else 'as they come'}")
            waited, episodes = vector.stats.reset_wait_s, vector.stats.episodes
            count, elapsed = way(seconds)
            waited, episodes = vector.stats.reset_wait_s - waited, vector.stats.episodes - episodes
            result[f"{prefix}env_steps_per_s"] = count / elapsed
            result[f"{prefix}reset_share"] = waited / (elapsed * num_envs)
            result[f"{prefix}steps_per_episode"] = count / max(1, episodes)
        extra = {"num_envs": num_envs, "spares": vector.spares, "infra_errors": vector.stats.infra_errors}
        return {**result, **extra}
    finally:
        vector.close()


def measure_sb3(progress: Progress, num_envs: int, seconds: float) -> dict[str, Any]:
    """The same environments in stable-baselines3's SubprocVecEnv, each in a process of its own."""
    try:
        from stable_baselines3.common.vec_env import SubprocVecEnv
    except ImportError:
        return {"sb3_steps_per_s": None, "sb3_vec_ratio": None, "sb3_note": "pip install 'operant[dev]'"}
    progress(f"starting {num_envs} processes for SubprocVecEnv")
    # A fork would copy this process's threads halfway; a fork server starts clean.
    vector = SubprocVecEnv([_make_env for _ in range(num_envs)], start_method="forkserver")
    try:
        agents = RandomAgents(num_envs)
        vector.reset()
        for index in range(num_envs):
            agents.begin(index, vector.reset_infos[index]["instruction"])

        def steps(duration: float) -> tuple[int, float]:
            count, began = 0, time.perf_counter()
            while time.perf_counter() - began < duration:
                _, _, dones, _ = vector.step(agents.act(range(num_envs)))  # type: ignore[arg-type]
                for index in range(num_envs):
                    if dones[index]:
                        agents.begin(index, vector.reset_infos[index]["instruction"])
                count += num_envs
            return count, time.perf_counter() - began

        progress("warming up SubprocVecEnv")
        steps(min(5.0, seconds))
        progress(f"stepping {num_envs} environments of SubprocVecEnv")
        count, elapsed = steps(seconds)
        return {"sb3_steps_per_s": count / elapsed}
    finally:
        vector.close()


def _make_env() -> DesktopEnv:
    return DesktopEnv(**OPTIONS)


def measure_oracles(progress: Progress, suite: str = "core") -> dict[str, Any]:
    """Reset, set up and solve every template once, one after another on one desktop."""
    templates = load_suite(suite)
    seconds: dict[str, float] = {}
    unsolved: list[str] = []
    with SandboxDesktop() as desktop:
        for number, template in enumerate(templates, 1):
            progress(f"oracles: {number}/{len(templates)} {template.id}")
            began = time.perf_counter()
            try:
                if _solve(template, desktop) is not Outcome.SUCCESS:
                    unsolved.append(template.id)
            except OperantError as error:
                unsolved.append(f"{template.id}: {error.message}")
            seconds[template.id] = time.perf_counter() - began
    others = [seconds[one.id] for one in templates if BROWSER not in one.apps]
    slowest = sorted(seconds.items(), key=lambda item: -item[1])[:5]
    return {
        "oracle_seconds_per_task": sum(seconds.values()) / len(seconds),
        "oracle_seconds_per_task_without_browser": sum(others) / len(others) if others else None,
        "oracle_templates": len(seconds),
        "oracle_unsolved": unsolved,
        "oracle_slowest": {name: round(value, 3) for name, value in slowest},
    }


def _solve(template: Template, desktop: SandboxDesktop) -> Outcome | None:
    task = template.instance(0)
    desktop.reset()
    environment = TaskEnvironment(desktop)
    observation = environment.begin(task)
    assert task.oracle is not None
    for _ in range(MOST_STEPS):
        transition = environment.step(task.oracle.act(View(desktop, observation.last_action)))
        observation = transition.observation
        if transition.over:
            return transition.outcome
    return None
