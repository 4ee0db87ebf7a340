"""Criteria made of criteria. What could not be known stays unknown: ``Not`` never makes a success of it."""

from __future__ import annotations

from pydantic import Field, SerializeAsAny

from operant.tasks.criteria.base import Criterion, Verdict, World
from operant.tasks.criteria.question import Unclear

__all__ = ["AllOf", "AnyOf", "Not"]


class AllOf(Criterion):
    """All of these hold."""

    criteria: tuple[SerializeAsAny[Criterion], ...] = Field(alias="of", min_length=1)
    """The criteria, asked in this order until one does not hold."""

    def check(self, world: World) -> Verdict:
        unclear: Verdict | None = None
        found = []
        for criterion in self.criteria:
            verdict = criterion.check(world)
            if isinstance(verdict, Unclear):
                unclear = unclear or verdict
            elif not verdict:
                return verdict
            found.append(verdict.why)
        return unclear or Verdict(True, "; ".join(found))


class AnyOf(Criterion):
    """At least one of these holds."""

    criteria: tuple[SerializeAsAny[Criterion], ...] = Field(alias="of", min_length=1)
    """The criteria, asked in this order until one holds."""

    def check(self, world: World) -> Verdict:
        unclear: Verdict | None = None
        found = []
        for criterion in self.criteria:
            verdict = criterion.check(world)
            if verdict:
                return verdict
            if isinstance(verdict, Unclear):
                unclear = unclear or verdict
            found.append(verdict.why)
        return unclear or Verdict(False, "; ".join(found))


class Not(Criterion):
    """That does not hold."""

    criterion: SerializeAsAny[Criterion] = Field(alias="of")
    """The criterion."""

    def check(self, world: World) -> Verdict:
        verdict = self.criterion.check(world)
        return verdict if isinstance(verdict, Unclear) else Verdict(not verdict.holds, verdict.why)
