"""One desktop for the tests of a suite, and its oracles on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from operant.agents.registry import make_agent
from operant.desktop.sandbox import SandboxDesktop
from operant.envs.task_environment import TaskEnvironment
from operant.rollout.episode import EpisodeResult
from operant.rollout.loop import run_episode
from operant.tasks.task import Task
from operant.types import ActionMode, Difficulty


@pytest.fixture(scope="module")
def desktop() -> Iterator[SandboxDesktop]:
    with SandboxDesktop() as desktop:
        yield desktop


@pytest.fixture
def solved(desktop: SandboxDesktop) -> Callable[..., EpisodeResult]:
    """Play a task's oracle; it must be needed, succeed, and take as many steps by hand as the difficulty says."""

    def play(task: Task, actions: ActionMode = "gui") -> EpisodeResult:
        desktop.reset()
        desktop.actions = actions
        environment = TaskEnvironment(desktop, with_windows=False)
        environment.begin(task)
        assert not environment.verify(), "the criteria hold before anything was done"
        result = run_episode(make_agent("oracle"), environment, task, prepared=True)
        told = f"{task.instruction}: {result.outcome.value}, {result.active_steps} active steps: {result.why}"
        assert result.success, told
        if actions == "gui":
            assert Difficulty.of_steps(result.active_steps) is task.difficulty, told
        return result

    return play
