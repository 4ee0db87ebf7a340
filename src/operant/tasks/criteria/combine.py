"""Criteria made of criteria. What could not be known stays unknown: ``Not`` never makes a success of it."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import Field, SerializeAsAny

from operant.tasks.criteria.base import Criterion, Verdict, World
from operant.tasks.criteria.question import Unclear

__all__ = ["AllOf", "AnyOf", "Not", "leaves"]


class AllOf(Criterion):
    """All of these hold."""

    of: tuple[SerializeAsAny[Criterion], ...] = Field(min_length=1)
    """The criteria, asked in this order until one does not hold."""

    def check(self, world: World) -> Verdict:
        unclear: Verdict | None = None
        found = []
        for criterion in self.of:
            verdict = criterion.check(world)
            if isinstance(verdict, Unclear):
                unclear = verdict
            elif not verdict:
                return verdict
            found.append(verdict.why)
        return Verdict(True, "; ".join(found)) if unclear is None else unclear

    def parts(self) -> tuple[Criterion, ...]:
        return tuple(part for criterion in self.of for part in criterion.parts())


class AnyOf(Criterion):
    """At least one of these holds."""

    of: tuple[SerializeAsAny[Criterion], ...] = Field(min_length=1)
    """The criteria, asked in this order until one holds."""

    def check(self, world: World) -> Verdict:
        unclear: Verdict | None = None
        found = []
        for criterion in self.of:
            verdict = criterion.check(world)
            if verdict:
                return verdict
            if isinstance(verdict, Unclear):
                unclear = verdict
            found.append(verdict.why)
        return Verdict(False, "; ".join(found)) if unclear is None else unclear


class Not(Criterion):
    """That does not hold."""

    of: SerializeAsAny[Criterion]
    """The criterion."""

    def check(self, world: World) -> Verdict:
        verdict = self.of.check(world)
        return verdict if isinstance(verdict, Unclear) else Verdict(not verdict.holds, verdict.why)


def leaves(criterion: Criterion) -> Iterator[Criterion]:
    """The criteria that a combination is made of."""
    if isinstance(criterion, (AllOf, AnyOf)):
        for one in criterion.of:
            yield from leaves(one)
    elif isinstance(criterion, Not):
        yield from leaves(criterion.of)
    else:
        yield criterion
