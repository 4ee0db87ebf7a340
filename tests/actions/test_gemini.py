from __future__ import annotations

import pytest

from operant.actions import gemini
from operant.errors import ActionParseError
from operant.types import Action, ActionKind, Button, Point, ScrollUnit, Size

SCREEN = Size(1280, 800)
AT, TO = Point(0.1, 0.2), Point(0.3, 0.4)
XY = {"y": 200, "x": 100}


@pytest.mark.parametrize(
    ("name", "args", "actions"),
    [
        ("click", {**XY, "intent": "Open it"}, [Action.click(AT)]),
        ("click", {"y": "200", "x": "100"}, [Action.click(AT)]),
        ("click", {"y": 1000, "x": 0}, [Action.click(Point(0, 0.999))]),
        (
            "right_click",
            {**XY, "safety_decision": {"decision": "x"}},
            [Action.click(AT, button=Button.RIGHT)],
        ),
        ("triple_click", XY, [Action.click(AT, clicks=3)]),
        ("mouse_down", XY, [Action(ActionKind.MOUSE_DOWN, point=AT)]),
        ("type", {"text": "Hi"}, [Action.type("Hi")]),
        ("type", {"text": "Hi", "press_enter": "true"}, [Action.type("Hi\n")]),
        (
            "drag_and_drop",
            {"start_y": 200, "start_x": 100, "end_y": 400, "end_x": 300},
            [Action.drag(AT, TO)],
        ),
        ("scroll", {**XY, "direction": "down"}, [Action.scroll(AT, dy=300.0, unit=ScrollUnit.PIXEL)]),
        ("press_key", {"key": "Enter"}, [Action.key("enter")]),
        ("hotkey", {"keys": ["Control", "A"]}, [Action.key("ctrl", "a")]),
        ("hotkey", {"keys": '["Control", "A"]'}, [Action.key("ctrl", "a")]),
        ("wait", {}, [Action.wait(1.0)]),
        ("wait", {"seconds": 300}, [Action.wait(60.0)]),
        ("take_screenshot", {}, [Action(ActionKind.SCREENSHOT)]),
        ("click_at", XY, [Action.click(AT)]),
        ("hover_at", XY, [Action.move(AT)]),
        (
            "type_text_at",
            {**XY, "text": "Hi"},
            [Action.click(AT), Action.key("ctrl", "a"), Action.key("backspace"), Action.type("Hi\n")],
        ),
        (
            "type_text_at",
            {**XY, "text": "Hi", "press_enter": False, "clear_before_typing": False},
            [Action.click(AT), Action.type("Hi")],
        ),
        ("key_combination", {"keys": "Control+A"}, [Action.key("ctrl", "a")]),
        ("scroll_document", {"direction": "down"}, [Action.key("pagedown")]),
        ("scroll_at", {**XY, "direction": "up"}, [Action.scroll(AT, dy=-640.0, unit=ScrollUnit.PIXEL)]),
        (
            "drag_and_drop",
            {**XY, "destination_y": 400, "destination_x": 300},
            [Action.drag(AT, TO)],
        ),
        ("wait_5_seconds", {}, [Action.wait(5.0)]),
        ("go_back", {}, [Action.key("alt", "left")]),
        ("navigate", {"url": "example.org"}, [Action.key("ctrl", "l"), Action.type("example.org\n")]),
        ("search", {}, [Action(ActionKind.CALL, function="search")]),
    ],
)
def test_examples(name: str, args: dict[str, object], actions: list[Action]) -> None:
    for dialect in (gemini.DIALECT, gemini.BROWSER):
        assert dialect.parse({"name": name, "args": args}, SCREEN) == actions


@pytest.mark.parametrize(
    ("payload", "quoted"),
    [
        ({"name": "clik", "args": XY}, "clik"),
        ({"name": "click", "args": {"x": 1}}, "1"),
        ({"name": "click", "args": {}}, "click"),
        ({"name": "click", "args": {"x": 1, "y": 1001}}, "1001"),
        ({"name": "click", "args": {**XY, "force": 1}}, "force"),
        ({"name": "scroll", "args": {**XY, "direction": "in"}}, "in"),
        ({"args": XY}, "None"),
        ("click", "click"),
    ],
)
def test_errors_quote_the_part(payload: object, quoted: str) -> None:
    with pytest.raises(ActionParseError) as caught:
        gemini.DIALECT.parse(payload, SCREEN)
    assert quoted in caught.value.offending
