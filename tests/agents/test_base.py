"""What a turn used, and how that adds up."""

from __future__ import annotations

import pytest

from operant.agents.base import Usage
from operant.agents.fixed import DoneAgent
from operant.errors import ConfigError


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


class Mute(DoneAgent):
    cannot_call = "the format x has no words for a call"


def test_an_agent_without_words_for_calls_is_told_early() -> None:
    assert Mute().check_actions("gui") == ""
    assert "no functions will be called" in Mute().check_actions("both")
    with pytest.raises(ConfigError, match="no words for a call"):
        Mute().check_actions("api")
    assert DoneAgent().check_actions("api") == ""
