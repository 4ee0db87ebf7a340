"""The benchmark of calls: hostile calls are typed errors, and a small run measures what it says."""

from __future__ import annotations

import random

import pytest

from operant.bench.calls import GOALS, hostile_action, measure_calls
from operant.errors import InvalidAction
from operant.testing import FakeDesktop


def test_hostile_calls_are_refused_with_typed_errors() -> None:
    rng, desktop = random.Random(1), FakeDesktop()
    for _ in range(500):
        with pytest.raises(InvalidAction):
            desktop.perform(hostile_action(rng))


@pytest.mark.x11
def test_it_measures_and_nothing_hostile_runs() -> None:
    found = measure_calls(lambda _: None, count=5, hostile=200)
    assert set(GOALS) <= set(found)
    assert found["call_overhead_p50_ms"] > 0
    assert (found["hostile_calls"], found["hostile_crashes"], found["hostile_executions"]) == (200, 0, 0)
