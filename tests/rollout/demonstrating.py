"""Plays demonstrations on the fake desktop."""

from __future__ import annotations

from pathlib import Path

from operant.envs.task_environment import TaskEnvironment
from operant.rollout.demonstrations import DaggerAgent, DemonstrationWriter
from operant.rollout.loop import run_episode
from operant.tasks.task import Task
from operant.testing import FakeDesktop
from operant.testing.fake_tasks import PressInOrder


def demonstrate(root: Path, agent: DaggerAgent, task: Task | int = 1) -> Path:
    """One episode that is kept; a number is the seed of an instance."""
    task = PressInOrder().instance(task) if isinstance(task, int) else task
    writer = DemonstrationWriter(root, by_learner=agent.learner is not None)
    with FakeDesktop() as desktop:
        environment = TaskEnvironment(desktop, with_tree=True)  # type: ignore[arg-type]
        run_episode(agent, environment, task, writer, seed=task.seed or 0)
    assert writer.kept is not None
    return writer.kept
