"""The tasks that there are, by id: the suites', and their instances by seed."""

from __future__ import annotations

import difflib
import functools
from collections.abc import Sequence
from dataclasses import replace

from operant.errors import TaskError, UnknownTask
from operant.tasks.draw import SPLITS
from operant.tasks.suites import SUITES, load_suite
from operant.tasks.task import Task
from operant.tasks.template import Template

__all__ = ["Catalogue"]


class Catalogue:
    """Templates of all suites, or of a list of one's own."""

    def __init__(self, templates: Sequence[Template] | None = None) -> None:
        self._given = templates

    @functools.cached_property
    def templates(self) -> dict[str, Template]:
        given = self._given
        if given is None:
            given = [template for suite in SUITES for template in load_suite(suite)]
        return {template.id: template for template in given}

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
