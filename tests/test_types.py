"""The coordinate contract and the rules of actions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from operant.errors import InvalidAction
from operant.types import Action, ActionKind, Button, Difficulty, Node, Observation, Outcome, Point, Size

sizes = st.builds(Size, st.integers(1, 16384), st.integers(1, 16384))


@given(sizes, st.data())
def test_a_pixel_survives_the_way_to_a_point_and_back(size: Size, data: st.DataObject) -> None:
    x = data.draw(st.integers(0, size.width - 1))
    y = data.draw(st.integers(0, size.height - 1))
    assert Point.from_pixel(x, y, size).to_pixel(size) == (x, y)


@given(sizes, st.floats(0, 1), st.floats(0, 1))
def test_every_point_lies_on_a_pixel_of_every_screen(size: Size, x: float, y: float) -> None:
    column, row = Point(x, y).to_pixel(size)
    assert 0 <= column < size.width
    assert 0 <= row < size.height


@given(sizes, sizes, st.floats(0, 1), st.floats(0, 1))
def test_a_point_means_the_same_place_on_another_resolution(one: Size, two: Size, x: float, y: float) -> None:
    a, b = Point(x, y).to_pixel(one), Point(x, y).to_pixel(two)
    assert abs(a[0] / one.width - b[0] / two.width) <= 1 / one.width + 1 / two.width
    assert abs(a[1] / one.height - b[1] / two.height) <= 1 / one.height + 1 / two.height


@pytest.mark.parametrize(
    ("x", "y"), [(-1, 0), (0, -0.5), (1280, 0), (0, 800), (float("nan"), 0), (float("inf"), 0), (1e300, 0)]
)
def test_a_pixel_off_the_screen_is_refused(x: float, y: float) -> None:
    with pytest.raises(InvalidAction):
        Point.from_pixel(x, y, Size(1280, 800))


@pytest.mark.parametrize("value", [-0.01, 1.01, float("nan"), float("inf"), 10**400])
def test_a_point_is_made_of_fractions(value: float) -> None:
    with pytest.raises(InvalidAction, match="not a fraction"):
        Point(value, 0.5)


def test_an_action_carries_only_what_its_kind_means() -> None:
    with pytest.raises(InvalidAction, match="takes no text"):
        Action(ActionKind.CLICK, text="x")
    with pytest.raises(InvalidAction, match="takes no button"):
        Action(ActionKind.TYPE, text="x", button=Button.RIGHT)


@pytest.mark.parametrize(
    ("kind", "missing"), [("move", "point"), ("drag", "path"), ("key", "keys"), ("type", "text")]
)
def test_an_action_has_what_its_kind_needs(kind: str, missing: str) -> None:
    with pytest.raises(InvalidAction, match=f"needs {missing}"):
        Action(ActionKind(kind))


@pytest.mark.parametrize("clicks", [0, 4, -1])
def test_clicks_go_from_one_to_three(clicks: int) -> None:
    with pytest.raises(InvalidAction, match="clicks"):
        Action.click(Point(0, 0), clicks=clicks)


@pytest.mark.parametrize("duration", [-1.0, 61.0, float("nan"), 10**400])
def test_durations_are_bounded(duration: float) -> None:
    with pytest.raises(InvalidAction, match="duration"):
        Action.wait(duration)


def test_only_the_first_three_outcomes_are_experience() -> None:
    assert [outcome for outcome in Outcome if outcome.is_experience] == [
        Outcome.SUCCESS,
        Outcome.FAILURE,
        Outcome.TRUNCATED,
    ]


@pytest.mark.parametrize(
    ("steps", "level"), [(1, "EASY"), (7, "EASY"), (8, "MEDIUM"), (15, "MEDIUM"), (16, "HARD")]
)
def test_difficulty_counts_actions(steps: int, level: str) -> None:
    assert Difficulty.of_steps(steps).value == level


def test_a_tree_is_walked_parents_first_and_searched_by_role_and_name() -> None:
    leaf = Node("push button", "Save", frozenset({"showing"}), (1, 2, 3, 4))
    tree = Node(
        "frame",
        "window",
        frozenset(),
        None,
        children=(Node("panel", "", frozenset(), None, children=(leaf,)),),
    )
    assert [node.role for node in tree.walk()] == ["frame", "panel", "push button"]
    assert tree.find("push button") is leaf
    assert tree.find(name="Save") is leaf
    assert tree.find("push button", "Open") is None


def test_beside_a_line_is_aimed_at_that_line() -> None:
    line = Node("line", "", frozenset(), (10, 18, 50, 18), text="pears")
    text = Node("text", "", frozenset(), (10, 0, 300, 200), text="apples\npears", children=(line,))
    screen = np.zeros((200, 400, 3), np.uint8)
    seen = Observation(screen, "x", 0, 15, Point(0.5, 0.5), tree=text)
    assert seen.aimed_at(Action.click(Point(200 / 400, 20 / 200))) == "pears"
    assert seen.aimed_at(Action.click(Point(200 / 400, 120 / 200))) == "apples\npears"
