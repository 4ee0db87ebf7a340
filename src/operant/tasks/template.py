"""Templates: tasks with blanks. A seed fills them in, and gives one instance."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any, ClassVar

from loguru import logger

from operant.apps.moves import Goals
from operant.config.desktop import Profile
from operant.errors import TaskError
from operant.tasks.called import called_oracle
from operant.tasks.changes import Change, Scope, after
from operant.tasks.criteria.base import Criterion
from operant.tasks.draw import Draw
from operant.tasks.oracle import Oracle
from operant.tasks.setup import SetupStep
from operant.tasks.task import Task
from operant.types import Difficulty

__all__ = ["Params", "Template", "tells_split"]

ID = re.compile(r"[a-z0-9_]+/[a-z0-9-]+-v[0-9]+")
STEP_CAP = {Difficulty.EASY: 15, Difficulty.MEDIUM: 30, Difficulty.HARD: 60}

Params = SimpleNamespace


_warned: set[str] = set()


def tells_split(id: str, instruction: str, draw: Draw) -> bool:
    """Whether the instruction shows a drawn word or number, which training and held-out instances never share.

    The log warns once for each suite whose tasks are played as held-out without that.
    """
    if any(re.search(rf"(?<!\w){re.escape(token)}(?!\w)", instruction) for token in draw.given):
        return True
    suite = id.partition("/")[0]
    if draw.split != "train" and suite not in _warned:
        _warned.add(suite)
        logger.warning(
            "{}: nothing is drawn in {!r}, so held-out instances are those of training; other tasks of {} may be"
            " alike (docs/tasks.md, Splits)",
            id,
            instruction,
            suite,
        )
    return False


class Template(ABC):
    """One task of a suite. Subclass it, fill in the class attributes, and say what is there before and what changes.

    ``instructions`` are phrasings with ``{parameter}`` blanks; a seed picks one. Held-out instances are told apart by a
    drawn word or number that their instruction shows, or by ``heldout_instructions``, phrasings that training never uses.
    A template with neither has the same instances in both splits; the log warns when they are played as held-out.
    """

    id: ClassVar[str]
    apps: ClassVar[tuple[str, ...]]
    skill: ClassVar[str]
    family: ClassVar[str]
    difficulty: ClassVar[Difficulty]
    instructions: ClassVar[tuple[str, ...]]
    heldout_instructions: ClassVar[tuple[str, ...]] = ()
    unseen: ClassVar[bool] = False
    profile: ClassVar[Profile] = "bare"
    scope: ClassVar[Scope] = "folders"
    max_steps: ClassVar[int | None] = None
    gui_only: ClassVar[bool] = False
    """Whether its point is a skill with pointer and keyboard, which a call of a function would go around."""

    @abstractmethod
    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        """Everything that differs between instances."""

    def setup(self, p: Params) -> Sequence[SetupStep]:
        """The state before."""
        return ()

    def changes(self, p: Params) -> Sequence[Change]:
        """What is different when the task is done. Success criterion and oracle follow from it."""
        return ()

    def success(self, p: Params) -> Criterion:
        """How it is known that the task is done. Write it where ``changes`` cannot say it."""
        return after(self.setup(p), self.changes(p), self.scope)

    def oracle(self, p: Params) -> Oracle | None:
        """How it is done. Write it where the goals of ``changes``, one after another, are not the way; None where
        nothing shows it."""
        return Goals([change.goal for change in self.changes(p) if change.goal is not None])

    def api_oracle(self, p: Params) -> Oracle | None:
        """How it is done by calls of functions of applications; None where nothing shows it.

        Write it where it does not follow from ``changes``.
        """
        return called_oracle(self.setup(p), self.changes(p))

    def instance(self, seed: int, split: str = "train") -> Task:
        """The task that this seed makes of the template."""
        if not ID.fullmatch(self.id):
            raise TaskError(f"{self.id!r} is not a task id", hint="ids look like suite/some-name-v1")
        draw = Draw(self.id, split, seed)
        phrasing, values = self._decided(draw)
        instruction = self._worded(phrasing, values)
        told = bool(self.heldout_instructions) or tells_split(self.id, instruction, draw)
        p = Params(**values)
        return Task(
            id=self.id,
            instruction=instruction,
            difficulty=self.difficulty,
            success=self.success(p),
            setup=tuple(self.setup(p)),
            profile=self.profile,
            max_steps=self.max_steps or STEP_CAP[self.difficulty],
            gui_only=self.gui_only,
            apps=self.apps,
            skill=self.skill,
            family=self.family,
            unseen=self.unseen,
            seed=seed,
            split=split if told else None,
            parameters=values,
            oracle=self.oracle(p),
            api_oracle=None if self.gui_only else self.api_oracle(p),
        )

    def _decided(self, draw: Draw) -> tuple[str, Mapping[str, Any]]:
        """What a seed decides: the phrasing and the values of its blanks."""
        values = dict(self.parameters(draw))
        return draw.choice(self._phrasings(draw.split)), values

    def _worded(self, phrasing: str, values: Mapping[str, Any]) -> str:
        """The instruction: a phrasing with its blanks filled."""
        try:
            return phrasing.format(**values)
        except (KeyError, IndexError, ValueError) as error:
            raise TaskError(
                f"{self.id}: the instruction {phrasing!r} has a blank that no parameter fills: {error}",
                hint=f"its parameters are {', '.join(values)}" if values else "it has no parameters",
            ) from error

    def check(self) -> None:
        """Fill in every phrasing once, so that a mistake shows before anything is played."""
        for split in ("train", "heldout"):
            values = self._decided(Draw(self.id, split, 0))[1]
            for phrasing in self._phrasings(split):
                self._worded(phrasing, values)
        self.instance(0)

    def _phrasings(self, split: str) -> tuple[str, ...]:
        reworded = self.heldout_instructions
        return reworded if reworded and split == "heldout" else self.instructions
