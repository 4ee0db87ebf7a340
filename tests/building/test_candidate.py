"""Replies of a model read as text, and tests that prove nothing."""

from __future__ import annotations

from typing import Any

import pytest

from operant.building.candidate import problems_of_tests, read_candidate, read_proposals
from operant.errors import ConfigError

from .offers import COUNTS, GOOD, RIGHT, counting, reply


def candidate(*tests: dict[str, Any]) -> list[str]:
    return problems_of_tests(read_candidate(reply(counting(RIGHT, "count"), *tests), "mousepad", "count"))


@pytest.mark.parametrize("name", sorted(GOOD))
def test_good_tests_have_no_problem(name: str) -> None:
    assert problems_of_tests(read_candidate(GOOD[name][-1], "mousepad", name)) == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"expect": {}}, "asserts nothing"),
        ({"expect": {"windows": 0}}, "asserts nothing"),
        ({"mutations": []}, "no test has a mutation of path alone"),
        ({"mutations": [{"arguments": {"path": "b.txt"}, "expect": {"result": 3}}]}, "the same outcome"),
        ({"expect": {"refused": " "}}, "at least three characters"),
        ({"expect": {"refused": "there is no"}}, "no test states that the function succeeds"),
        ({"arguments": {"file": "a.txt"}}, "takes no argument 'file'"),
        ({"arguments": {"path": 3}}, "must be a text"),
        ({"expect": {"result": 3, "changes": {"/etc/passwd": None}}}, "no path below HOME"),
        ({"expect": {"then": [{"function": "files.mov"}]}}, "there is no function 'files.mov'"),
    ],
)
def test_tests_that_prove_nothing_are_refused(change: dict[str, Any], said: str) -> None:
    assert any(said in one for one in candidate({**COUNTS, **change})), candidate({**COUNTS, **change})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("no block", "one block ```python, and has 0"),
        (reply(counting(RIGHT, "count"), COUNTS) * 2, "one block ```python, and has 2"),
        (reply(counting(RIGHT, "other"), COUNTS), "one public function, count"),
        (reply(counting(RIGHT, "count").replace(": str", ""), COUNTS), "path has no type"),
        (reply("def count(:\n", COUNTS), "is not Python"),
        (reply(counting(RIGHT, "count")), "at least one test"),
        (reply(counting(RIGHT, "count"), {**COUNTS, "assert": 1}), "Extra inputs"),
        (reply(counting(RIGHT, "count"), *[COUNTS] * 9), "there may be 8 tests"),
        (f"```python\n{counting(RIGHT, 'count')}```\n```json\n{'[' * 99999}\n```\n", "can't be read"),
    ],
)
def test_a_reply_that_can_not_be_read_says_why(text: str, said: str) -> None:
    with pytest.raises(ConfigError) as raised:
        read_candidate(text, "mousepad", "count")
    assert said in raised.value.message


def test_a_function_that_there_is_already_is_refused() -> None:
    with pytest.raises(ConfigError, match="already"):
        read_candidate(reply(counting(RIGHT, "get_text"), COUNTS), "mousepad", "get_text")


def test_names_of_functions_are_plain() -> None:
    listed = '```json\n{"functions": [{"name": "%s", "doc": "x"}]}\n```'
    assert read_proposals(listed % "count_words")[0].name == "count_words"
    for name in ("../x", "__init__", "a.b", "Count", ""):
        with pytest.raises(ConfigError):
            read_proposals(listed % name)
