"""Criteria made of criteria."""

from __future__ import annotations

from typing import Any, cast

import pytest
from pydantic import ValidationError

from operant.errors import DesktopDied
from operant.tasks.criteria import AllOf, AnyOf, Criterion, Not, Verdict, World
from operant.tasks.criteria.question import Unclear

NOWHERE = World(cast(Any, None))


class Says(Criterion):
    """Gives the same verdict whatever the world is like."""

    verdict: str

    def check(self, world: World) -> Verdict:
        if self.verdict == "dead":
            raise DesktopDied("gone")
        return (
            Unclear(False, "?") if self.verdict == "unclear" else Verdict(self.verdict == "yes", self.verdict)
        )


def said(criterion: Criterion) -> str:
    verdict = criterion.check(NOWHERE)
    return "unclear" if isinstance(verdict, Unclear) else "yes" if verdict else "no"


YES, NO, UNCLEAR = Says(verdict="yes"), Says(verdict="no"), Says(verdict="unclear")


@pytest.mark.parametrize(
    ("of", "all_of", "any_of"),
    [
        ((YES,), "yes", "yes"),
        ((YES, YES), "yes", "yes"),
        ((YES, NO), "no", "yes"),
        ((NO, NO), "no", "no"),
        ((YES, UNCLEAR), "unclear", "yes"),
        ((UNCLEAR, NO), "no", "unclear"),
        ((UNCLEAR, YES), "unclear", "yes"),
    ],
)
def test_all_and_any(of, all_of, any_of):
    assert said(AllOf(of=of)) == all_of
    assert said(AnyOf(of=of)) == any_of
    opposite = {"yes": "no", "no": "yes", "unclear": "unclear"}
    assert said(Not(of=AllOf(of=of))) == opposite[all_of]
    assert said(Not(of=AnyOf(of=of))) == opposite[any_of]


def test_what_is_unknown_never_passes_however_it_is_turned():
    for criterion in (UNCLEAR, Not(of=UNCLEAR), Not(of=Not(of=UNCLEAR)), AllOf(of=(YES, Not(of=UNCLEAR)))):
        assert not criterion.check(NOWHERE)


def test_nothing_is_not_a_criterion():
    for kind in (AllOf, AnyOf):
        with pytest.raises(ValidationError):
            kind(of=())


def test_the_reason_is_that_of_the_part_that_failed():
    assert AllOf(of=(YES, NO)).check(NOWHERE).why == "no"
    assert Not(of=YES).check(NOWHERE).why == "yes"


def test_a_dead_desktop_goes_through():
    for criterion in (
        AllOf(of=(Says(verdict="dead"),)),
        AnyOf(of=(NO, Says(verdict="dead"))),
        Not(of=Says(verdict="dead")),
    ):
        with pytest.raises(DesktopDied):
            criterion.check(NOWHERE)
