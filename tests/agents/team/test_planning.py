"""Parts out of instructions: numbered, joined, quoted, fixed, or as a planner says."""

from __future__ import annotations

import pytest

from operant.agents.team.planning import (
    Part,
    fixed_plan,
    in_stages,
    planner_question,
    read_plan,
    split_instruction,
)
from operant.config.team import MemberSettings, PartSettings, TeamSettings

MEMBERS = {"operator": MemberSettings(agent="noop"), "typist": MemberSettings(agent="noop")}


@pytest.mark.parametrize(
    ("instruction", "parts"),
    [
        ("Save the file.", ["Save the file."]),
        ("1. Open a. 2. Close b.", ["Open a.", "Close b."]),
        ("In music: 1) Open a.\n2) Close b.", ["In music: Open a.", "In music: Close b."]),
        ("Close a; save b", ["Close a", "save b"]),
        ("Close a, then save b and then quit.", ["Close a", "save b", "quit."]),
        ("Close a. Then save b.", ["Close a", "save b."]),
        ('Type "a; b" and run `x, then y`.', ['Type "a; b" and run `x, then y`.']),
        ("Add 29 and 38, 95 and 86.", ["Add 29 and 38, 95 and 86."]),
        ("Set it to 3. Save.", ["Set it to 3. Save."]),
    ],
)
def test_split(instruction: str, parts: list[str]) -> None:
    assert [piece for piece, _ in split_instruction(instruction)] == parts


def test_what_comes_then_is_not_done_beside_what_comes_before() -> None:
    assert split_instruction("Close a; save b, then quit") == [
        ("Close a", False),
        ("save b", False),
        ("quit", True),
    ]
    a, b, c, d = (Part(name, "operator", alone=name == "c") for name in "abcd")
    assert in_stages([a, b, c, d], 4) == [[a, b], [c], [d]]
    assert in_stages([a, b, c, d], 1) == [[a], [b], [c], [d]]


def test_a_planner_of_several_desktops_says_what_comes_after() -> None:
    settings = TeamSettings(members=MEMBERS, desktops=2)
    assert "at the same time" in planner_question("all", settings)
    assert read_plan("operator: a\nthen typist: b", "all", settings) == [
        Part("a", "operator"),
        Part("b", "typist", alone=True),
    ]


def test_a_fixed_split_names_its_members_and_may_quote_the_task() -> None:
    parts = (
        PartSettings(instruction="First: {task}"),
        PartSettings(instruction="b", member="typist", steps=4),
    )
    settings = TeamSettings(members=MEMBERS, parts=parts)
    assert fixed_plan("Do it", settings) == [Part("First: Do it", "operator"), Part("b", "typist", 4)]


def test_a_planner_answers_with_one_part_a_line() -> None:
    settings = TeamSettings(members=MEMBERS)
    answer = "1. operator: open it\n\n- typist: type 3:30\nNote: save"
    assert read_plan(answer, "all", settings) == [
        Part("open it", "operator"),
        Part("type 3:30", "typist"),
        Part("Note: save", "operator"),
    ]


@pytest.mark.parametrize("answer", ["", "\n \n", "a\n" * 11])
def test_a_plan_of_no_use_leaves_the_task_whole(answer: str) -> None:
    assert read_plan(answer, "all", TeamSettings(members=MEMBERS)) == [Part("all", "operator")]
