"""Intervals against published values, against scipy, and against their own meaning."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from operant.evaluation.statistics import difference, sign_test, wilson


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    # Newcombe 1998, "Two-sided confidence intervals for the single proportion", method 3.
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson_gives_the_published_intervals(successes: int, n: int, low: float, high: float) -> None:
    assert wilson(successes, n) == pytest.approx((low, high), abs=5e-5)


def test_wilson_agrees_with_scipy() -> None:
    stats = pytest.importorskip("scipy.stats")
    for n in (1, 2, 7, 30, 300, 4000):
        for successes in {0, 1, n // 3, n - 1, n}:
            theirs = stats.binomtest(successes, n).proportion_ci(0.95, "wilson")
            assert wilson(successes, n) == pytest.approx((theirs.low, theirs.high), abs=1e-12)


@given(st.integers(0, 5000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_an_interval_holds_its_rate_and_stays_between_zero_and_one(counts: tuple[int, int]) -> None:
    successes, n = counts
    low, high = wilson(successes, n)
    assert 0.0 <= low <= high <= 1.0
    if n:
        assert low <= successes / n <= high


def test_wilson_covers_the_truth_about_as_often_as_it_says() -> None:
    source = random.Random(0)
    for rate in (0.1, 0.5, 0.92):
        held = 0
        for _ in range(2000):
            low, high = wilson(sum(source.random() < rate for _ in range(50)), 50)
            held += low <= rate <= high
        assert 0.92 <= held / 2000 <= 0.985


@pytest.mark.parametrize(("successes", "n"), [(-1, 3), (4, 3), (1, 0)])
def test_impossible_counts_are_refused(successes: int, n: int) -> None:
    with pytest.raises(ValueError, match="successes of"):
        wilson(successes, n)


def test_the_difference_of_two_rates_has_newcombes_interval() -> None:
    # Newcombe 1998, "Interval estimation for the difference between independent proportions", method 10.
    change, low, high = difference((48, 80), (56, 70))
    assert change == pytest.approx(0.2)
    assert (low, high) == pytest.approx((0.0524, 0.3339), abs=5e-5)


def test_nothing_is_known_where_nothing_was_played() -> None:
    assert difference((0, 0), (1, 2)) == (0.0, -1.0, 1.0)
    assert wilson(0, 0) == (0.0, 1.0)


def test_the_sign_test_agrees_with_scipy() -> None:
    stats = pytest.importorskip("scipy.stats")
    for better, worse in ((0, 0), (1, 0), (8, 0), (5, 3), (3, 5), (20, 20), (40, 12)):
        theirs = stats.binomtest(better, better + worse).pvalue if better + worse else 1.0
        assert sign_test(better, worse) == pytest.approx(theirs, abs=1e-12)
