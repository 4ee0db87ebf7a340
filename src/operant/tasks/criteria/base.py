"""What a success criterion is: a question about the desktop, asked from outside, with a yes or no and why.

Criteria read; they never act, and text that an agent controls is data to them, never code. A criterion that
can't be evaluated raises ``VerifierError``, which is neither success nor failure.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from operant.config.base import Config
from operant.errors import VerifierError

if TYPE_CHECKING:
    from operant.desktop.protocol import Desktop

__all__ = ["Criterion", "NoCriteria", "Verdict", "World"]


@dataclass(frozen=True)
class World:
    """What a criterion may look at: the desktop as it is now, and what the agent reported, if anything."""

    desktop: Desktop
    answer: str | None = None
    start: Mapping[str, Any] = field(default_factory=dict)
    """What ``Criterion.remember`` noted when the task began."""


@dataclass(frozen=True)
class Verdict:
    """Whether it holds, and a sentence that says what was found."""

    holds: bool
    why: str
    score: float | None = None
    """The share that was done, from 0 to 1, where criteria give one; a task is done at 1 only."""

    @classmethod
    def compared(cls, holds: bool, found: str, expected: str) -> Verdict:
        """What was found; where it does not hold, with what was expected beside it."""
        return cls(holds, found if holds else f"{found}, expected {expected}")

    def __bool__(self) -> bool:
        return self.holds


class Criterion(Config, ABC):
    """One question. Subclasses are registered by key in ``operant.tasks.criteria.CRITERIA``."""

    @abstractmethod
    def check(self, world: World) -> Verdict: ...

    def parts(self) -> tuple[Criterion, ...]:
        """The criteria that have to hold together; the share of them that holds is how far a task has come."""
        return (self,)


class NoCriteria(Criterion):
    """In place of criteria where there are none, as with a free instruction: the outcome is ``unverified``."""

    def check(self, world: World) -> Verdict:
        raise VerifierError("there are no criteria to verify it")
