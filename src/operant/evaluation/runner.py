"""Plays every episode that was asked for, several at a time, and leaves each of them on disk.

While an episode runs, the next ones are set up on spare desktops. An infra error is tried again after the others, twice,
and then stays one: it is neither a success nor a failure. After an interruption the same call plays what is missing.
Knows nothing of tables.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from operant.agents.base import Agent, PrivilegedAgent
from operant.config.desktop import DesktopConfig
from operant.desktop.pool import DesktopPool
from operant.desktop.protocol import Desktop
from operant.desktop.sandbox import SandboxDesktop
from operant.evaluation.evaluation_run import EvaluationRun, EvaluationSettings
from operant.evaluation.plan import Asked
from operant.rollout.budget import Budget, BudgetedJobs
from operant.rollout.episode import EpisodeResult
from operant.rollout.job_runner import JobRunner
from operant.rollout.loop import Limits
from operant.rollout.player import LEASE_S, EpisodePlayer, Job, PlayedEpisode, PooledDesktops
from operant.rollout.store import EpisodeWriter

if TYPE_CHECKING:
    from operant.tasks.task import Task

__all__ = ["desktops_at_once", "evaluate", "settings_of"]

#: The size has a place of its own; variables and proxies may hold passwords.
NOT_RECORDED = {"width", "height", "environment", "proxy", "no_proxy"}
LONGEST_EPISODE_S = 86_400.0
SANDBOX = "sandbox"


def settings_of(
    name: str,
    agent: Agent,
    *,
    max_steps: int | None,
    act_s: float,
    config: DesktopConfig | None = None,
    provider: str = SANDBOX,
) -> EvaluationSettings:
    """The settings that an evaluation of this agent runs under."""
    desktop = config or DesktopConfig()
    return EvaluationSettings(
        name,
        agent.fingerprint,
        agent.observation_type,
        isinstance(agent, PrivilegedAgent),
        max_steps,
        act_s,
        (desktop.width, desktop.height),
        _unusual(desktop) | ({} if provider == SANDBOX else {"provider": provider}),
    )


def _unusual(desktop: DesktopConfig) -> dict[str, Any]:
    """The settings that are not as usual; a profile counts as soon as it is chosen, since tasks have their own."""
    found = desktop.model_dump(mode="json", exclude_defaults=True, exclude=NOT_RECORDED)
    return found | ({"profile": desktop.profile} if desktop.chosen_profile else {})


def evaluate(
    run: EvaluationRun,
    tasks: Sequence[Task],
    make_agent: Callable[[], Agent],
    *,
    workers: int = 2,
    config: DesktopConfig | None = None,
    video: bool = False,
    on_progress: Callable[[Asked, EpisodeResult], None] = lambda asked, result: None,
    desktops: Callable[[DesktopConfig], Desktop] = SandboxDesktop,
    lease_s: float = LEASE_S,
    budget: Budget | None = None,
) -> None:
    """Play those of the tasks whose episodes are not there yet.

    ``on_progress`` is called for each that has ended, in a worker's thread. Ctrl-C stops at once; what was being played
    stays readable and is played again next time. When the budget is used up, no further episode begins.
    """
    jobs = [_EvaluationJob.of(task) for task in run.unfinished(tasks)]
    if not jobs:
        return
    workers = min(workers, len(jobs))
    at_once = desktops_at_once(workers, len(jobs), budget)

    def make_recorder(job: _EvaluationJob, agent: Agent) -> EpisodeWriter:
        failed = [
            {"why": one.why, "steps": one.steps, "seconds": one.total_s, **_used(one)}
            for one in job.failed_tries
        ]
        about = {**asdict(run.settings), "failed_tries": failed}
        return EpisodeWriter(run.episode_directory(job.asked), about, video=video)

    def on_end(played: PlayedEpisode[_EvaluationJob]) -> None:
        if played.error is not None and played.recorder is not None:  # it is on disk whatever happened
            played.recorder.begin(played.job.task)
            played.recorder.end(played.result)
        on_progress(played.job.asked, played.result)

    with DesktopPool(at_once, config, ttl_s=LONGEST_EPISODE_S, factory=desktops) as pool:
        player = EpisodePlayer(
            PooledDesktops[_EvaluationJob](pool, lease_s=max(lease_s, LEASE_S)),
            lambda job: make_agent(),
            keep_agents=True,
            make_recorder=make_recorder,
            limits=Limits(act_s=run.settings.act_s),
        )
        runner = JobRunner(
            BudgetedJobs(jobs, on_end, budget),
            player,
            workers=workers,
            prefetch=at_once - workers,
            name="eval",
        )
        runner.run()


def desktops_at_once(workers: int, episodes: int, budget: Budget | None = None) -> int:
    """How many desktops an evaluation uses: one for each worker, and some on which the next episodes are set up."""
    workers = min(workers, episodes)
    if budget is not None:
        return workers  # an episode that is prepared is played
    return workers + min((workers + 1) // 2, episodes - workers)


def _used(result: EpisodeResult) -> dict[str, Any]:
    return {} if result.usage is None else {"usage": asdict(result.usage)}


@dataclass(eq=False)
class _EvaluationJob(Job):
    """An episode that was asked for."""

    asked: Asked = field(kw_only=True)

    @classmethod
    def of(cls, task: Task) -> _EvaluationJob:
        asked = Asked.of(task)
        return cls(task, asked.draw_seed, asked=asked)
