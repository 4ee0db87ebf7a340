"""Hosted agents through every dialect: the task's oracle behind strict servers that speak the vendors' protocols.

Measures what the path costs and whether it loses anything: success, steps against the oracle's own, turns, bytes, and
the agent's own time beside the server's. The servers fail now and then as vendors do. How good a model is: not known.
"""

from __future__ import annotations

import collections
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from operant.agents.base import Agent
from operant.agents.hosted.agent import STILL_MS
from operant.agents.oracle import OracleAgent
from operant.bench.record import median, percentile, provenance, read_json, write_json
from operant.config.desktop import DesktopConfig
from operant.desktop.pool import DesktopPool
from operant.errors import ConfigError, TaskError
from operant.rollout.episode import EpisodeResult, Step
from operant.rollout.job_runner import JobList, JobRunner
from operant.rollout.loop import Limits
from operant.rollout.player import EpisodePlayer, Job, PlayedEpisode, PooledDesktops
from operant.tasks.suites import load_suite
from operant.tasks.task import Task
from operant.testing.vendors import FaultPlan, OracleBehindApi, Rehearsal, VendorServer
from operant.testing.vendors.faults import Fault
from operant.testing.vendors.lineup import LINEUP, PlayedDialect
from operant.types import Action, ActionMode, Difficulty, Observation, Outcome, Window

__all__ = ["GOALS", "choose_dialects", "choose_tasks", "measure_agents", "play_dialect", "rehearse"]

Progress = Callable[[str], None]

GOALS: dict[str, tuple[float, bool]] = {
    "success": (1.0, False),
    "unexplained_steps": (0.0, True),
    "client_overhead_ms_p50": (15.0, True),
}
SUITE = "core,launch"
#: What goes wrong on purpose: one request in twenty.
FAULT_SHARE = 0.05
KINDS: tuple[Fault, ...] = (
    *("rate_limit", "overloaded") * 3,
    *("server_error", "garbage", "cut") * 2,
    "stall",
)
TIMEOUT_S = 20.0  # of a turn: how long a stalled request is waited for
#: A dialect that lacks an action may need several in its place: a key for each letter of a text. Circles end before.
MORE_STEPS = 20
QUIET_TASKS = 3  # played one at a time, for the agent's own time
#: Dialects with a tool for each function, beside the vendor's computer tool where it has one.
CALLING = (
    "anthropic_toolset",
    "anthropic_20251124",
    "openai",
    "gemini",
    "openai_function_tools",
    "chat_function_tools",
)
#: What measurements must share to stand in one table.
SHARED = ("commit", "tasks", "seed", "workers", "faults", "screen", "actions")


@dataclass
class OracleRun:
    """What the oracle did by itself."""

    result: EpisodeResult
    rehearsal: Rehearsal


class _Rehearsing:
    """Keeps the actions of an episode and the windows before each of them."""

    def __init__(self) -> None:
        self.actions: list[Action] = []
        self.windows: list[Sequence[Window]] = []

    def begin(self, task: Task) -> None: ...

    def look(self, observation: Observation) -> None:
        self.windows.append(observation.windows)

    def step(self, step: Step, observation: Observation) -> None:
        if step.action is not None:
            self.actions.append(step.action)
            self.windows.append(observation.windows)

    def end(self, result: EpisodeResult) -> None: ...

    def abandon(self) -> None: ...


class _PatientOracle(OracleAgent):
    """The oracle, shown what hosted agents are shown."""

    still_ms = STILL_MS


def choose_tasks(
    per_difficulty: int,
    suite: str = SUITE,
    seed: int = 0,
    actions: ActionMode = "gui",
    ids: Sequence[str] = (),
) -> list[Task]:
    """The templates with these ids; without ids so many of each difficulty, spread evenly over the suite.

    Only templates that can be done with these actions are chosen.
    """
    every = [one for one in load_suite(suite) if one.instance(seed).oracle_for(actions) is not None]
    chosen = [one for one in every if one.id in ids]
    if unknown := set(ids) - {one.id for one in chosen}:
        raise ConfigError(
            f"{suite} has no task {', '.join(sorted(unknown))} with an oracle for {actions} actions",
            hint="`operant tasks list` names the tasks",
        )
    for difficulty in () if ids else Difficulty:
        found = [one for one in every if one.difficulty is difficulty]
        count = min(per_difficulty, len(found))
        chosen += [found[index * len(found) // count] for index in range(count)]
    return [replace(task := one.instance(seed), max_steps=task.max_steps * MORE_STEPS) for one in chosen]


def choose_dialects(names: Sequence[str]) -> list[PlayedDialect]:
    """Those of the line-up with these names, or all."""
    for name in names:
        if name not in LINEUP:
            raise ConfigError(f"there is no dialect {name!r} to play", hint=f"one of {', '.join(LINEUP)}")
    return [one for one in LINEUP.values() if not names or one.name in names]


def measure_agents(
    progress: Progress,
    *,
    per_difficulty: int = 10,
    suite: str = SUITE,
    dialects: Sequence[str] = (),
    desktop: DesktopConfig | None = None,
    workers: int = 8,
    faults: bool = True,
    seed: int = 0,
    task_ids: Sequence[str] = (),
    out: Path | None = None,
    resume: bool = False,
) -> dict[str, Any]:
    """Play the tasks in each dialect, and the oracle alone for comparison.

    ``out`` is written after each dialect; ``resume`` leaves out the dialects that it holds already.
    """
    desktop = desktop or DesktopConfig()
    chosen = choose_dialects(dialects or (CALLING if desktop.actions != "gui" else ()))
    tasks = choose_tasks(per_difficulty, suite, seed, desktop.actions, task_ids)
    about: dict[str, Any] = {
        **provenance(),
        "tasks": [task.id for task in tasks],
        "seed": seed,
        "workers": workers,
        "faults": {"share": FAULT_SHARE, "kinds": sorted(set(KINDS))} if faults else None,
        "screen": list(desktop.size),
        "actions": desktop.actions,
    }
    told = _measured(out, about) if resume else {}
    left = [one for one in chosen if one.name not in told]
    if left:
        with DesktopPool(workers, desktop) as pool, VendorServer() as server:
            progress("the oracle alone")
            oracle = rehearse(pool, tasks, workers)
            for number, one in enumerate(left, len(told) + 1):
                progress(f"{one.name} ({number} of {len(chosen)})")
                told[one.name] = play_dialect(
                    one, server, pool, tasks, oracle, workers=workers, faults=faults
                )
                if out is not None:
                    write_json(out, {**about, **_overall(told)})
    return {**about, **_overall(told)}


def _overall(told: dict[str, Any]) -> dict[str, Any]:
    return {
        "dialects": told,
        "success": min(one["success"] for one in told.values()),
        "unexplained_steps": sum(one["unexplained_steps"] for one in told.values()),
        "client_overhead_ms_p50": max(one["client_overhead_ms"]["p50"] for one in told.values()),
        "seconds": sum(one["seconds"] for one in told.values()),
    }


def _measured(out: Path | None, about: Mapping[str, Any]) -> dict[str, Any]:
    """The dialects that an earlier run of the same measurement has finished."""
    if out is None:
        raise ConfigError("there is no file to go on with", hint="--resume needs --out FILE")
    if not out.exists():
        return {}
    before = read_json(out)
    for name in SHARED:
        if before.get(name) != about[name]:
            raise ConfigError(
                f"{out} was measured with another {name}: {before.get(name)}, now {about[name]}"[:300],
                hint="measure into a new file, or without --resume",
            )
    measured: dict[str, Any] = before["dialects"]
    return measured


def rehearse(pool: DesktopPool, tasks: Sequence[Task], workers: int) -> dict[str, OracleRun]:
    """Each task by its oracle alone: what it takes, and what may be said at once."""
    runs: dict[str, OracleRun] = {}

    def end(played: PlayedEpisode[Job]) -> None:
        recorder, result = played.recorder, played.result
        if result.outcome is not Outcome.SUCCESS or not isinstance(recorder, _Rehearsing):
            raise TaskError(f"the oracle does not solve {result.task}: {result.outcome.value}, {result.why}")
        runs[result.task] = OracleRun(result, Rehearsal.of(recorder.actions, recorder.windows[:-1]))

    player = EpisodePlayer(
        PooledDesktops[Job](pool),
        lambda job: _PatientOracle(),
        make_recorder=lambda job, agent: _Rehearsing(),
    )
    JobRunner(JobList([Job(task) for task in tasks], end), player, workers=workers).run()
    return runs


@dataclass
class _Tally:
    """What was seen of a dialect, by several threads."""

    ends: list[PlayedEpisode[Job]] = field(default_factory=list)
    differences: dict[str, set[str]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    faults: collections.Counter[str] = field(default_factory=collections.Counter)
    client_s: list[float] = field(default_factory=list)
    sent: list[int] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, task: Task, agent: OracleBehindApi) -> None:
        conversation = agent.conversation
        with self.lock:
            self.differences.setdefault(task.id, set()).update(conversation.protocol.differences)
            self.problems += [problem.message for problem in conversation.problems]
            if conversation.faults is not None:
                self.faults.update(conversation.faults.given)
            self.client_s += [turn.client_s for turn in agent.turns if turn.client_s is not None]
            self.sent += [one.sent for turn in agent.turns for one in turn.exchanges if one.status == 200]


def play_dialect(
    dialect: PlayedDialect,
    server: VendorServer,
    pool: DesktopPool,
    tasks: Sequence[Task],
    oracle: Mapping[str, OracleRun],
    *,
    workers: int,
    faults: bool,
) -> dict[str, Any]:
    """One dialect: a few tasks alone for the agent's own time, then all of them at once with faults."""
    began = time.perf_counter()
    quiet_tasks = tasks[:: max(1, len(tasks) // QUIET_TASKS)][:QUIET_TASKS]
    quiet, _ = _play(dialect, server, pool, quiet_tasks, oracle, workers=1, faults=False)
    tally, seconds = _play(dialect, server, pool, tasks, oracle, workers=workers, faults=faults)
    results = [played.result for played in tally.ends]
    steps = {one.task: one.steps - oracle[one.task].result.steps for one in results}
    named = collections.Counter(name for found in tally.differences.values() for name in found)
    odd = {task: more for task, more in steps.items() if more and not tally.differences.get(task)}
    failed = {one.task: f"{one.outcome.value}: {one.why}"[:300] for one in results if not one.success}
    client = [1000 * one for one in quiet.client_s]
    return {
        "success": sum(one.success for one in results) / len(tasks),
        "episodes": len(results),
        "turns": sum(one.turns for one in results),
        "steps": sum(one.steps for one in results),
        "oracle_steps": sum(oracle[one.task].result.steps for one in results),
        "calls": sum(one.calls for one in results),
        "gui_actions": sum(one.gui_actions for one in results),
        "input_tokens": sum(one.usage.input_tokens for one in results if one.usage),
        "output_tokens": sum(one.usage.output_tokens for one in results if one.usage),
        "looks": sum(one.looks for one in results),
        "differences": dict(named.most_common()),
        "unexplained_steps": sum(abs(more) for more in odd.values()),
        "unexplained": odd,
        "failed": failed,
        "declined": dict(collections.Counter(tally.problems)),
        "faults": dict(tally.faults),
        "replayed": sum(len(played.job.failed_tries) for played in tally.ends),
        "client_overhead_ms": {"p50": median(client), "p95": percentile(client, 0.95), "turns": len(client)},
        "bytes_per_turn": sum(quiet.sent) / len(quiet.sent),
        "episodes_per_minute": 60 * len(results) / seconds,
        "seconds": time.perf_counter() - began,
    }


def _play(
    dialect: PlayedDialect,
    server: VendorServer,
    pool: DesktopPool,
    tasks: Sequence[Task],
    oracle: Mapping[str, OracleRun],
    *,
    workers: int,
    faults: bool,
) -> tuple[_Tally, float]:
    tally = _Tally()

    rehearsals = {task: run.rehearsal for task, run in oracle.items()}

    def make(job: Job) -> Agent:
        # Another seed for another try, so that it is not stalled at the same request again.
        plan = FaultPlan(f"{job.task.id} {len(job.failed_tries)}", FAULT_SHARE, KINDS) if faults else None
        conversation = server.open(dialect.serve(), plan)

        def done(agent: OracleBehindApi) -> None:
            tally.add(job.task, agent)
            server.shut(conversation)

        return dialect.agent(
            conversation, lambda task: rehearsals.get(task.id), on_close=done, timeout_s=TIMEOUT_S
        )

    player = EpisodePlayer(PooledDesktops[Job](pool), make, limits=Limits(act_s=2 * TIMEOUT_S))
    # The longest first, so that the workers end together.
    jobs = [Job(task) for task in sorted(tasks, key=lambda task: -oracle[task.id].result.steps)]
    began = time.perf_counter()
    JobRunner(JobList(jobs, tally.ends.append), player, workers=workers).run()
    return tally, time.perf_counter() - began
