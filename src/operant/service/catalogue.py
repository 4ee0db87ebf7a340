"""The tasks that there are, by id: those of the suites, and their instances by seed.

Clients may name installed suites and what the server was started with, and nothing else: ``module:TEMPLATES`` would import
code, and a file name would read files.
"""

from __future__ import annotations

import difflib
import functools
from collections.abc import Sequence
from dataclasses import replace

from loguru import logger

from operant.errors import OperantError, TaskError, UnknownTask
from operant.tasks.draw import SPLITS
from operant.tasks.suites import load_suite, merge, suite_names, suite_parts, unknown_suite
from operant.tasks.task import Task
from operant.tasks.template import Template

__all__ = ["Catalogue"]


class Catalogue:
    """Templates of the installed suites and of ``suite``, which the server was started with; or ``templates`` alone."""

    def __init__(self, suite: str | None = None, *, templates: Sequence[Template] | None = None) -> None:
        self._given = templates
        self._parts = [] if suite is None else suite_parts(suite)
        self._own = (
            [] if suite is None else load_suite(suite)
        )  # now: mistakes are told before anything starts

    @functools.cached_property
    def templates(self) -> dict[str, Template]:
        if self._given is not None:
            return {template.id: template for template in self._given}
        found = {template.id: template for template in self._own}
        for name in suite_names():
            if name in self._parts:
                continue
            try:
                found = {
                    template.id: template
                    for template in merge([("", [*found.values()]), (name, load_suite(name))])
                }
            except OperantError as error:
                logger.warning("the suite {} is left out: {}", name, error)
        return found

    def suites(self) -> list[str]:
        """Names that a client may give: installed suites, and what the server was started with."""
        return list(dict.fromkeys([*suite_names(), *self._parts]))

    def offered(self, suite: str) -> str:
        """A suite that a client may name; an error if it is neither installed nor one that the server was started with."""
        known = self.suites()
        parts = suite_parts(suite)
        for part in parts:
            if part not in known:
                raise unknown_suite(part, known)
        return ",".join(parts)

    def of_suite(self, suite: str) -> list[Template]:
        """The templates of a suite that a client named."""
        return load_suite(self.offered(suite))

    def task(self, identity: str, seed: int = 0, split: str = "train", max_steps: int | None = None) -> Task:
        template = self.templates.get(identity)
        if template is None:
            near = difflib.get_close_matches(identity, self.templates, 1)
            hint = f"did you mean {near[0]!r}?" if near else "GET /api/v1/tasks lists them"
            raise UnknownTask(f"there is no task {identity[:80]!r}", hint=hint)
        if split not in SPLITS:
            raise TaskError(f"{split!r} is not a split", hint=f"splits are {' and '.join(SPLITS)}")
        task = template.instance(seed, split)
        return replace(task, max_steps=max_steps) if max_steps is not None else task
