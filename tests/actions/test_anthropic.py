from __future__ import annotations

import pytest
from hypothesis import given

from operant.actions import anthropic
from operant.errors import ActionParseError
from operant.types import Action, ActionKind, Button, Point, Size

from . import round_trip
from .strategies import is_plain, is_whole, on_screen, quick

SCREEN = Size(1280, 800)
AT = Point.from_pixel(100, 200, SCREEN)
TO = Point.from_pixel(300, 400, SCREEN)
XY = [100, 200]


def member(name: str, **given: object) -> dict[str, object]:
    """A call of the toolset, as it stands in an answer."""
    return {"type": "tool_use", "id": "toolu_1", "name": name, "toolset_name": "computer", "input": given}


@pytest.mark.parametrize(
    ("payload", "action"),
    [
        ({"action": "key", "text": "ctrl+shift+t"}, Action.key("ctrl", "shift", "t")),
        ({"action": "key", "text": "Return"}, Action.key("enter")),
        ({"action": "key", "text": " "}, Action.key("space")),
        ({"action": "key", "text": "ctrl++"}, Action.key("ctrl", "+")),
        ({"action": "type", "text": "Hi\n"}, Action.type("Hi\n")),
        ({"action": "mouse_move", "coordinate": XY}, Action.move(AT)),
        ({"action": "left_click"}, Action.click()),
        ({"action": "left_click", "coordinate": XY, "text": "shift"}, Action.click(AT, modifiers=("shift",))),
        ({"action": "right_click", "coordinate": XY}, Action.click(AT, button=Button.RIGHT)),
        ({"action": "middle_click", "coordinate": XY}, Action.click(AT, button=Button.MIDDLE)),
        ({"action": "double_click", "coordinate": XY, "text": None}, Action.click(AT, clicks=2)),
        ({"action": "triple_click", "coordinate": XY}, Action.click(AT, clicks=3)),
        (
            {"action": "left_click_drag", "start_coordinate": XY, "coordinate": [300, 400]},
            Action.drag(AT, TO),
        ),
        ({"action": "left_click_drag", "coordinate": [300, 400]}, Action.drag(TO)),
        ({"action": "left_mouse_down"}, Action(ActionKind.MOUSE_DOWN)),
        ({"action": "left_mouse_up"}, Action(ActionKind.MOUSE_UP)),
        (
            {
                "action": "scroll",
                "coordinate": XY,
                "scroll_direction": "down",
                "scroll_amount": 3,
                "text": "ctrl",
            },
            Action.scroll(AT, dy=3.0, modifiers=("ctrl",)),
        ),
        ({"action": "scroll", "scroll_direction": "left", "scroll_amount": 2}, Action.scroll(dx=-2.0)),
        (
            {"action": "hold_key", "text": "shift", "duration": 1.5},
            Action(ActionKind.HOLD, keys=("shift",), duration=1.5),
        ),
        ({"action": "wait", "duration": 2}, Action.wait(2.0)),
        ({"action": "screenshot"}, Action(ActionKind.SCREENSHOT)),
        ({"action": "cursor_position"}, Action(ActionKind.CALL, function="cursor_position")),
        (
            {"action": "zoom", "region": [0, 200, 640, 800]},
            Action(ActionKind.SCREENSHOT, region=(Point(0, 0.25), Point(0.5, 1))),
        ),
        (
            {"type": "tool_use", "id": "1", "name": "computer", "input": {"action": "left_click"}},
            Action.click(),
        ),
        # The toolset of 2026, and forms that only differ from the documented ones.
        (member("left_click", coordinate=XY, text="ctrl"), Action.click(AT, modifiers=("ctrl",))),
        (member("screenshot"), Action(ActionKind.SCREENSHOT)),
        (
            {"name": "zoom", "toolset_name": "computer", "input": {"region": "[0, 200, 640, 800]"}},
            Action(ActionKind.SCREENSHOT, region=(Point(0, 0.25), Point(0.5, 1))),
        ),
        (
            {
                "action": "left_click_drag",
                "start_coordinate": XY,
                "coordinate": [300, 400],
                "text": "ctrl+shift",
            },
            Action.drag(AT, TO, modifiers=("ctrl", "shift")),
        ),
        ({"action": "left_click", "coordinate": XY, "key": "shift"}, Action.click(AT, modifiers=("shift",))),
        ({"action": "wait", "duration": 300}, Action.wait(60.0)),
        (
            {"action": "hold_key", "text": "a", "duration": 300},
            Action(ActionKind.HOLD, keys=("a",), duration=60.0),
        ),
        (
            {"action": "left_click", "coordinate": [1280, 800]},
            Action.click(Point.from_pixel(1279, 799, SCREEN)),
        ),
        ({"action": "left_click", "coordinate": "[100, 200]"}, Action.click(AT)),
        ({"action": "left_click", "coordinate": ["100", "200.0"]}, Action.click(AT)),
        ({"action": "left_mouse_down", "coordinate": XY}, Action(ActionKind.MOUSE_DOWN, point=AT)),
        ({"action": "scroll", "scroll_direction": "up", "scroll_amount": "3"}, Action.scroll(dy=-3.0)),
    ],
)
def test_examples(payload: object, action: Action) -> None:
    assert anthropic.parse(payload, SCREEN) == [action]


def test_chords_one_after_another() -> None:
    actions = anthropic.parse({"action": "key", "text": "Down Down ctrl+a", "repeat": 2}, SCREEN)
    assert actions == [Action.key("down"), Action.key("down"), Action.key("ctrl", "a")] * 2


@pytest.mark.parametrize(
    ("payload", "quoted"),
    [
        ({"action": "left_click", "coordinate": [1281, 0]}, "1281"),
        ({"action": "left_click", "coordinate": [1, 2, 3]}, "[1, 2, 3]"),
        ({"action": "left_click", "coordinate": "12"}, "12"),
        ({"action": "left_click", "coordinates": XY}, "coordinates"),
        ({"action": "left_clik"}, "left_clik"),
        ({"action": "mouse_move"}, "mouse_move"),
        ({"action": "key"}, "key"),
        ({"action": "key", "text": "ctrl+nokey"}, "nokey"),
        ({"action": "type", "text": 5}, "5"),
        ({"action": "scroll", "scroll_direction": "sideways", "scroll_amount": 1}, "sideways"),
        ({"action": "scroll", "scroll_direction": "up", "scroll_amount": -1}, "-1"),
        ({"action": "scroll", "scroll_direction": "up"}, "scroll"),
        ({"action": "hold_key", "text": "a", "duration": 0}, "hold_key"),
        ({"action": "wait", "duration": -1}, "-1"),
        ({"action": "wait", "duration": "soon"}, "soon"),
        ({"action": "left_click", "text": "ctrl", "key": "shift"}, "ctrl"),
        ({"action": "left_click_drag", "coordinate": XY, "text": "nokey"}, "nokey"),
        ({"name": "left_click", "toolset_name": "browser", "input": {}}, "browser"),
        ({"name": "left_click", "toolset_name": "computer", "input": {"action": "key"}}, "key"),
        ({"name": "left_click", "toolset_name": "computer", "input": [1]}, "[1]"),
        ({"name": "bash", "toolset_name": "computer", "input": {}}, "bash"),
        ({"action": "zoom", "region": [5, 5, 5, 9]}, "[5, 5, 5, 9]"),
        ({"action": "zoom", "region": [0, 0, 1281, 9]}, "1281"),
        ({"action": "left_click_drag", "start_coordinate": XY}, "input"),
        ({"type": "tool_use"}, "None"),
        ("left_click", "left_click"),
    ],
)
def test_errors_quote_the_part(payload: object, quoted: str) -> None:
    with pytest.raises(ActionParseError) as caught:
        anthropic.parse(payload, SCREEN)
    assert quoted in caught.value.offending


def can_say(action: Action) -> bool:
    match action.kind:
        case ActionKind.CLICK if action.button is Button.LEFT:
            return True
        case ActionKind.CLICK:
            return action.clicks == 1 and action.button in (Button.RIGHT, Button.MIDDLE)
        case ActionKind.MOUSE_DOWN | ActionKind.MOUSE_UP:
            return is_plain(action) and action.point is None
        case ActionKind.DRAG:
            return action.button is Button.LEFT and not action.duration and len(action.path) <= 2
        case ActionKind.SCROLL:
            return is_whole(action) and not (action.dx and action.dy)
        case ActionKind.CALL:
            return action.function == "cursor_position" and not (action.args or action.kwargs)
    silent = "KEY_DOWN KEY_UP DONE FAIL ASK ANSWER"
    return action.kind.name not in silent.split()


@quick
@given(on_screen)
def test_round_trip(drawn: tuple[Action, Size]) -> None:
    round_trip.check(anthropic, *drawn, can_say)


@quick
@given(on_screen)
def test_round_trip_as_members_of_the_toolset(drawn: tuple[Action, Size]) -> None:
    action, screen = drawn
    if can_say(action):
        assert anthropic.parse(anthropic.render_member(action, screen), screen) == [action]


def test_a_turn_of_several_calls() -> None:
    calls = [member("left_click", coordinate=XY), member("type", text="a"), member("screenshot")]
    assert anthropic.parse(calls, SCREEN) == [
        Action.click(AT),
        Action.type("a"),
        Action(ActionKind.SCREENSHOT),
    ]


def test_declarations() -> None:
    assert anthropic.declaration("computer_toolset_20260801", SCREEN) == {"type": "computer_toolset_20260801"}
    assert anthropic.declaration("computer_toolset_20260801", SCREEN, zoom=False) == {
        "type": "computer_toolset_20260801",
        "configs": {"zoom": {"enabled": False}},
    }
    older = {"name": "computer", "display_width_px": 1280, "display_height_px": 800}
    zooms = anthropic.declaration("computer_20251124", SCREEN)
    assert zooms == {"type": "computer_20251124", **older, "enable_zoom": True}
    assert anthropic.declaration("computer_20250124", SCREEN) == {"type": "computer_20250124", **older}
    with pytest.raises(ActionParseError, match="unknown version"):
        anthropic.declaration("computer_19700101", SCREEN)
