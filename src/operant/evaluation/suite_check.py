"""Is a suite fit to learn from? Every oracle must solve its task, and an agent that does nothing must not.

Plays the oracle, the agent that only waits, the one that says done at once, and the random one on instances of
every template, and says which templates are wrong: unsolved, solved by nothing, of another difficulty than they
claim, or different from one instance to the next.
"""

from __future__ import annotations

import collections
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from operant.agents.registry import make_agent
from operant.config.desktop import DesktopConfig
from operant.desktop.pool import DesktopPool
from operant.envs.task_environment import TaskEnvironment
from operant.rollout.episode import EpisodeResult
from operant.rollout.job_runner import JobList, JobRunner
from operant.rollout.player import EpisodePlayer, Job, PlayedEpisode, PooledDesktops
from operant.tasks.oracle import check_oracles
from operant.types import ActionMode, Difficulty, Outcome

if TYPE_CHECKING:
    from operant.tasks.task import Task
    from operant.tasks.template import Template

__all__ = ["AGENTS", "Played", "check_suite", "summarise_check"]

#: Who plays, and how many steps each gets at most. Nothing changes for one who only waits, so few are enough.
AGENTS: dict[str, int | None] = {"oracle": None, "noop": 2, "done": 1, "random": 10}


@dataclass(frozen=True)
class Played:
    """One episode of the check."""

    task: Task
    agent: str
    result: EpisodeResult

    @property
    def success(self) -> bool:
        return self.result.outcome is Outcome.SUCCESS


@dataclass(eq=False)
class _CheckJob(Job):
    agent: str = field(kw_only=True)


def check_suite(
    templates: Sequence[Template],
    *,
    seeds: Sequence[int] = (0, 1, 2),
    splits: Sequence[str] = ("train", "heldout"),
    workers: int = 2,
    agents: Sequence[str] = tuple(AGENTS),
    config: DesktopConfig | None = None,
    on_progress: Callable[[Played], None] = lambda played: None,
) -> list[Played]:
    """Play them all. Seeds take turns with the splits, so that both are looked at."""
    jobs: list[_CheckJob] = []
    for agent in agents:
        for template in templates:
            for index, seed in enumerate(seeds):
                task = template.instance(seed, splits[index % len(splits)])
                cap = AGENTS[agent]
                shorter = task if cap is None else replace(task, max_steps=min(cap, task.max_steps))
                jobs.append(_CheckJob(shorter, task.seed or 0, agent=agent))
    config = config or DesktopConfig()
    check_oracles([job.task for job in jobs if job.agent == "oracle"], "play", config.actions)
    played: list[Played] = []

    def on_end(one: PlayedEpisode[_CheckJob]) -> None:
        played.append(Played(one.job.task, one.job.agent, one.result))
        on_progress(played[-1])

    with DesktopPool(workers + 1, config) as pool:
        player = EpisodePlayer(
            PooledDesktops[_CheckJob](pool, lambda desktop, _: TaskEnvironment(desktop, with_windows=False)),
            lambda job: make_agent(job.agent),
        )
        JobRunner(JobList(jobs, on_end), player, workers=workers, prefetch=1, name="check").run()
    return played


def summarise_check(
    templates: Sequence[Template], played: Sequence[Played], actions: ActionMode = "gui"
) -> dict[str, Any]:
    """The numbers that ``operant tasks check --json`` prints.

    How difficult a task is, is counted in actions of pointer and keyboard, so only their oracle is held to it.
    """
    by_agent: dict[str, list[Played]] = collections.defaultdict(list)
    for one in played:
        by_agent[one.agent].append(one)
    oracle = by_agent["oracle"]
    outcomes: dict[str, set[bool]] = collections.defaultdict(set)
    for one in oracle:
        outcomes[one.task.id].add(one.success)
    return {
        "templates": len(templates),
        "unseen": sum(template.unseen for template in templates),
        "by_difficulty": {
            level.value: sum(template.difficulty is level for template in templates) for level in Difficulty
        },
        "by_app": dict(
            sorted(collections.Counter(app for template in templates for app in template.apps).items())
        ),
        **{f"{name}_success": _rate(episodes) for name, episodes in by_agent.items()},
        "episodes": {name: len(episodes) for name, episodes in by_agent.items()},
        "flaky": sorted(task for task, seen in outcomes.items() if len(seen) > 1),
        "unsolved": sorted(task for task, seen in outcomes.items() if seen == {False}),
        "wrong_difficulty": sorted(
            {
                one.task.id
                for one in oracle
                if actions == "gui"
                and one.success
                and Difficulty.of_steps(one.result.active_steps) is not one.task.difficulty
            }
        ),
        "too_easy": sorted(
            {one.task.id for name in ("noop", "done") for one in by_agent[name] if one.success}
        ),
        "infra_errors": sum(one.result.outcome is Outcome.INFRA_ERROR for one in played),
        "oracle_steps_mean": _mean([one.result.active_steps for one in oracle]),
        "oracle_seconds_mean": _mean([one.result.total_s for one in oracle]),
        "failures": [
            {
                "task": one.task.id,
                "seed": one.task.seed,
                "split": one.task.split,
                "why": one.result.why,
                "steps": one.result.steps,
            }
            for one in oracle
            if not one.success
        ],
    }


def _rate(episodes: Sequence[Played]) -> float | None:
    return sum(one.success for one in episodes) / len(episodes) if episodes else None


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
