from __future__ import annotations

import pytest
from hypothesis import given

from operant.actions import openai
from operant.errors import ActionParseError
from operant.types import Action, ActionKind, Button, Point, ScrollUnit, Size

from . import round_trip
from .strategies import is_plain, is_whole, on_screen, quick

SCREEN = Size(1280, 800)
AT = Point.from_pixel(100, 200, SCREEN)
TO = Point.from_pixel(300, 400, SCREEN)
XY = {"x": 100, "y": 200}


@pytest.mark.parametrize(
    ("payload", "action"),
    [
        ({"type": "click", **XY, "button": "left"}, Action.click(AT)),
        ({"type": "click", **XY, "button": "wheel"}, Action.click(AT, button=Button.MIDDLE)),
        ({"type": "click", **XY, "button": "back", "keys": None}, Action.click(AT, button=Button.BACK)),
        (
            {"type": "click", **XY, "button": "left", "keys": ["CTRL", "SHIFT"]},
            Action.click(AT, modifiers=("ctrl", "shift")),
        ),
        ({"type": "double_click", **XY, "keys": []}, Action.click(AT, clicks=2)),
        ({"type": "drag", "path": [XY, {"x": 300, "y": 400}]}, Action.drag(AT, TO)),
        (
            {"type": "drag", "path": [XY, {"x": 300, "y": 400}], "keys": ["ALT"]},
            Action.drag(AT, TO, modifiers=("alt",)),
        ),
        ({"type": "keypress", "keys": ["CTRL", "C"]}, Action.key("ctrl", "c")),
        ({"type": "keypress", "keys": ["ARROWLEFT"]}, Action.key("left")),
        ({"type": "keypress", "keys": ["CMD", "ENTER"]}, Action.key("super", "enter")),
        ({"type": "move", **XY}, Action.move(AT)),
        ({"type": "screenshot"}, Action(ActionKind.SCREENSHOT)),
        (
            {"type": "scroll", **XY, "scroll_x": -20, "scroll_y": 300},
            Action.scroll(AT, dx=-20.0, dy=300.0, unit=ScrollUnit.PIXEL),
        ),
        ({"type": "type", "text": "Hi"}, Action.type("Hi")),
        ({"type": "wait"}, Action.wait(2.0)),
        (
            {"type": "computer_call", "id": "cu_1", "status": "completed", "action": {"type": "wait"}},
            Action.wait(2.0),
        ),
        ({"type": "drag", "path": [[100, 200], [300, 400]], "keys": None}, Action.drag(AT, TO)),
        ({"type": "drag", "path": "[[100, 200], [300, 400]]"}, Action.drag(AT, TO)),
        ({"type": "keypress", "keys": ["CTRL", "A"]}, Action.key("ctrl", "a")),
        ({"type": "keypress", "keys": ["CTRL+A"]}, Action.key("ctrl", "a")),
        ({"type": "keypress", "keys": "CTRL + A"}, Action.key("ctrl", "a")),
        ({"type": "keypress", "keys": ["ctrl-l"]}, Action.key("ctrl", "l")),
        ({"type": "keypress", "keys": ["CTRL", "+"]}, Action.key("ctrl", "+")),
        ({"type": "keypress", "keys": ["-"]}, Action.key("-")),
        ({"type": "click", "x": "100", "y": "200"}, Action.click(AT)),
        ({"type": "click", "x": 1280, "y": 800}, Action.click(Point.from_pixel(1279, 799, SCREEN))),
    ],
)
def test_examples(payload: object, action: Action) -> None:
    assert openai.parse(payload, SCREEN) == [action]


def test_a_batch() -> None:
    call = {
        "type": "computer_call",
        "call_id": "1",
        "actions": [{"type": "click", **XY}, {"type": "screenshot"}],
    }
    assert openai.parse(call, SCREEN) == [Action.click(AT), Action(ActionKind.SCREENSHOT)]


def test_keys_held_during_a_move() -> None:
    down, up = Action(ActionKind.KEY_DOWN, keys=("ctrl", "a")), Action(ActionKind.KEY_UP, keys=("a", "ctrl"))
    assert openai.parse({"type": "move", **XY, "keys": ["CTRL", "A"]}, SCREEN) == [down, Action.move(AT), up]


@pytest.mark.parametrize(
    ("payload", "quoted"),
    [
        ({"type": "click", "x": 100, "y": 801}, "801"),
        ({"type": "click", "x": 100}, "click"),
        ({"type": "click"}, "action"),
        ({"type": "click", **XY, "button": "middle"}, "middle"),
        ({"type": "clack", **XY}, "clack"),
        ({"type": "drag", "path": [XY]}, "100"),
        ({"type": "drag", "path": [XY, [1, 2, 3]]}, "[1, 2, 3]"),
        ({"type": "drag", "path": "from here to there"}, "from here"),
        ({"type": "drag", "path": [XY, {**XY, "z": 1}]}, "z"),
        ({"type": "keypress", "keys": []}, "keypress"),
        ({"type": "keypress", "keys": 5}, "5"),
        ({"type": "keypress", "keys": "CTRL+"}, "CTRL+"),
        ({"type": "keypress", "keys": ["HYPERDRIVE"]}, "HYPERDRIVE"),
        ({"type": "type", "text": "a", "keys": ["CTRL"]}, "ctrl"),
        ({"type": "scroll", **XY, "scroll_y": "3 notches"}, "3 notches"),
        ({"type": "wait", "ms": 5}, "ms"),
        ({"type": "computer_call"}, "None"),
        ({"type": "computer_call", "actions": []}, "[]"),
        (5, "5"),
    ],
)
def test_errors_quote_the_part(payload: object, quoted: str) -> None:
    with pytest.raises(ActionParseError) as caught:
        openai.parse(payload, SCREEN)
    assert quoted in caught.value.offending


def can_say(action: Action) -> bool:
    lower = all(key == key.lower() for key in (*action.keys, *action.modifiers))
    match action.kind:
        case ActionKind.CLICK:
            twice = action.clicks == 2 and action.button is Button.LEFT
            return action.point is not None and lower and (action.clicks == 1 or twice)
        case ActionKind.DRAG:
            return (
                len(action.path) > 1
                and is_plain(Action.drag(AT, button=action.button, duration=action.duration))
                and lower
            )
        case ActionKind.SCROLL:
            return action.point is not None and is_whole(action, ScrollUnit.PIXEL) and lower
        case ActionKind.WAIT:
            return action.duration == 2.0
        case ActionKind.SCREENSHOT:
            return action.region is None
    return action.kind in (ActionKind.MOVE, ActionKind.KEY, ActionKind.TYPE) and lower


@quick
@given(on_screen)
def test_round_trip(drawn: tuple[Action, Size]) -> None:
    round_trip.check(openai, *drawn, can_say)


def test_declarations() -> None:
    assert openai.declaration() == {"type": "computer"}
    assert openai.declaration(SCREEN, "ubuntu") == {
        "type": "computer_use_preview",
        "display_width": 1280,
        "display_height": 800,
        "environment": "ubuntu",
    }
    with pytest.raises(ActionParseError, match="unknown environment"):
        openai.declaration(SCREEN, "amiga")
