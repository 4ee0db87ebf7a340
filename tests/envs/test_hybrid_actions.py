"""The hybrid action space: every kind in both directions, and what is wrong with a wrong one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from operant.envs.canonical_actions import CanonicalActions, CanonicalSpace
from operant.envs.flat import FlatActions
from operant.envs.hybrid_actions import KINDS, HybridActions
from operant.errors import ActionNotExpressible, ConfigError, InvalidAction
from operant.types import Action, ActionKind, Button, Point

SENTENCE = "Save the note as quiet-harbor.txt"
ALL = HybridActions(KINDS)

EXPRESSIBLE = [
    Action.click(Point(0.25, 0.75)),
    Action.click(Point(0.0, 1.0), clicks=2),
    Action.click(Point(0.5, 0.5), clicks=3),
    Action.click(Point(0.5, 0.5), button=Button.RIGHT),
    Action.click(Point(0.5, 0.5), button=Button.MIDDLE),
    Action.move(Point(0.125, 0.5)),
    Action.drag(Point(0.25, 0.25), Point(0.75, 0.5)),
    Action.scroll(Point(0.5, 0.5), dy=3.0),
    Action.scroll(Point(0.5, 0.5), dx=-2.0),
    Action.type("quiet-harbor.txt"),
    Action.type("note\n"),
    Action.key("ctrl", "s"),
    Action.key("enter"),
    Action.wait(),
    Action.done(),
    Action.fail(),
    Action(ActionKind.ANSWER, text="note"),
]


@pytest.mark.parametrize("action", EXPRESSIBLE, ids=lambda action: action.kind.value)
def test_there_and_back(action: Action) -> None:
    coded = ALL.encode(action, SENTENCE)
    assert ALL.space.contains({**coded, "type": np.int64(coded["type"])})
    assert ALL.decode(coded, SENTENCE) == action


@pytest.mark.parametrize(
    "action",
    [
        Action.type("something else"),
        Action.click(),
        Action.click(Point(0.5, 0.5), modifiers=("ctrl",)),
        Action.click(Point(0.5, 0.5), button=Button.BACK),
        Action.drag(Point(0.5, 0.5)),
        Action.key("ctrl", "alt", "delete"),
        Action(ActionKind.SCREENSHOT),
    ],
    ids=lambda action: action.kind.value,
)
def test_what_the_space_has_no_words_for(action: Action) -> None:
    with pytest.raises(ActionNotExpressible):
        ALL.encode(action, SENTENCE)


def test_every_sample_is_an_action_or_names_what_is_wrong_with_its_words() -> None:
    ALL.space.seed(1)
    for _ in range(300):
        sample = ALL.space.sample()
        if KINDS[sample["type"]] in ("type", "answer") and sample["span"][1] >= 8:
            with pytest.raises(InvalidAction, match="span"):
                ALL.decode(sample, SENTENCE)
        elif KINDS[sample["type"]] not in ("type", "answer"):
            ALL.decode(sample, SENTENCE)


def with_part(name: str, value: Any, kind: str = "click") -> dict[str, Any]:
    return {**ALL.encode(Action.click(Point(0.5, 0.5)), ""), "type": KINDS.index(kind), name: value}


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (with_part("point", [np.nan, 0.5]), "nan"),
        (with_part("point", [np.inf, 0.5]), "inf"),
        (with_part("point", [1.5, 0.5]), "off the screen"),
        (with_part("point", [0.5]), r"shape \(1,\)"),
        (with_part("point", np.zeros((2, 2))), "shape"),
        (with_part("type", 99), "type=99"),
        (with_part("type", -1), "type=-1"),
        (with_part("type", np.nan), "not one number"),
        (with_part("type", [1, 2]), "not one number"),
        (with_part("key", 999, "key"), "key=999"),
        (with_part("span", [5, 2], "type"), "no span"),
        (with_part("span", [0, 63], "type"), "no span"),
        ({"type": 0}, "no 'point'"),
        ({}, "no 'type'"),
        (7, "a dict"),
        (None, "a dict"),
    ],
)
def test_a_wrong_action_is_named(wrong: Any, says: str) -> None:
    with pytest.raises(InvalidAction, match=says):
        ALL.decode(wrong, SENTENCE)


def test_parts_that_are_not_used_may_be_anything() -> None:
    assert ALL.decode(with_part("end", [np.nan, 9]), SENTENCE).kind is ActionKind.CLICK


def test_rounding_at_the_edge_is_forgiven() -> None:
    assert ALL.decode(with_part("point", [1.00001, -0.00001]), "").point == Point(1.0, 0.0)


@pytest.mark.parametrize("options", [{"kinds": ["clik"]}, {"kinds": []}, {"keys": []}, {"max_tokens": 0}])
def test_a_space_of_nothing_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        HybridActions(**options)


def test_a_key_that_does_not_exist_is_refused() -> None:
    with pytest.raises(InvalidAction):
        HybridActions(keys=["ctrl+nosuchkey"])


class TestFlat:
    @pytest.mark.parametrize("continuous", [False, True])
    def test_every_sample_is_an_action(self, continuous: bool) -> None:
        flat = FlatActions(ALL, continuous=continuous)
        flat.space.seed(1)
        kinds = {flat.decode(flat.space.sample(), SENTENCE).kind for _ in range(300)}
        assert len(kinds) == len({Action.kind for Action in EXPRESSIBLE})

    def test_cells_are_hit_in_their_middle(self) -> None:
        point = FlatActions(grid=(4, 2)).decode([0, 3, 1, 0, 0, 0, 0, 0, 0], SENTENCE).point
        assert point == Point(0.875, 0.75)

    @pytest.mark.parametrize("wrong", [[1, 2], np.full(9, np.nan), 3])
    def test_wrong_shapes_and_numbers_are_named(self, wrong: Any) -> None:
        with pytest.raises(InvalidAction):
            FlatActions().decode(wrong, SENTENCE)


class TestCanonical:
    def test_actions_pass_and_anything_else_does_not(self) -> None:
        coder = CanonicalActions()
        assert coder.decode(Action.done(), "") == Action.done()
        for wrong in (None, {}, "click", 3):
            with pytest.raises(InvalidAction):
                coder.decode(wrong, "")

    def test_the_space_samples_actions_and_can_be_seeded(self) -> None:
        one, other = CanonicalSpace(5), CanonicalSpace(5)
        samples = [one.sample() for _ in range(20)]
        assert all(one.contains(sample) for sample in samples)
        assert samples == [other.sample() for _ in range(20)]
