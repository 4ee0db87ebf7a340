"""A team against a single agent at the same step budget, when the agent that acts fails, hangs or claims too much.

The member is the task's own oracle with one fault put into it; the reviewer is the oracle without one. So this measures
the coordinator (what it catches, what it costs), not how clever a model is as a reviewer.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

from operant.agents.base import Agent, Decision, PrivilegedAgent
from operant.agents.oracle import OracleAgent
from operant.agents.team import make_team
from operant.config.team import TeamSettings
from operant.desktop.pool import DesktopPool
from operant.desktop.protocol import Desktop
from operant.errors import ConfigError
from operant.rollout.episode import EpisodeResult
from operant.rollout.loop import Limits
from operant.rollout.player import EpisodePlayer, Job, PooledDesktops
from operant.tasks.suites import load_suite
from operant.tasks.task import Task
from operant.types import Action, Difficulty, Observation

__all__ = ["FAULTS", "GOALS", "Fault", "FaultyOracle", "measure_team", "play_with_fault"]

Progress = Callable[[str], None]

GOALS: dict[str, tuple[float, bool]] = {
    "team_success_without_fault": (1.0, False),
    "team_success_after_fault": (1.0, False),
    "team_false_success": (0.0, True),
    "slowest_end_of_hang_s": (60.0, True),
}
#: What the member does at one of its first turns.
FAULTS = ("none", "claims", "gives_up", "raises", "hangs")
LATEST = 8  # turn of the fault
TURN_S = 5.0  # a busy machine must not make an oracle look like one that hangs
ACT_S = 20.0


@dataclass
class Fault:
    """When and how often a member fails in an episode. An agent that replaces it shares the count."""

    kind: str
    turn: int
    left: int
    turns: int = 0
    released: threading.Event = field(default_factory=threading.Event)

    def due(self) -> bool:
        """Whether it happens now."""
        self.turns += 1
        if self.kind == "none" or self.left <= 0 or self.turns < self.turn:
            return False
        self.left -= 1
        self.turns = 0
        return True


class FaultyOracle(PrivilegedAgent):
    """The task's oracle with a fault."""

    def __init__(self, fault: Fault) -> None:
        self._fault = fault
        self._oracle = OracleAgent()

    def attach(self, desktop: Desktop, task: Task) -> None:
        self._oracle.attach(desktop, task)

    def act(self, observation: Observation) -> Action | Decision:
        if not self._fault.due():
            return self._oracle.act(observation)
        if self._fault.kind == "gives_up":
            return Action.fail("this is too hard")
        if self._fault.kind == "raises":
            raise RuntimeError("a fault was put in")
        if self._fault.kind == "hangs":
            self._fault.released.wait(10 * ACT_S)
        return Action.done()


def measure_team(progress: Progress, *, prefix: str = "core/chores-", seeds: int = 1) -> dict[str, Any]:
    """Play HARD tasks whose ids begin with ``prefix`` with each fault, alone and as a team."""
    templates = [one for one in load_suite("core") if one.id.startswith(prefix)]
    tasks = [
        one.instance(seed, "heldout")
        for one in templates
        if one.difficulty is Difficulty.HARD
        for seed in range(seeds)
    ]
    if not tasks:
        raise ConfigError(
            f"no HARD task of core begins with {prefix!r}", hint="operant tasks list --suite core"
        )
    by_fault: dict[str, Any] = {}
    with DesktopPool(2) as pool:
        for kind in FAULTS:
            alone, team = [], []
            for index, task in enumerate(tasks):
                progress(f"{kind}: {task.id}")
                alone.append(play_with_fault(pool, task, _fault(kind, index), in_team=False))
                team.append(play_with_fault(pool, task, _fault(kind, index), in_team=True))
            by_fault[kind] = {"single": _told(alone), "team": _told(team)}
        progress("a member that claims too much in every round")
        always = [_fault("claims", index, times=99) for index in range(len(tasks))]
        liars = [
            play_with_fault(pool, task, one, in_team=True) for task, one in zip(tasks, always, strict=True)
        ]
    faulty = [one["team"] for kind, one in by_fault.items() if kind != "none"]
    return {
        "tasks": [task.id for task in tasks],
        "seeds": list(range(seeds)),
        "split": "heldout",
        "max_steps": tasks[0].max_steps,
        "rounds": _settings().rounds,
        "by_fault": by_fault,
        "claims_in_every_round": _told(liars),
        "single_success_after_fault": _mean(
            [one["single"]["success"] for kind, one in by_fault.items() if kind != "none"]
        ),
        "team_success_without_fault": by_fault["none"]["team"]["success"],
        "team_success_after_fault": _mean([one["success"] for one in faulty]),
        "team_false_success": _told(liars)["success"],
        "extra_steps_without_fault": by_fault["none"]["team"]["steps"] - by_fault["none"]["single"]["steps"],
        "slowest_end_of_hang_s": by_fault["hangs"]["team"]["slowest_s"],
    }


def _settings() -> TeamSettings:
    member = {"agent": "oracle", "turn_s": TURN_S}
    made: TeamSettings = TeamSettings.build(
        members={"operator": member, "reviewer": member}, reviewer="reviewer", rounds=3
    )
    return made


def _fault(kind: str, index: int, times: int = 1) -> Fault:
    return Fault(kind, Random(f"{kind} {index}").randint(2, LATEST), times)


def play_with_fault(pool: DesktopPool, task: Task, fault: Fault, *, in_team: bool) -> EpisodeResult:
    """One episode of the faulty oracle, alone or as the operator of a team."""

    def make(job: Job) -> Agent:
        if not in_team:
            return FaultyOracle(fault)
        return make_team(_settings(), {"operator": lambda: FaultyOracle(fault), "reviewer": OracleAgent})

    player = EpisodePlayer(PooledDesktops[Job](pool), make, limits=Limits(act_s=ACT_S))
    try:
        return player.play_through(Job(task)).result
    finally:
        fault.released.set()


def _told(results: list[EpisodeResult]) -> dict[str, Any]:
    return {
        "success": _mean([float(one.success) for one in results]),
        "outcomes": [one.outcome.value for one in results],
        "steps": _mean([float(one.steps) for one in results]),
        "turns": _mean([float(one.turns) for one in results]),
        "slowest_s": max(one.total_s for one in results),
    }


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)
