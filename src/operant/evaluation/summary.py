"""Numbers of a run: success rates with intervals, by difficulty, application and task.

Every rate divides by what was asked for, so an episode that broke, was cut short or never began can't make a
result look better. Infra errors are counted apart as well.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from operant.agents.base import Usage
from operant.errors import ResultsError
from operant.evaluation.evaluation_run import EvaluationRun
from operant.evaluation.plan import Asked
from operant.evaluation.statistics import wilson
from operant.rollout.episode import Episode
from operant.types import Difficulty, Outcome

__all__ = ["Line", "lines_of", "rates", "seeds_in_words", "summarise"]


@dataclass(frozen=True)
class Line:
    """One episode that was asked for, and what became of it."""

    asked: Asked
    episode: Episode | None
    damage: str = ""
    """What is wrong with its file, which is named; then there is no episode."""

    @property
    def state(self) -> str:
        """Its outcome, or why it has none: ``cut short``, ``damaged`` or ``missing``."""
        if self.outcome is not None:
            return self.outcome.value
        return "damaged" if self.damage else "cut short" if self.episode else "missing"

    @property
    def why(self) -> str:
        return self.episode.why if self.episode else self.damage

    @property
    def outcome(self) -> Outcome | None:
        return self.episode.outcome if self.episode else None

    @property
    def success(self) -> bool:
        return self.outcome is Outcome.SUCCESS


def lines_of(run: EvaluationRun, only: Iterable[Asked] | None = None) -> list[Line]:
    """What became of everything that was asked for, or of ``only`` some of it."""
    lines = []
    for asked in run.asked if only is None else only:
        try:
            lines.append(Line(asked, run.episode(asked)))
        except ResultsError as error:  # as good as missing, and so counted
            lines.append(Line(asked, None, error.message))
    return lines


def rates(lines: Sequence[Line]) -> dict[str, Any]:
    """``n, success, low, high, mean_steps, mean_turns, mean_calls, mean_gui_actions, infra_errors, usage``; rates and
    means are None where there is nothing to divide by."""
    n, successes = len(lines), sum(line.success for line in lines)
    low, high = wilson(successes, n)
    ended = [line.episode for line in lines if line.episode and line.outcome and line.outcome.is_experience]
    return {
        "n": n,
        "success": successes / n if n else None,
        "low": low if n else None,
        "high": high if n else None,
        **{f"mean_{name}": _mean(ended, name) for name in ("steps", "turns", "calls", "gui_actions")},
        "infra_errors": sum(line.outcome is Outcome.INFRA_ERROR for line in lines),
        "usage": None if (used := _usage(lines)) is None else asdict(used),
    }


def _mean(episodes: Sequence[Episode], name: str) -> float | None:
    """Of those that say it: older ones do not say everything."""
    found = [episode.header[name] for episode in episodes if name in episode.header]
    return sum(found) / len(found) if found else None


def _usage(lines: Sequence[Line]) -> Usage | None:
    """What the agent used, tries that were lost included; None if it did not count."""
    episodes = [line.episode for line in lines if line.episode]
    lost = (
        Usage.from_json(one["usage"])
        for episode in episodes
        for one in episode.header.get("failed_tries", ())
        if "usage" in one
    )
    return Usage.total([*(episode.usage for episode in episodes), *lost])


def summarise(run: EvaluationRun, lines: Sequence[Line]) -> dict[str, Any]:
    """The summary that ``operant eval --json`` prints."""
    counts = Counter(line.outcome.value if line.outcome else "missing" for line in lines)
    headers = [line.episode.header for line in lines if line.episode]
    return {
        "agent": run.settings.agent,
        "actions": run.settings.desktop.get("actions", "gui"),
        "overall": rates(lines),
        "by_difficulty": {
            level.value: rates([line for line in lines if line.asked.difficulty is level])
            for level in Difficulty
        },
        "by_app": _by(lines, lambda asked: asked.apps),
        "by_task": _by(lines, lambda asked: (asked.task,)),
        "by_novelty": {
            name: rates([line for line in lines if line.asked.unseen is unseen])
            for name, unseen in (("seen", False), ("unseen", True))
        },
        "outcomes": {name: counts[name] for name in (*(outcome.value for outcome in Outcome), "missing")},
        "ends": dict(Counter(header["end"] for header in headers if header.get("end")).most_common()),
        "failures": [_failure(line) for line in lines if not line.success],
        "damaged": [line.damage for line in lines if line.damage],
        "invalid_steps": sum(header.get("invalid_steps", 0) for header in headers),
        "calls": sum(header.get("calls", 0) for header in headers),
        "gui_actions": sum(header.get("gui_actions", 0) for header in headers),
        "seeds": sorted({line.asked.seed for line in lines if line.asked.seed is not None}),
        "splits": sorted({line.asked.split for line in lines if line.asked.split is not None}),
        "commit": _one_or_all(header.get("commit") for header in headers),
        "fingerprint": run.settings.fingerprint,
        "privileged": run.settings.privileged,
        "max_steps": run.settings.max_steps,
        "directory": str(run.directory),
    }


def _failure(line: Line) -> dict[str, Any]:
    return {
        "task": line.asked.task,
        "seed": line.asked.seed,
        "outcome": line.state,
        "why": line.why,
        "directory": line.asked.directory,
    }


def _by(lines: Sequence[Line], keys: Callable[[Asked], Iterable[str]]) -> dict[str, Any]:
    groups: dict[str, list[Line]] = {}
    for line in lines:
        for key in keys(line.asked):
            groups.setdefault(key, []).append(line)
    return {key: rates(groups[key]) for key in sorted(groups)}


def _one_or_all(values: Iterable[Any]) -> Any:
    """The value, or all of them if they differ: a run that was resumed after the source had changed."""
    found = sorted({value for value in values if value is not None})
    return found[0] if len(found) == 1 else found or None


def seeds_in_words(seeds: Sequence[int]) -> str:
    """``0-19``, or the first of them if some between are missing."""
    if len(seeds) > 2 and list(seeds) == list(range(seeds[0], seeds[-1] + 1)):
        return f"{seeds[0]}-{seeds[-1]}"
    return ", ".join(map(str, seeds[:8])) + (" …" if len(seeds) > 8 else "") or "none"
