"""From the oracle's action to the manager's terms and back."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from operant.agents.hierarchical.config import EncoderConfig, HierarchicalConfig
from operant.agents.hierarchical.meta_actions import GRID, HELD, MetaActions
from operant.agents.hierarchical.perception import Perception
from operant.agents.hierarchical.policy import HierarchicalPolicy
from operant.agents.hierarchical.rows import read_rows
from operant.errors import ActionNotExpressible, ConfigError
from operant.types import Action, ActionKind, Button, Node, Observation, Point, Window

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


def text_view() -> Observation:
    """A text of two lines and an empty one, and a wide cell of a table below it."""

    def node(role: str, name: str, box: tuple[int, int, int, int], *children: Node) -> Node:
        return Node(role, name, frozenset({"focusable"}), box, children=children)

    lines = (node("line", "apples", (200, 100, 60, 18)), node("line", "pears", (200, 118, 50, 18)))
    lines += (node("line", "nothing", (200, 136, 0, 18)),)
    text = node("text", "notes", (200, 100, 600, 300), *lines)
    cell = node("table cell", "apples", (200, 500, 700, 21))
    return replace(
        blank("Delete the line of pears"), tree=node("frame", "editor", (100, 80, 900, 600), text, cell)
    )


@pytest.mark.parametrize(
    ("x", "y", "name", "offset"),
    [
        (220, 127, "pears", (0.4, 0.5)),
        (600, 127, "pears", (1.08, 0.5)),  # at its end, where the cursor goes
        (200, 145, "nothing", (0.0, 0.5)),
        (221, 510, "apples", (0.03, 10 / 21)),  # at the beginning of a wide thing
        (600, 300, "notes", (2 / 3, 2 / 3)),
    ],
)
def test_a_place_is_told_by_the_smallest_thing_there(
    x: int, y: int, name: str, offset: tuple[float, float]
) -> None:
    observation = text_view()
    label = MetaActions(SMALL).label(
        Action.click(Point(x / 1280, y / 800)), Perception(SMALL).encode(observation)
    )
    row = read_rows(observation, SMALL.encoder.widgets, frozenset())[int(label["target"])]
    assert row.name == name
    assert label["offset"] == pytest.approx(offset, abs=1e-4)


def test_where_a_drag_ends_in_something_large_is_told_by_the_map() -> None:
    meta = MetaActions(SMALL)
    drag = Action.drag(Point(220 / 1280, 127 / 800), Point(600 / 1280, 300 / 800))
    label = meta.label(drag, Perception(SMALL).encode(text_view()))
    assert label["target"] < meta.rows
    assert label["end"] >= meta.rows


@pytest.mark.parametrize(
    ("held", "x", "y"),
    [("top left", 0, 0), ("top right", 1280, 0), ("bottom right", 1280, 800), ("top left", 640, 400)],
)
@pytest.mark.parametrize("grip", [0.1, 0.4, 0.7])
def test_a_window_is_put_by_its_corner_wherever_it_is_held(held: str, x: int, y: int, grip: float) -> None:
    window = Window(1, "notes", "Mousepad", 1, 300, 260, 400, 300, True)
    seen = Perception(SMALL).encode(replace(blank(), windows=(window,)))
    frame = {"top left": (299, 240), "top right": (701, 240), "bottom right": (701, 565)}[held]
    start = Point((300 + 400 * grip) / 1280, 250 / 800)
    end = Point(start.x + (x - frame[0]) / 1280, start.y + (y - frame[1]) / 800)
    label = MetaActions(SMALL).label(Action.drag(start, end), seen)
    assert HELD[int(label["held"])] == held
    # Where that cell is does not depend on where the window was held, and leads the hand to the same place.
    pointing = HierarchicalPolicy(SMALL).manager.pointing
    batch = {name: torch.from_numpy(part[None]) for name, part in {**seen, **label}.items()}
    goal = pointing._point(batch["end"], batch["end_offset"], batch)
    assert (goal[0] * torch.tensor([1280, 800])).tolist() == pytest.approx([x, y], abs=0.5)
    hand = pointing._hand(batch["point"], goal, batch["held"], batch["target"], batch)
    assert hand[0].tolist() == pytest.approx([end.x, end.y], abs=1e-3)


def test_an_unknown_kind_is_a_config_error() -> None:
    manager = SMALL.manager.model_copy(update={"kinds": ("click", "dance")})
    with pytest.raises(ConfigError, match="dance"):
        MetaActions(SMALL.model_copy(update={"manager": manager}))
