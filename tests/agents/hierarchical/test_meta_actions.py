"""From the oracle's action to the manager's terms and back."""

from __future__ import annotations

import numpy as np
import pytest

from operant.agents.hierarchical.config import EncoderConfig, HierarchicalConfig
from operant.agents.hierarchical.meta_actions import GRID, MetaActions
from operant.agents.hierarchical.perception import Perception
from operant.errors import ActionNotExpressible, ConfigError
from operant.types import Action, ActionKind, Button, Observation, Point

SMALL = HierarchicalConfig(
    encoder=EncoderConfig(width=32, heads=2, widgets=40, history=6, vocabulary=512, text_layers=1)
)

Shown = list[tuple[Observation, Action]]


def blank(instruction: str = "Type quiet-harbor.txt now") -> Observation:
    return Observation(np.zeros((800, 1280, 3), np.uint8), instruction, 0, 15, Point(0.5, 0.5))


def there_and_back(action: Action, observation: Observation) -> Action:
    meta = MetaActions(SMALL)
    return meta.action(meta.label(action, Perception(SMALL).encode(observation)))


def test_every_action_of_the_fake_oracles_survives(shown: Shown) -> None:
    said = [(seen, act) for seen, act in shown if act.text.rstrip("\n") in seen.instruction]
    assert len(said) > len(shown) // 2
    for observation, action in said:
        back = there_and_back(action, observation)
        assert back.kind is action.kind
        assert back.text == action.text
        assert back.keys == action.keys
        if action.point is not None:
            assert back.point is not None
            assert abs(back.point.x - action.point.x) < 1e-4
            assert abs(back.point.y - action.point.y) < 1e-4


@pytest.mark.parametrize(
    "action",
    [
        Action.click(Point(0.25, 0.75), clicks=2),
        Action.click(Point(0.25, 0.75), button=Button.RIGHT),
        Action.click(Point(0.25, 0.75), modifiers=("ctrl",)),
        Action.drag(Point(0.25, 0.75), Point(0.5, 0.125)),
        Action.scroll(Point(0.5, 0.5), dy=5.0),
        Action.type("quiet-harbor.txt\n"),
        Action.type("harbor"),
        Action(ActionKind.ANSWER, text="now"),
        Action.key("ctrl", "s"),
        Action.wait(),
        Action.done(),
    ],
)
def test_kinds_survive(action: Action) -> None:
    assert there_and_back(action, blank()) == action


@pytest.mark.parametrize(
    "action",
    [
        Action.type("not in the instruction"),
        Action.key("ctrl", "alt", "f7"),
        Action.click(Point(0.1, 0.1), button=Button.MIDDLE),
        Action.click(),
        Action.move(Point(0.1, 0.1)),
    ],
)
def test_what_can_not_be_said_is_refused(action: Action) -> None:
    with pytest.raises(ActionNotExpressible):
        there_and_back(action, blank())


def test_a_point_on_nothing_is_told_by_the_map() -> None:
    meta = MetaActions(SMALL)
    label = meta.label(Action.click(Point(0.99, 0.01)), Perception(SMALL).encode(blank()))
    assert label["target"] == meta.rows + GRID[0] - 1


def test_an_unknown_kind_is_a_config_error() -> None:
    manager = SMALL.manager.model_copy(update={"kinds": ("click", "dance")})
    with pytest.raises(ConfigError, match="dance"):
        MetaActions(SMALL.model_copy(update={"manager": manager}))
