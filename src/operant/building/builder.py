"""Builds functions of an application with a model: asks which are missing, has each written, tried and sent back.

Bounded in rounds, requests and cost. Knows no vendor: a model is anything that answers plain text.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from typing import Any, Protocol

from operant.agents.hosted.base import ModelReply
from operant.agents.usage import Usage
from operant.apps import App
from operant.building.admission import FunctionAdmission
from operant.building.candidate import Proposal, read_candidate, read_proposals
from operant.building.instructions import function_question, list_question, system_words
from operant.calls.admitted import store
from operant.calls.catalog import function_lines, offered_functions
from operant.errors import ConfigError, ModelServerError

__all__ = ["Bounds", "BuildReport", "BuiltFunction", "TextModel", "build"]

MOST_SENT_BACK = 4000  # characters of what was wrong


class TextModel(Protocol):
    """A model that answers plain text."""

    def converse(self, system: str, turns: Sequence[str]) -> tuple[ModelReply, Usage]: ...


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much a build may use."""

    rounds: int = 3
    """Replies for one function."""
    functions: int = 8
    cost: float | None = None
    """US dollars."""
    tokens: int | None = 500_000


@dataclass(frozen=True, slots=True)
class BuiltFunction:
    """What became of one function."""

    name: str
    admitted: bool
    rounds: int
    problems: list[str] = field(default_factory=list)
    """What was wrong with the last reply."""
    place: str = ""


@dataclass(frozen=True, slots=True)
class BuildReport:
    functions: list[BuiltFunction]
    usage: Usage
    stopped: str = ""
    """Why it ended early."""

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


class _Spent(Exception):
    """A bound is reached."""


class _Conversations:
    """Asks the model, and counts."""

    def __init__(self, model: TextModel, system: str, bounds: Bounds) -> None:
        self._model, self._system, self._bounds = model, system, bounds
        self.usage = Usage()

    def ask(self, turns: Sequence[str]) -> str:
        bounds = self._bounds
        if bounds.tokens is not None and self.usage.tokens >= bounds.tokens:
            raise _Spent(f"{self.usage.tokens} tokens were used, and {bounds.tokens} are allowed")
        if bounds.cost is not None and (self.usage.cost or 0.0) >= bounds.cost:
            raise _Spent(f"${self.usage.cost or 0:.4f} were spent, and ${bounds.cost:g} are allowed")
        reply, used = self._model.converse(self._system, turns)
        self.usage += used
        if reply.end:
            raise _Spent(f"the model's reply ended with: {reply.end}")
        return reply.text


def build(
    app: App,
    model: TextModel,
    tasks: Sequence[str],
    *,
    offer: str,
    bounds: Bounds,
    origin: dict[str, Any],
    on_progress: Callable[[str], None] = lambda line: None,
) -> BuildReport:
    """Have functions written for these tasks, and keep those that are admitted. ``offer`` is what the application has."""
    api = app.name.replace("-", "_")
    known = function_lines(offered_functions("both", app.wm_class))
    asking = _Conversations(model, system_words([app.command[0]]), bounds)
    built: list[BuiltFunction] = []
    with FunctionAdmission(app) as admission:
        try:
            listed = _proposals(asking, list_question(app.name, offer, known, tasks), bounds.rounds)
            for proposal in listed[: bounds.functions]:
                question = function_question(app.name, offer, known, proposal)
                built.append(_build_one(api, app, proposal, question, asking, admission, bounds, origin))
                done = built[-1]
                why = "" if done.admitted else f": {done.problems[0] if done.problems else 'no reply'}"
                on_progress(f"{api}.{done.name}: {'admitted' if done.admitted else 'not admitted'}{why}")
        except _Spent as spent:
            return BuildReport(built, asking.usage, str(spent))
    return BuildReport(built, asking.usage)


def _proposals(asking: _Conversations, question: str, rounds: int) -> list[Proposal]:
    turns = [question]
    for number in range(1, rounds + 1):
        reply = asking.ask(turns)
        try:
            return read_proposals(reply)
        except ConfigError as error:
            if number == rounds:
                raise ModelServerError(f"the model listed no functions: {error.message}") from error
            turns += [
                reply,
                f"This can't be read: {error.message}. Reply again in the form that was asked for.",
            ]
    raise AssertionError("at least one round is asked for")


def _build_one(
    api: str,
    app: App,
    proposal: Proposal,
    question: str,
    asking: _Conversations,
    admission: FunctionAdmission,
    bounds: Bounds,
    origin: dict[str, Any],
) -> BuiltFunction:
    turns = [question]
    problems: list[str] = []
    for number in range(1, bounds.rounds + 1):
        reply = asking.ask(turns)
        try:
            candidate = read_candidate(reply, api, proposal.name)
            verdict = admission.judge(candidate)
        except ConfigError as error:
            problems = [error.message]
        except RecursionError:
            problems = ["the code or its tests are nested too deeply"]
        else:
            problems = verdict.problems
            if not problems:
                provenance = {
                    **origin,
                    "built": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
                    "operant": version("operant"),
                    "rounds": number,
                    "conversation": [*turns[1:], reply],
                }
                tests = [test.model_dump(exclude_defaults=True) for test in candidate.tests]
                place = store(
                    api,
                    proposal.name,
                    candidate.code,
                    tests=tests,
                    evidence=verdict.evidence,
                    provenance=provenance,
                    wm_class=app.wm_class,
                )
                return BuiltFunction(proposal.name, True, number, place=str(place))
        told = "\n".join(problems)[:MOST_SENT_BACK]
        turns += [reply, f"It was not admitted:\n{told}\nReply again with both blocks, whole."]
    return BuiltFunction(proposal.name, False, bounds.rounds, problems)
