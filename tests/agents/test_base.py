"""What a turn used, and how that adds up."""

from __future__ import annotations

import pytest

from operant.agents.base import Usage


def test_usage_adds_up() -> None:
    both = Usage(100, 60, 10, 1, 0.5) + Usage(200, 0, 20, 2, 0.25)
    assert both == Usage(300, 60, 30, 3, 0.75)
    assert both.tokens == 330


def test_what_costs_an_unknown_sum_makes_the_total_unknown() -> None:
    assert (Usage(1, requests=1, cost=0.5) + Usage(1, requests=1)).cost is None
    assert (Usage(1, requests=1) + Usage(1, requests=1, cost=0.5)).cost is None


@pytest.mark.parametrize("used", [Usage(5, 1, 2, 1, 0.25), Usage(5, 1, 2, 1), Usage()])
def test_nothing_added_changes_nothing(used: Usage) -> None:
    assert used + Usage() == used == Usage() + used
