from __future__ import annotations

import pytest
from hypothesis import given

from operant.actions import computer_13
from operant.errors import ActionParseError
from operant.types import Action, ActionKind, Button, Point, Size

from . import round_trip
from .strategies import has_pyautogui_names, is_plain, is_whole, on_screen, quick

SCREEN = Size(1920, 1080)
AT = Point.from_pixel(100, 200, SCREEN)


def said(action_type: str, **parameters: object) -> dict[str, object]:
    return {"action_type": action_type, "parameters": parameters}


@pytest.mark.parametrize(
    ("payload", "action"),
    [
        (said("MOVE_TO", x=100, y=200), Action.move(AT)),
        (said("CLICK"), Action.click()),
        (said("CLICK", x=100.9, y=200.0, button="right"), Action.click(AT, button=Button.RIGHT)),
        (said("CLICK", x=100, y=200, num_clicks=3), Action.click(AT, clicks=3)),
        (said("MOUSE_DOWN", button="middle"), Action(ActionKind.MOUSE_DOWN, button=Button.MIDDLE)),
        (said("MOUSE_UP"), Action(ActionKind.MOUSE_UP)),
        (said("RIGHT_CLICK", x=100, y=200), Action.click(AT, button=Button.RIGHT)),
        (said("DOUBLE_CLICK"), Action.click(clicks=2)),
        (said("DRAG_TO", x=100, y=200), Action.drag(AT)),
        (said("SCROLL", dx=2, dy=-5), Action.scroll(dx=2.0, dy=5.0)),
        (said("SCROLL", dy=3), Action.scroll(dy=-3.0)),
        (said("TYPING", text="a < b\n"), Action.type("a < b\n")),
        (said("PRESS", key="enter"), Action.key("enter")),
        (said("PRESS", key=" "), Action.key("space")),
        (said("KEY_DOWN", key="winleft"), Action(ActionKind.KEY_DOWN, keys=("super",))),
        (said("KEY_UP", key="shift"), Action(ActionKind.KEY_UP, keys=("shift",))),
        (said("HOTKEY", keys=["ctrl", "c"]), Action.key("ctrl", "c")),
        (said("WAIT"), Action.wait()),
        (said("FAIL"), Action.fail()),
        ({"action_type": "DONE"}, Action.done()),
        ("DONE", Action.done()),
        ({"action_type": "CLICK", "x": 100, "y": 200}, Action.click(AT)),
    ],
)
def test_examples(payload: object, action: Action) -> None:
    assert computer_13.parse(payload, SCREEN) == [action]


def test_a_list_of_actions() -> None:
    assert computer_13.parse([said("PRESS", key="a"), "WAIT"], SCREEN) == [Action.key("a"), Action.wait()]


@pytest.mark.parametrize(
    ("payload", "quoted"),
    [
        (said("CLICK", x=1920, y=0), "1920"),
        (said("CLICK", x=100), "100"),
        (said("CLICK", num_clicks=4), "num_clicks"),
        (said("CLICK", btn="left"), "btn"),
        (said("CLCK"), "CLCK"),
        (said("MOVE_TO"), "MOVE_TO"),
        (said("DRAG_TO", y=1), "y"),
        (said("PRESS", key="nokey"), "nokey"),
        (said("HOTKEY", keys="ctrl"), "ctrl"),
        (said("HOTKEY", keys=[]), "[]"),
        (said("TYPING", text=""), "text"),
        ("CLICK ME", "CLICK ME"),
        ({"parameters": {}}, "parameters"),
        (None, "None"),
        ([], "[]"),
    ],
)
def test_errors_quote_the_part(payload: object, quoted: str) -> None:
    with pytest.raises(ActionParseError) as caught:
        computer_13.parse(payload, SCREEN)
    assert quoted in caught.value.offending


def can_say(action: Action) -> bool:
    button = action.button not in (Button.BACK, Button.FORWARD)
    match action.kind:
        case ActionKind.CLICK:
            return button and not action.modifiers
        case ActionKind.MOUSE_DOWN | ActionKind.MOUSE_UP:
            return button and action.point is None
        case ActionKind.DRAG:
            return len(action.path) == 1 and is_plain(action)
        case ActionKind.SCROLL:
            return action.point is None and not action.modifiers and is_whole(action)
        case ActionKind.KEY:
            return has_pyautogui_names(action.keys)
        case ActionKind.KEY_DOWN | ActionKind.KEY_UP:
            return len(action.keys) == 1 and has_pyautogui_names(action.keys)
        case ActionKind.WAIT:
            return not action.duration
        case ActionKind.FAIL:
            return not action.text
    return action.kind in (ActionKind.MOVE, ActionKind.TYPE, ActionKind.DONE)


@quick
@given(on_screen)
def test_round_trip(drawn: tuple[Action, Size]) -> None:
    round_trip.check(computer_13, *drawn, can_say)
