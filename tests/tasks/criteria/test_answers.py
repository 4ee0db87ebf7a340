"""What the agent reports."""

from __future__ import annotations

from typing import Any, cast

import pytest

from operant.errors import TaskError
from operant.tasks.criteria import Answer, World


def holds(criterion: Answer, answer: str | None) -> bool:
    return criterion.check(World(cast(Any, None), answer)).holds


def test_the_right_answer_in_words():
    right = Answer(text="Paris Nord")
    for said in ("Paris Nord", " paris  nord\n", '"Paris Nord".', "PARIS NORD"):
        assert holds(right, said), said
    for said in (None, "", "Paris", "Paris Nord or Lyon", "not Paris Nord", "The answer is Paris Nord"):
        assert not holds(right, said), said
    assert not holds(Answer(text="Paris", ignore_case=False), "paris")


def test_the_right_number():
    right = Answer(text="1234.5", numeric=True)
    for said in ("1234.5", "1,234.50", "The total is 1234.5.", "1234.5 EUR", "= 1234.5"):
        assert holds(right, said), said
    for said in (None, "", "1234", "-1234.5", "12345", "1234.55", "many", "∞", "1234.5e3"):
        assert not holds(right, said), said
    assert holds(Answer(text="-3", numeric=True), "\u22123")


@pytest.mark.parametrize(
    "said",
    [
        "41 42 43",
        " ".join(map(str, range(1000))),
        "42\n43",
        "4 2",
        "42 or maybe 7",
        "42" + " " * 5000,
        "4242",
        "4.2e1",
    ],
)
def test_an_answer_that_lists_everything_is_none(said):
    assert not holds(Answer(text="42", numeric=True), said)
    assert not holds(Answer(text="42"), said)


def test_an_answer_is_not_a_pattern_nor_code():
    assert not holds(Answer(text="42"), ".*")
    assert not holds(Answer(text="42", numeric=True), "6*7")
    assert not holds(Answer(text="a.c"), "abc")


def test_a_long_answer_is_no_work():
    assert not holds(Answer(text="42", numeric=True), "4" * 10_000_000)


def test_a_number_that_is_none():
    for text in ("forty", "1 2"):
        with pytest.raises(TaskError):
            Answer(text=text, numeric=True)
