"""Many demonstrations at once: jobs, desktops, files."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from operant.agents.base import Agent
from operant.agents.usage import Usage
from operant.config.desktop import DesktopConfig
from operant.desktop.pool import DesktopPool
from operant.desktop.protocol import Desktop
from operant.desktop.sandbox import SandboxDesktop
from operant.envs.task_environment import TaskEnvironment
from operant.rollout.budget import Budget, BudgetedJobs
from operant.rollout.demonstrations import DaggerAgent, DemonstrationWriter
from operant.rollout.job_runner import JobRunner
from operant.rollout.lessons import LessonView
from operant.rollout.player import EpisodePlayer, Job, PlayedEpisode, PooledDesktops
from operant.tasks.task import Task
from operant.types import Action, Observation, Outcome, Transition

__all__ = ["CollectedDemonstrations", "collect_demonstrations"]


@dataclass
class CollectedDemonstrations:
    """What came of it."""

    episodes: int = 0
    steps: int = 0
    successes: int = 0
    infra_errors: int = 0
    usage: Usage | None = None
    """What a paid agent used, tries that were lost included."""
    inexpressible: Counter[str] = field(default_factory=Counter)
    by_task: dict[str, list[bool]] = field(default_factory=dict)


def collect_demonstrations(
    tasks: Sequence[Task],
    directory: Path,
    view: LessonView,
    *,
    workers: int = 3,
    learner: Callable[[Observation], Action] | None = None,
    beta: float = 0.0,
    agent: tuple[str, Callable[[], Agent]] | None = None,
    budget: Budget | None = None,
    config: DesktopConfig | None = None,
    desktops: Callable[[DesktopConfig], Desktop] = SandboxDesktop,
    on_progress: Callable[[CollectedDemonstrations], None] = lambda collected: None,
    stop: threading.Event | None = None,
) -> CollectedDemonstrations:
    """Play every task and keep the episodes that teach something.

    ``view`` is that of the learner that the episodes are for: its lessons are counted, and cached. ``agent`` is the
    name and the factory of one that demonstrates in place of the oracle; only its successes are kept, and no further
    episode begins when the ``budget`` is used up. Setting ``stop`` ends the collection; what is being played then is not
    kept.
    """
    collected = CollectedDemonstrations()

    def on_end(played: PlayedEpisode[Job]) -> None:
        assert isinstance(played.recorder, DemonstrationWriter)
        result, kept = played.result, played.recorder.kept
        if kept is not None:
            lessons = view.read(kept)
            collected.steps += len(lessons)
            collected.inexpressible.update(lessons.inexpressible)
        lost = result.outcome is Outcome.INFRA_ERROR
        collected.infra_errors += len(played.job.failed_tries) + lost
        collected.usage = Usage.total(
            [collected.usage, *(one.usage for one in played.job.failed_tries), result.usage]
        )
        collected.episodes += 1
        collected.successes += result.success
        collected.by_task.setdefault(played.job.task.id, []).append(result.success)
        on_progress(collected)

    def demonstrator() -> Agent:
        return DaggerAgent(view.labeler, learner, beta) if agent is None else agent[1]()

    prefetch = 0 if budget is not None else 1  # an episode that is prepared is played
    jobs = BudgetedJobs((Job(task, task.seed or 0) for task in tasks), on_end, budget)
    with DesktopPool(workers + prefetch, config, factory=desktops) as pool:
        player = EpisodePlayer(
            PooledDesktops[Job](pool, _whole_observations),
            lambda job: demonstrator(),
            keep_agents=agent is not None,
            make_recorder=lambda job, _: DemonstrationWriter(
                directory, by_learner=learner is not None, agent=agent and agent[0]
            ),
        )
        JobRunner(jobs, player, workers=workers, prefetch=prefetch, stop=stop, name="demonstrate").run()
    return collected


class _WholeTurns(TaskEnvironment):
    """Between two actions of a turn everything is observed: each of them is a lesson of its own."""

    def step(self, action: Action, *, more: bool = False) -> Transition:
        return super().step(action)

    def look(self, *, more: bool = False) -> Observation:
        return super().look()


def _whole_observations(desktop: Desktop, agent: Agent) -> TaskEnvironment:
    """Learners read widgets, whether the demonstrator does or not."""
    return _WholeTurns(desktop, with_tree=True, still_ms=agent.still_ms)
