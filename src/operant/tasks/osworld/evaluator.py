"""OSWorld's evaluators as a criterion: getters look at the desktop, metrics compare, and a conjunction combines.

A result that is missing, broken or too large scores 0. A gold file that its own metric can't read is a
``VerifierError``: then nothing is known of the agent.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from operant.errors import ApplicationError, OperantError, VerifierError
from operant.extras import missing_package
from operant.tasks.criteria.base import Criterion, Verdict, World
from operant.tasks.criteria.question import Refuted
from operant.tasks.osworld.cache import Cache
from operant.tasks.osworld.getters import GETTERS, Evidence
from operant.tasks.osworld.metrics import METRICS
from operant.tasks.osworld.task_file import TaskFile

__all__ = ["Evaluator", "Infeasible", "criterion_of"]

NEARLY_ONE = 1 - 1e-9


class Infeasible(Criterion):
    """Nothing on the desktop makes it done: only saying that it can't be."""

    def check(self, world: World) -> Verdict:
        return Verdict(False, "it can't be done; only saying so is a success")


class Evaluator(Criterion):
    """The metrics of a task, and how they combine."""

    task: str
    """The task."""
    cache: Path
    """Where its gold files are."""
    metrics: tuple[dict[str, Any], ...]
    """What each compares: metric, result, expected and options."""
    conj: str = "and"
    """``and``: nothing if one scores 0, else the mean. ``or``: the best."""

    def check(self, world: World) -> Verdict:
        scores: list[float] = []
        told: list[str] = []
        with tempfile.TemporaryDirectory(prefix="operant-osworld-") as scratch:
            for index, one in enumerate(self.metrics):
                place = Path(scratch, str(index))
                place.mkdir()
                evidence = Evidence(world.desktop, Cache(self.cache, self.task), place)
                score, why = _judge(one, evidence)
                scores.append(score)
                told.append(f"{one['metric']} {score:g}" + (f" ({why})" if why else ""))
                if (self.conj == "and" and score == 0) or (self.conj == "or" and score >= NEARLY_ONE):
                    break
        total = max(scores) if self.conj == "or" else _mean_unless_zero(scores)
        return Verdict(total >= NEARLY_ONE, "; ".join(told)[:1000], total)


def _mean_unless_zero(scores: list[float]) -> float:
    return 0.0 if 0 in scores else sum(scores) / len(scores)


def criterion_of(task: TaskFile, cache: Path) -> Criterion:
    """How a task is judged."""
    if not task.feasible:
        return Infeasible()
    metrics = tuple(
        {"metric": one.metric, "result": one.result, "expected": one.expected, "options": dict(one.options)}
        for one in task.evaluations
    )
    return Evaluator(task=task.id, cache=cache, metrics=metrics, conj=task.conj)


def _judge(one: Mapping[str, Any], evidence: Evidence) -> tuple[float, str]:
    """The score of a metric, and why, where there is something to say."""
    try:
        expected = None if one["expected"] is None else _get(one["expected"], evidence.beside("expected"))
        result = None if one["result"] is None else _get(one["result"], evidence)
    except Refuted as reason:
        return 0.0, str(reason)
    except ApplicationError as error:  # a program of the agent hangs, say
        return 0.0, error.message
    if one["result"] is not None and result is None:
        return 0.0, "there is no result"
    return _score(one, result, expected)


def _get(source: Mapping[str, Any], evidence: Evidence) -> Any:
    return GETTERS[source["type"]](source, evidence)


def _score(one: Mapping[str, Any], result: Any, expected: Any) -> tuple[float, str]:
    metric = METRICS[one["metric"]]
    try:
        score = float(metric(result, expected, one["options"]))
    except Refuted as reason:
        return 0.0, str(reason)
    except ModuleNotFoundError as error:
        raise missing_package(one["metric"], error, "osworld") or error from error
    except OperantError:
        raise
    except Exception as error:  # noqa: BLE001 - the agent made the file that was read
        _check_gold(one, expected, error)
        return 0.0, f"{type(error).__name__}: {error}"[:200]
    return min(1.0, max(0.0, score)), ""


def _check_gold(one: Mapping[str, Any], expected: Any, error: Exception) -> None:
    """A metric that fails on the gold file itself can judge nothing."""
    if not isinstance(expected, Path):
        return
    try:
        METRICS[one["metric"]](expected, expected, one["options"])
    except Refuted:
        pass
    except Exception as again:  # noqa: BLE001 - whatever a library says of a broken file
        raise VerifierError(
            f"{one['metric']} can't read the gold file {expected.name}: {type(again).__name__}: {again}"
        ) from error
