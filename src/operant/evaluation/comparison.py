"""Two results side by side: rates, their difference with an interval, and what became of the episodes of both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from operant.errors import ResultsError
from operant.evaluation.evaluation_run import EvaluationRun
from operant.evaluation.statistics import difference, sign_test
from operant.evaluation.summary import Line, rates
from operant.types import Difficulty

__all__ = ["ChangedEpisode", "Comparison", "ComparisonRow", "compare", "pair_runs"]


@dataclass(frozen=True, slots=True)
class ComparisonRow:
    """One group in both results. ``change`` is the second rate minus the first, with its 95 % interval."""

    group: str
    name: str
    first: tuple[int, int]
    """(successes, n)"""
    second: tuple[int, int]
    change: float
    low: float
    high: float
    means: tuple[dict[str, float | None], dict[str, float | None]] = ({}, {})
    """Mean ``steps``, ``calls`` and ``gui_actions`` of an episode, in the first and in the second."""

    @property
    def is_clear(self) -> bool:
        """The interval leaves no doubt which one is better."""
        return bool(self.first[1] and self.second[1]) and (self.low > 0 or self.high < 0)


@dataclass(frozen=True, slots=True)
class ChangedEpisode:
    """An episode that one of the two solved and the other did not."""

    task: str
    seed: int | None
    better: bool
    """The second solved it."""
    why: str
    """What the criteria found in the episode that is no success."""


@dataclass(frozen=True)
class Comparison:
    """All groups, and what became of the episodes that both were asked for."""

    rows: tuple[ComparisonRow, ...]
    changed: tuple[ChangedEpisode, ...]
    """Those that got worse first."""
    both: int
    only_first: int
    only_second: int
    neither: int
    sign_test: float
    """How likely chance alone makes the pairs so unequal."""

    @property
    def pairs(self) -> int:
        return self.both + self.only_first + self.only_second + self.neither


def pair_runs(
    first: Sequence[EvaluationRun], second: Sequence[EvaluationRun]
) -> list[tuple[EvaluationRun, EvaluationRun]]:
    """Runs to compare: those of the same agent, or the only ones that there are."""
    if len(first) == 1 and len(second) == 1:
        return [(first[0], second[0])]
    by_agent = {run.settings.agent: run for run in second}
    pairs = [(run, by_agent[run.settings.agent]) for run in first if run.settings.agent in by_agent]
    if not pairs:
        names = [", ".join(run.settings.agent for run in runs) for runs in (first, second)]
        raise ResultsError(
            f"there is no agent in both: {names[0]} and {names[1]}",
            hint="name the directory of one agent's results each to compare different agents",
        )
    return pairs


def compare(first: Sequence[Line], second: Sequence[Line]) -> Comparison:
    rows = []
    for group, name in _groups([*first, *second]):
        one, other = ([line for line in lines if _belongs(line, group, name)] for lines in (first, second))
        counts, means = (_count(one), _count(other)), (_means(one), _means(other))
        rows.append(ComparisonRow(group, name, *counts, *difference(*counts), means))
    theirs = {line.asked.directory: line for line in second}
    pairs = [(line, theirs[line.asked.directory]) for line in first if line.asked.directory in theirs]
    outcomes = Counter((one.success, other.success) for one, other in pairs)
    changed = [_changed(one, other) for one, other in pairs if one.success is not other.success]
    return Comparison(
        tuple(rows),
        tuple(sorted(changed, key=lambda one: (one.better, one.task, one.seed or 0))),
        outcomes[True, True],
        outcomes[True, False],
        outcomes[False, True],
        outcomes[False, False],
        sign_test(outcomes[False, True], outcomes[True, False]),
    )


def _changed(first: Line, second: Line) -> ChangedEpisode:
    failed = first if second.success else second
    return ChangedEpisode(first.asked.task, first.asked.seed, second.success, failed.why)


def _groups(lines: Sequence[Line]) -> Iterator[tuple[str, str]]:
    yield "overall", "overall"
    yield from (("difficulty", level.value) for level in Difficulty)
    yield from (("application", app) for app in sorted({app for line in lines for app in line.asked.apps}))
    yield from (("task", task) for task in sorted({line.asked.task for line in lines}))


def _belongs(line: Line, group: str, name: str) -> bool:
    if group == "difficulty":
        return line.asked.difficulty.value == name
    if group == "application":
        return name in line.asked.apps
    return group == "overall" or line.asked.task == name


def _means(lines: Sequence[Line]) -> dict[str, float | None]:
    found = rates(lines)
    return {name: found[f"mean_{name}"] for name in ("steps", "calls", "gui_actions")}


def _count(lines: Sequence[Line]) -> tuple[int, int]:
    return sum(line.success for line in lines), len(lines)
