"""How fast environments are: many desktops at once, everything included, and stable-baselines3's way.

The agent is ``random`` of ``operant.agents`` (it mostly clicks, and seldom says that it is done), the tasks
are the easy ones of a suite, the observation is 160x100. Both sides hold the same number of the same
environments and get the same kind of actions; warming up is not measured.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from operant.agents.base import TaskView
from operant.agents.random_agent import RandomAgent
from operant.desktop.protocol import Desktop
from operant.desktop.sandbox import SandboxDesktop
from operant.envs.desktop_env import DesktopEnv
from operant.envs.task_environment import TaskEnvironment
from operant.envs.vector import DesktopVectorEnv
from operant.errors import OperantError
from operant.tasks.oracle import next_action
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

OPTIONS: dict[str, Any] = {
    "difficulty": "EASY",
    "size": (160, 100),
    "action_mode": "canonical",
}
BROWSER = "chromium"
TURNS = 3
WARM_UP_S = 5.0
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
    suite: str = "core",
) -> dict[str, Any]:
    """Everything. Each way of stepping gets so many seconds, in turns, so that all meet the same machine."""
    result: dict[str, Any] = {"num_envs": num_envs, "suite": suite}
    with contextlib.ExitStack() as stack:
        progress(f"starting {num_envs} desktops and spares")
        ours = stack.enter_context(contextlib.closing(Ours(num_envs, spares, suite)))
        ways: dict[str, Callable[[float], int]] = {"": ours.as_they_come, "in_step_": ours.in_step}
        if sb3:
            progress(f"starting {num_envs} processes for SubprocVecEnv")
            ways["sb3_"] = stack.enter_context(contextlib.closing(Theirs(num_envs, suite))).step
        counts = dict.fromkeys(ways, 0)
        elapsed = dict.fromkeys(ways, 0.0)
        waited = dict.fromkeys(ways, 0.0)
        episodes = dict.fromkeys(ways, 0)
        for turn in range(TURNS):
            for name, way in ways.items():
                progress(f"turn {turn + 1} of {TURNS}: {name or 'as they come'}")
                # Episodes that were prepared while others had their turn would be a present: use them up.
                way(min(WARM_UP_S, seconds))
                stats = replace(ours.vector.stats)
                began = time.perf_counter()
                counts[name] += way(seconds / TURNS)
                elapsed[name] += time.perf_counter() - began
                waited[name] += ours.vector.stats.reset_wait_s - stats.reset_wait_s
                episodes[name] += ours.vector.stats.episodes - stats.episodes
        for name in ways:
            key = "sb3_steps_per_s" if name == "sb3_" else f"{name}env_steps_per_s"
            result[key] = counts[name] / elapsed[name]
            if name != "sb3_":
                result[f"{name}reset_share"] = waited[name] / (elapsed[name] * num_envs)
                result[f"{name}steps_per_episode"] = counts[name] / max(1, episodes[name])
        if sb3:
            result["sb3_vec_ratio"] = result["env_steps_per_s"] / result["sb3_steps_per_s"]
            result["sb3_in_step_ratio"] = result["in_step_env_steps_per_s"] / result["sb3_steps_per_s"]
        result |= {"spares": ours.vector.spares, "infra_errors": ours.vector.stats.infra_errors}
    return result | (measure_oracles(progress, suite) if oracles else {})


class Ours:
    """The vector environment, stepped by random agents."""

    def __init__(self, num_envs: int, spares: int | None, suite: str) -> None:
        self.vector = DesktopVectorEnv(num_envs, spares=spares, suite=suite, **OPTIONS)
        self.agents = RandomAgents(num_envs)
        self.all = range(num_envs)
        _, infos = self.vector.reset(seed=0)
        for index in self.all:
            self.agents.begin(index, infos["instruction"][index])

    def as_they_come(self, duration: float) -> int:
        """Every environment gets its next action as soon as it is back."""
        count, began = 0, time.perf_counter()
        self.vector.send(self.agents.act(self.all))
        while True:
            *_, infos, indices = self.vector.recv(1)
            self.agents.begin_new(infos, indices)
            count += len(indices)
            if time.perf_counter() - began >= duration:
                break
            self.vector.send(self.agents.act(indices), indices)
        *_, infos, indices = self.vector.recv()
        self.agents.begin_new(infos, indices)
        return count + len(indices)

    def in_step(self, duration: float) -> int:
        """All environments together."""
        count, began = 0, time.perf_counter()
        while time.perf_counter() - began < duration:
            infos = self.vector.step(self.agents.act(self.all))[4]
            self.agents.begin_new(infos, self.all)
            count += len(self.all)
        return count

    def close(self) -> None:
        self.vector.close()


class Theirs:
    """The same environments in stable-baselines3's SubprocVecEnv, each in a process of its own."""

    def __init__(self, num_envs: int, suite: str) -> None:
        try:
            from stable_baselines3.common.vec_env import SubprocVecEnv
        except ImportError as error:
            raise OperantError(
                "stable-baselines3 is not installed", hint="pip install stable-baselines3, or say --no-sb3"
            ) from error
        # A fork would copy this process's threads halfway; a fork server starts clean.
        self.vector = SubprocVecEnv(
            [partial(DesktopEnv, suite=suite, **OPTIONS)] * num_envs, start_method="forkserver"
        )
        self.agents = RandomAgents(num_envs)
        self.all = range(num_envs)
        self.vector.reset()
        for index in self.all:
            self.agents.begin(index, self.vector.reset_infos[index]["instruction"])

    def step(self, duration: float) -> int:
        count, began = 0, time.perf_counter()
        while time.perf_counter() - began < duration:
            dones = self.vector.step(self.agents.act(self.all))[2]  # type: ignore[arg-type]
            for index in self.all:
                if dones[index]:
                    self.agents.begin(index, self.vector.reset_infos[index]["instruction"])
            count += len(self.all)
        return count

    def close(self) -> None:
        self.vector.close()


def measure_oracles(progress: Progress, suite: str = "core") -> dict[str, Any]:
    """Reset, set up and solve every template that has an oracle once, one after another on one desktop."""
    templates = [template for template in load_suite(suite) if template.instance(0).oracle is not None]
    if not templates:
        return {"oracle_templates": 0}
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


def _solve(template: Template, desktop: Desktop) -> Outcome | None:
    task = template.instance(0)
    desktop.reset()
    environment = TaskEnvironment(desktop)
    observation = environment.begin(task)
    assert task.oracle is not None
    for _ in range(MOST_STEPS):
        transition = environment.step(next_action(task.oracle, desktop, observation.last_action))
        observation = transition.observation
        if transition.over:
            return transition.outcome
    return None
