"""Are OSWorld's tasks fit to be scored here? Doing nothing must score 0, gold files 1, and FAIL 1 exactly where nothing
can be done. Each is played twice, so that what differs from one time to the next is named.
"""

from __future__ import annotations

import collections
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from operant.agents.registry import make_agent
from operant.config.desktop import DesktopConfig
from operant.desktop.pool import DesktopPool
from operant.rollout.episode import EpisodeResult
from operant.rollout.job_runner import JobList, JobRunner
from operant.rollout.player import EpisodePlayer, Job, PlayedEpisode, PooledDesktops
from operant.tasks.osworld.gold import solved_by_gold
from operant.tasks.osworld.support import missing_here
from operant.tasks.osworld.template import OsworldTemplate
from operant.types import Outcome

__all__ = ["TRIALS", "Audited", "audit_osworld", "summarise_audit"]

#: What is tried -> the agent that plays it.
TRIALS = {"nothing": "done", "fail": "fail", "gold": "done"}


@dataclass(frozen=True)
class Audited:
    """One episode of the audit."""

    template: OsworldTemplate
    trial: str
    result: EpisodeResult

    @property
    def wanted(self) -> float:
        """The score that it should have."""
        if self.trial == "gold":
            return 1.0
        return float(self.trial == "fail" and not self.template.file.feasible)

    @property
    def wrong(self) -> bool:
        return self.result.outcome.is_experience and self.result.reward != self.wanted


@dataclass(eq=False)
class _AuditJob(Job):
    template: OsworldTemplate = field(kw_only=True)
    trial: str = field(kw_only=True)


def audit_osworld(
    templates: Sequence[OsworldTemplate],
    *,
    trials: Sequence[str] = tuple(TRIALS),
    times: int = 2,
    workers: int = 2,
    config: DesktopConfig | None = None,
    on_progress: Callable[[Audited], None] = lambda audited: None,
) -> list[Audited]:
    """Play every trial of the tasks that can run here."""
    jobs: list[_AuditJob] = []
    for number in range(times):
        for template in templates:
            if missing_here(template.file, template.cache):
                continue
            task = replace(template.instance(0), max_steps=1)
            for trial in trials:
                played = solved_by_gold(task, template.file, template.cache) if trial == "gold" else task
                if played is not None:
                    jobs.append(_AuditJob(played, number, template=template, trial=trial))
    found: list[Audited] = []

    def on_end(one: PlayedEpisode[_AuditJob]) -> None:
        found.append(Audited(one.job.template, one.job.trial, one.result))
        on_progress(found[-1])

    if jobs:
        with DesktopPool(workers + 1, config or DesktopConfig()) as pool:
            player = EpisodePlayer(PooledDesktops[_AuditJob](pool), lambda job: make_agent(TRIALS[job.trial]))
            JobRunner(JobList(jobs, on_end), player, workers=workers, prefetch=1, name="audit").run()
    return found


def summarise_audit(
    templates: Sequence[OsworldTemplate], audited: Sequence[Audited], began: float
) -> dict[str, Any]:
    """The numbers that ``operant tasks check --suite osworld:PATH --json`` prints."""
    scores: dict[tuple[str, str], set[float]] = collections.defaultdict(set)
    for one in audited:
        if one.result.outcome.is_experience:
            scores[one.template.id, one.trial].add(one.result.reward)
    wrong: dict[str, dict[str, str]] = {trial: {} for trial in TRIALS}
    for one in audited:
        if one.wrong:
            wrong[one.trial][one.template.id] = f"{one.result.reward:g}: {one.result.why}"
    run = {one.template.id for one in audited}
    return {
        "tasks": len(templates),
        "tasks_run": len(run),
        "episodes": len(audited),
        "nothing_scores": wrong["nothing"],
        "fail_scores_wrong": wrong["fail"],
        "gold_below_one": wrong["gold"],
        "flaky": sorted({f"{task} ({trial})" for (task, trial), seen in scores.items() if len(seen) > 1}),
        "broken": {
            one.template.id: f"{one.trial}: {one.result.outcome.value}: {one.result.why}"
            for one in audited
            if one.result.outcome in (Outcome.INFRA_ERROR, Outcome.VERIFIER_ERROR)
        },
        "not_run": {
            template.id: "; ".join(missing_here(template.file, template.cache))
            for template in templates
            if template.id not in run
        },
        "minutes": (time.monotonic() - began) / 60,
    }
