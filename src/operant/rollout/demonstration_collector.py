"""Many demonstrations at once: jobs, desktops, files."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from operant.config.desktop import DesktopConfig
from operant.desktop.pool import DesktopPool
from operant.rollout.demonstrations import DaggerAgent, DemonstrationWriter
from operant.rollout.job_runner import JobList, JobRunner
from operant.rollout.lessons import LessonView
from operant.rollout.player import EpisodePlayer, Job, PlayedEpisode, PooledDesktops
from operant.tasks.task import Task
from operant.types import Action, Observation, Outcome

__all__ = ["CollectedDemonstrations", "collect_demonstrations"]


@dataclass
class CollectedDemonstrations:
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
    view: LessonView,
    *,
    workers: int = 3,
    learner: Callable[[Observation], Action] | None = None,
    beta: float = 0.0,
    config: DesktopConfig | None = None,
    on_progress: Callable[[CollectedDemonstrations], None] = lambda collected: None,
    stop: threading.Event | None = None,
) -> CollectedDemonstrations:
    """Play every task and keep the episodes that teach something.

    ``view`` is that of the learner that the episodes are for: its lessons are counted, and cached. Setting ``stop``
    ends the collection; what is being played then is not kept.
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
        collected.episodes += 1
        collected.successes += result.success
        collected.by_task.setdefault(played.job.task.id, []).append(result.success)
        on_progress(collected)

    jobs = JobList((Job(task, task.seed or 0) for task in tasks), on_end)
    with DesktopPool(workers + 1, config) as pool:
        player = EpisodePlayer(
            PooledDesktops[Job](pool),
            lambda job: DaggerAgent(view.labeler, learner, beta),
            make_recorder=lambda job, agent: DemonstrationWriter(directory, by_learner=learner is not None),
        )
        JobRunner(jobs, player, workers=workers, prefetch=1, stop=stop, name="demonstrate").run()
    return collected
