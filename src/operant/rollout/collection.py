"""Many demonstrations at once: jobs, desktops, files."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from operant.config.desktop import DesktopConfig
from operant.desktop.pool import DesktopPool
from operant.envs.task_environment import TaskEnvironment
from operant.rollout.crew import work_off
from operant.rollout.demonstrations import Apprentice, Viewpoint
from operant.rollout.loop import Stopped, run_episode
from operant.tasks.task import Task
from operant.types import Action, Observation, Outcome

__all__ = ["Collected", "collect_demonstrations"]

TRIES = 2


@dataclass
class Collected:
    """What came of it."""

    episodes: int = 0
    steps: int = 0
    successes: int = 0
    infra_errors: int = 0
    inexpressible: Counter[str] = field(default_factory=Counter)
    by_task: dict[str, list[bool]] = field(default_factory=dict)


def collect_demonstrations(
    tasks: Sequence[Task],
    directory: Path,
    viewpoint: Viewpoint,
    *,
    workers: int = 3,
    learner: Callable[[Observation], Action] | None = None,
    beta: float = 0.0,
    keep_failures: bool = False,
    config: DesktopConfig | None = None,
    tell: Callable[[Collected], None] = lambda collected: None,
    stop: threading.Event | None = None,
) -> Collected:
    """Play every task and write its lessons. Failures of an oracle teach nothing and are not kept.

    Whoever sets ``stop`` ends it; what is being played then is not kept either.
    """
    collected, lock = Collected(), threading.Lock()

    def play(pool: DesktopPool, job: tuple[Task, int]) -> tuple[Task, int] | None:
        task, tries = job
        apprentice = Apprentice(viewpoint, learner, beta)
        with pool.lease(timeout_s=120) as desktop:
            environment = TaskEnvironment(desktop, with_tree=True)
            try:
                result = run_episode(apprentice, environment, task, seed=task.seed or 0, stop=stop)
            except Stopped:
                return None
        recording, lost = apprentice.recording, result.outcome is Outcome.INFRA_ERROR
        recording.success = result.success
        if not lost and recording.lessons and (result.success or keep_failures):
            recording.write(directory)
        with lock:
            collected.infra_errors += lost
            collected.episodes += 1
            collected.steps += len(recording.lessons)
            collected.successes += result.success
            collected.inexpressible.update(recording.inexpressible)
            collected.by_task.setdefault(task.id, []).append(result.success)
            tell(collected)
        return (task, tries + 1) if lost and tries < TRIES else None

    work_off([(task, 0) for task in tasks], play, workers=workers, config=config, stop=stop)
    return collected
