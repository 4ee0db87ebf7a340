"""Four independent parts on four desktops against the same parts in turn on one, with a model's latency in each turn.

Members are the parts' own oracles, and wait before each answer as long as a model would take. So this measures how much
of the waiting a team on several desktops does at the same time.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from operant.agents.base import PrivilegedAgent, TaskView
from operant.agents.team import TeamAgent, make_team
from operant.apps.moves import Goals
from operant.apps.view import View
from operant.config.desktop import DesktopConfig
from operant.config.team import TeamSettings
from operant.desktop.pool import DesktopPool
from operant.desktop.protocol import Desktop
from operant.desktop.sandbox import SandboxDesktop
from operant.errors import AgentError, ConfigError
from operant.rollout.episode import EpisodeResult
from operant.rollout.player import EpisodePlayer, Job, PooledDesktops
from operant.tasks.criteria import AllOf
from operant.tasks.setup import Launch, SetupStep
from operant.tasks.suites import load_suite, select
from operant.tasks.task import Task
from operant.types import Action, Observation

__all__ = ["GOALS", "PartOracle", "four_parts", "measure_desktops", "play_parts", "team_on"]

Progress = Callable[[str], None]

GOALS: dict[str, tuple[float, bool]] = {"speedup_on_four_desktops": (3.0, False)}
PARTS = 4
TEMPLATE = "core/chores-hand-out-lines-v1"


class PartOracle(PrivilegedAgent):
    """The oracle of whichever part its instruction names. ``latency_s`` passes before each answer."""

    def __init__(self, parts: Sequence[Task], latency_s: float) -> None:
        self._parts = parts
        self._latency_s = latency_s
        self._desktop: Desktop | None = None
        self._part: Task | None = None

    def attach(self, desktop: Desktop, task: Task) -> None:
        self._desktop = desktop

    def begin(self, task: TaskView) -> None:
        self._part = next((part for part in self._parts if part.instruction in task.instruction), None)

    def act(self, observation: Observation) -> Action:
        if self._desktop is None or self._part is None or self._part.oracle is None:
            raise AgentError("the instruction names no part that has an oracle")
        time.sleep(self._latency_s)
        return self._part.oracle.act(View(self._desktop, observation.last_action))


def four_parts(template: str = TEMPLATE) -> tuple[Task, list[Task]]:
    """A task of four instances of a template that share no file, and these instances."""
    (found,) = select(load_suite("core"), [template], "core")
    parts: list[Task] = []
    files: set[str] = set()
    for seed in itertools.count():
        part = found.instance(seed, "heldout")
        own = set(part.parameters.get("files", ()))
        if not own:
            raise ConfigError(f"{template} has no files that could be joined", hint=f"for example {TEMPLATE}")
        if not own & files:
            parts.append(part)
            files |= own
        if len(parts) == PARTS:
            break
    cells = iter(_cells())
    setup = [_placed(step, cells) for part in parts for step in part.setup]
    whole = Task(
        id="bench/four-parts-v1",
        instruction=" ".join(f"{number}. {part.instruction}" for number, part in enumerate(parts, 1)),
        difficulty=parts[0].difficulty,
        success=AllOf(of=tuple(part.success for part in parts)),
        setup=tuple(setup),
        max_steps=sum(part.max_steps for part in parts),
        apps=parts[0].apps,
        oracle=Goals([]),
    )
    return whole, parts


def _placed(step: SetupStep, cells: Iterator[tuple[int, int, int, int]]) -> SetupStep:
    """All windows are in sight on one desktop: parts that are done in turn have to find theirs."""
    return step.model_copy(update={"place": next(cells)}) if isinstance(step, Launch) else step


def _cells() -> list[tuple[int, int, int, int]]:
    """Four columns of three windows on a screen of 1280x800, with room for title bars."""
    return [(320 * column + 4, 266 * row + 28, 312, 228) for column in range(4) for row in range(3)]


def team_on(
    desktops: int,
    parts: Sequence[Task],
    latency_s: float,
    factory: Callable[[DesktopConfig], Desktop] = SandboxDesktop,
) -> TeamAgent:
    """An operator and a reviewer, on so many desktops at once."""
    settings: TeamSettings = TeamSettings.build(
        members={"operator": {"agent": "oracle"}, "reviewer": {"agent": "oracle"}},
        parts=[{"instruction": part.instruction} for part in parts],
        reviewer="reviewer",
        desktops=desktops,
    )

    def make() -> PartOracle:
        return PartOracle(parts, latency_s)

    return make_team(settings, {"operator": make, "reviewer": make}, factory)


def play_parts(pool: DesktopPool, desktops: int, latency_s: float) -> EpisodeResult:
    """One episode, with the start of the team's own desktops."""
    whole, parts = four_parts()
    player = EpisodePlayer(PooledDesktops[Job](pool), lambda job: team_on(desktops, parts, latency_s))
    return player.play_through(Job(whole)).result


def measure_desktops(progress: Progress, *, latency_s: float = 2.0, repeat: int = 1) -> dict[str, Any]:
    """Wall time of one desktop against four."""
    times: dict[int, list[float]] = {1: [], PARTS: []}
    results: list[EpisodeResult] = []
    with DesktopPool(1) as pool:
        for _ in range(repeat):
            for desktops, taken in times.items():
                progress(f"four parts on {desktops} desktop{'s' if desktops > 1 else ''}")
                result = play_parts(pool, desktops, latency_s)
                taken.append(result.total_s)
                results.append(result)
    one, four = (sorted(times[count])[repeat // 2] for count in (1, PARTS))
    return {
        "latency_s": latency_s,
        "repeat": repeat,
        "template": TEMPLATE,
        "outcomes": [one.outcome.value for one in results],
        "steps": [one.steps for one in results],
        "one_desktop_s": one,
        "four_desktops_s": four,
        "speedup_on_four_desktops": one / four,
        "all_times_s": {str(count): taken for count, taken in times.items()},
    }
