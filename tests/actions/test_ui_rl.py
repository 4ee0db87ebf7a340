from __future__ import annotations

import pytest
from hypothesis import given

from operant.actions import ui_rl
from operant.errors import ActionParseError
from operant.types import Action, ActionKind, Button, Point, Size

from . import round_trip
from .strategies import has_pyautogui_names, is_plain, is_whole, on_screen, quick

SCREEN = Size(1280, 800)
AT = Point.from_pixel(100, 200, SCREEN)


def said(action_type: str, **parameters: object) -> dict[str, object]:
    return {"action_type": action_type, **parameters}


@pytest.mark.parametrize(
    ("payload", "action"),
    [
        (said("screenshot"), Action(ActionKind.SCREENSHOT)),
        (said("mouse_move", x=100, y=200), Action.move(AT)),
        (said("left_click", x=100, y=200, delay=1.0), Action.click(AT)),
        (said("right_click", x=100, y=200), Action.click(AT, button=Button.RIGHT)),
        (said("double_click", x=100, y=200), Action.click(AT, clicks=2)),
        (said("triple_click", x=100, y=200), Action.click(AT, clicks=3)),
        (said("type", text="a+b\n"), Action.type("a+b\n")),
        (said("type", text="a", x=5, y=None), Action.type("a")),
        (said("keys", keys="ctrl+c"), Action.key("ctrl", "c")),
        (said("keys", keys="ctrl++"), Action.key("ctrl", "+")),
        (said("keys", keys="Enter"), Action.key("enter")),
        (said("scroll", direction="down"), Action.scroll(dy=3.0)),
        (said("scroll", direction="up", x=100, y=200), Action.scroll(AT, dy=-3.0)),
    ],
)
def test_examples(payload: object, action: Action) -> None:
    assert ui_rl.parse(payload, SCREEN) == [action]


@pytest.mark.parametrize(
    ("payload", "complaint"),
    [
        (said("left_klick", x=1, y=1), "did you mean 'left_click'"),
        (said("left_click"), "left_click needs x"),
        (said("left_click", x=1), "left_click needs y"),
        (said("left_click", x=1280, y=0), "off the 1280x800 screen"),
        (said("left_click", x=-1, y=0), "off the 1280x800 screen"),
        (said("left_click", x="1", y=0), "not a number"),
        (said("type"), "type needs text"),
        (said("keys", keys="ctrl+nonesuch"), "unknown key"),
        (said("scroll"), "scroll needs direction"),
        (said("scroll", direction="sideways"), "unknown direction"),
        (said("screenshot", command="rm"), "takes no such field"),
        ({}, "needs action_type"),
        ([], "not an object"),
    ],
)
def test_complaints(payload: object, complaint: str) -> None:
    with pytest.raises(ActionParseError) as raised:
        ui_rl.parse(payload, SCREEN)
    assert complaint in str(raised.value)


def can_say(action: Action) -> bool:
    match action.kind:
        case ActionKind.SCREENSHOT:
            return action.region is None
        case ActionKind.MOVE:
            return True
        case ActionKind.CLICK:
            once = action.button is Button.RIGHT and action.clicks == 1 and not action.modifiers
            return action.point is not None and (once or is_plain(action))
        case ActionKind.SCROLL:
            return is_whole(action) and not action.modifiers and not action.dx and abs(action.dy) == 3
        case ActionKind.TYPE:
            return True
        case ActionKind.KEY:
            return has_pyautogui_names(action.keys)
    return False


@quick
@given(on_screen)
def test_round_trip(pair: tuple[Action, Size]) -> None:
    round_trip.check(ui_rl, pair[0], pair[1], can_say)
