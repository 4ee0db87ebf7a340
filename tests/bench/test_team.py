"""The measurement of teams, on the fake desktop: each fault ends a single agent's episode, and a team goes on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from operant.bench.team import FAULTS, Fault, measure_team, play_with_fault
from operant.desktop.pool import DesktopPool
from operant.errors import ConfigError
from operant.testing.fake_desktop import FakeDesktop
from operant.testing.fake_tasks import FillField
from operant.types import Outcome

TASK = replace(FillField().instance(0, "train"), max_steps=20)


@pytest.fixture(scope="module")
def pool() -> Iterator[DesktopPool]:
    with DesktopPool(1, factory=FakeDesktop.factory) as made:
        yield made


@pytest.mark.parametrize(
    "kind", [kind for kind in FAULTS if kind not in ("none", "hangs")]
)  # those take time
def test_a_fault_ends_a_single_agent_and_not_a_team(pool: DesktopPool, kind: str) -> None:
    alone = play_with_fault(pool, TASK, Fault(kind, 2, 1), in_team=False)
    team = play_with_fault(pool, TASK, Fault(kind, 2, 1), in_team=True)
    assert (alone.outcome, team.outcome) == (Outcome.FAILURE, Outcome.SUCCESS)


def test_a_fault_in_every_round_is_a_failure(pool: DesktopPool) -> None:
    result = play_with_fault(pool, TASK, Fault("claims", 1, 99), in_team=True)
    assert result.outcome is Outcome.FAILURE


def test_without_a_fault_a_team_takes_the_same_steps(pool: DesktopPool) -> None:
    alone = play_with_fault(pool, TASK, Fault("none", 1, 0), in_team=False)
    team = play_with_fault(pool, TASK, Fault("none", 1, 0), in_team=True)
    assert (alone.outcome, team.outcome) == (Outcome.SUCCESS, Outcome.SUCCESS)
    assert alone.steps == team.steps


def test_a_prefix_without_tasks_is_told_before_desktops_start() -> None:
    with pytest.raises(ConfigError, match="no HARD task"):
        measure_team(lambda text: None, prefix="core/nothing")
