from __future__ import annotations

import json

import pytest

from operant.actions import qwen
from operant.actions.dialect import Dialect
from operant.errors import ActionParseError
from operant.types import Action, ActionKind, Button, Point, ScrollUnit, Size

SCREEN = Size(1288, 812)
VERSIONS = [qwen.VERSION_2_5, qwen.VERSION_3, qwen.VERSION_3_5]
UP = Action.scroll(dy=-300.0, unit=ScrollUnit.PIXEL)
EXAMPLES: list[tuple[dict[str, object], Action]] = [
    ({"action": "left_click"}, Action.click()),
    ({"action": "left_click", "text": "ctrl+shift"}, Action.click(modifiers=("ctrl", "shift"))),
    ({"action": "right_click", "coordinate": None}, Action.click(button=Button.RIGHT)),
    ({"action": "key", "keys": ["ctrl", "a"]}, Action.key("ctrl", "a")),
    ({"action": "key", "keys": '["ctrl", "a"]'}, Action.key("ctrl", "a")),
    ({"action": "type", "text": "Hi\nyou"}, Action.type("Hi\nyou")),
    ({"action": "scroll", "pixels": 300}, UP),
    ({"action": "scroll", "pixels": "300"}, UP),
    ({"action": "hscroll", "pixels": 300}, Action.scroll(dx=300.0, unit=ScrollUnit.PIXEL)),
    ({"action": "wait", "time": 300}, Action.wait(60.0)),
    ({"action": "terminate", "status": "success"}, Action.done()),
    ({"action": "terminate", "status": "failure"}, Action.fail()),
    ({"action": "answer", "text": "42"}, Action(ActionKind.ANSWER, text="42")),
]


def as_xml(arguments: dict[str, object]) -> str:
    values = {n: v if isinstance(v, str) else json.dumps(v) for n, v in arguments.items() if v is not None}
    body = "\n".join(f"<parameter={name}>\n{value}\n</parameter>" for name, value in values.items())
    return f"<tool_call>\n<function=computer_use>\n{body}\n</function>\n</tool_call>"


@pytest.mark.parametrize("dialect", VERSIONS, ids=lambda one: one.title)
@pytest.mark.parametrize(("arguments", "action"), EXAMPLES)
def test_every_version_reads_every_form(
    dialect: Dialect, arguments: dict[str, object], action: Action
) -> None:
    call = {"name": "computer_use", "arguments": arguments}
    text = json.dumps(call)
    for payload in (
        f"<tool_call>\n{text}\n</tool_call>",
        f"Action: Do it.\n<tool_call>\n{text}",
        f"<think>so</think>```json\n{text}\n```",
        text,
        json.dumps(arguments),
        as_xml(arguments),
        as_xml(arguments).removesuffix("\n</function>\n</tool_call>"),
        call,
        {"type": "function", "function": {"name": "computer_use", "arguments": json.dumps(arguments)}},
    ):
        assert dialect.parse(payload, SCREEN) == [action]


def test_what_coordinates_count() -> None:
    said = '<tool_call>{"name": "computer_use", "arguments": {"action": "mouse_move", "coordinate": "[322, 203]"}}'
    assert qwen.VERSION_2_5.parse(said, SCREEN) == [Action.move(Point.from_pixel(322, 203, SCREEN))]
    assert qwen.VERSION_3.parse(said, SCREEN) == [Action.move(Point(0.322, 0.203))]
    edge = said.replace("[322, 203]", "[1288, 812]")
    assert qwen.VERSION_2_5.parse(edge, SCREEN) == [Action.move(Point.from_pixel(1287, 811, SCREEN))]


def test_several_calls() -> None:
    first, second = as_xml({"action": "left_click"}), as_xml({"action": "type", "text": "a"})
    assert qwen.VERSION_3_5.parse(f"{first}\n{second}", SCREEN) == [Action.click(), Action.type("a")]


@pytest.mark.parametrize(
    "said",
    [
        "I am done.",
        "<tool_call></tool_call>",
        '<tool_call>{"name": "computer_use"',
        '{"name": "browser_use", "arguments": {"action": "left_click"}}',
        '{"name": "computer_use", "arguments": {"action": "fly"}}',
        '{"name": "computer_use", "arguments": {"action": "left_click", "coordinate": [1]}}',
        '{"name": "computer_use", "arguments": {"action": "terminate", "status": "perhaps"}}',
        '{"name": "computer_use", "arguments": {"action": "type"}}',
    ],
)
def test_refused(said: str) -> None:
    for dialect in VERSIONS:
        with pytest.raises(ActionParseError):
            dialect.parse(said, SCREEN)
