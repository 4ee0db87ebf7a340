"""Decides whether a function is admitted: lint, types, honest tests, then three fresh desktops without a network."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Any

from operant.apps import App
from operant.building.candidate import Candidate, problems_of_tests
from operant.building.lint import lint
from operant.building.trial import run_trial
from operant.building.types_check import TypeChecker
from operant.calls.reading import read_type
from operant.errors import ConfigError

__all__ = ["AdmissionVerdict", "FunctionAdmission"]

DESKTOPS = 3


@dataclass(frozen=True, slots=True)
class AdmissionVerdict:
    """Admitted if there are no problems; then the evidence says what was checked."""

    problems: list[str]
    evidence: dict[str, Any] = field(default_factory=dict)


class FunctionAdmission:
    """Judges candidates of one application, the cheap checks first."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._types = TypeChecker()

    def __enter__(self) -> FunctionAdmission:
        return self

    def __exit__(self, *_: object) -> None:
        self._types.close()

    def judge(self, candidate: Candidate) -> AdmissionVerdict:
        function = candidate.declaration
        if found := lint(candidate.code, [self._app.command[0]]):
            return AdmissionVerdict([f"forbidden: {one}" for one in found])
        try:
            read_type(function.full_name, ast.parse(function.result, mode="eval").body)
        except ConfigError as error:
            return AdmissionVerdict([f"types: {error.message}"])
        if found := problems_of_tests(candidate):
            return AdmissionVerdict([f"tests: {one}" for one in found])
        if found := self._types.problems(candidate.code, function.name):
            return AdmissionVerdict([f"types: {one}" for one in found])
        desktops = []
        for number in range(1, DESKTOPS + 1):
            report = run_trial(candidate, self._app)
            if report.problems:
                return AdmissionVerdict([f"desktop {number}: {one}" for one in report.problems])
            desktops.append(report.runs)
        evidence = {
            "lint": "nothing forbidden",
            "types": self._types.how,
            "network": "none: the desktops had no network",
            "changes": "nothing but what the tests state: files, windows, programs, clipboard",
            "desktops": desktops,
        }
        return AdmissionVerdict([], evidence)
