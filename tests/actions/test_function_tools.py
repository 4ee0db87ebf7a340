from __future__ import annotations

import json

import pytest

from operant.actions import function_tools
from operant.actions.coordinates import Units
from operant.actions.function_tools import CARRIES, DIALECT, FUNCTIONS
from operant.errors import ActionParseError
from operant.types import Action, ActionKind, Button, Point, Size

SCREEN = Size(1280, 800)
AT = Point(0.1, 0.2)


@pytest.mark.parametrize(
    ("name", "arguments", "action"),
    [
        ("click", {"x": 100, "y": 200}, Action.click(AT)),
        ("click", {"x": "100", "y": " 200 "}, Action.click(AT)),
        ("click", {}, Action.click()),
        (
            "click",
            {"x": 100, "y": 200, "button": "right", "clicks": 2, "modifiers": "ctrl+shift"},
            Action.click(AT, button=Button.RIGHT, clicks=2, modifiers=("ctrl", "shift")),
        ),
        ("drag", {"path": [[100, 200], {"x": 500, "y": 500}]}, Action.drag(AT, Point(0.5, 0.5))),
        ("drag", {"path": "[[100, 200], [500, 500]]"}, Action.drag(AT, Point(0.5, 0.5))),
        ("scroll", {"direction": "DOWN"}, Action.scroll(None, dy=5.0)),
        ("scroll", {"x": 100, "y": 200, "direction": "left", "amount": "3"}, Action.scroll(AT, dx=-3.0)),
        ("key", {"keys": ["CTRL", "A"]}, Action.key("ctrl", "a")),
        ("key", {"keys": "ctrl+a"}, Action.key("ctrl", "a")),
        (
            "hold",
            {"keys": ["shift"], "seconds": 300},
            Action(ActionKind.HOLD, keys=("shift",), duration=60.0),
        ),
        ("wait", {}, Action.wait(1.0)),
        ("type", {"text": "Hi\n"}, Action.type("Hi\n")),
        ("screenshot", {}, Action(ActionKind.SCREENSHOT)),
        (
            "screenshot",
            {"region": "[0, 0, 500, 1000]"},
            Action(ActionKind.SCREENSHOT, region=(Point(0, 0), Point(0.5, 1))),
        ),
        ("answer", {"text": "42"}, Action(ActionKind.ANSWER, text="42")),
        ("infeasible", {"reason": "No such file"}, Action.fail("No such file")),
        ("infeasible", {}, Action.fail()),
        ("done", {"summary": "All well"}, Action.done()),
        ("ask", {"question": "Which?"}, Action(ActionKind.ASK, text="Which?")),
        (
            "call",
            {"function": "CalcTools.save", "args": [1], "kwargs": {"a": None}},
            Action(ActionKind.CALL, function="CalcTools.save", args=(1,), kwargs=(("a", None),)),
        ),
    ],
)
def test_examples_in_every_usual_shape(name: str, arguments: dict[str, object], action: Action) -> None:
    text = json.dumps(arguments)
    for payload in (
        {"name": name, "arguments": arguments},
        {"id": "c1", "type": "function", "function": {"name": name, "arguments": text}},
        {"type": "function_call", "call_id": "c1", "name": name, "arguments": text},
        {"functionCall": {"name": name, "args": arguments}},
    ):
        assert DIALECT.parse(payload, SCREEN) == [action]


def test_a_model_that_counts_pixels() -> None:
    (click,) = DIALECT.parse({"name": "click", "arguments": {"x": 1280, "y": 0}}, SCREEN, Units.PIXELS)
    assert click.point == Point.from_pixel(1279, 0, SCREEN)


@pytest.mark.parametrize(
    ("name", "arguments", "quoted"),
    [
        ("clik", {}, "clik"),
        ("click", {"x": 1}, "1"),
        ("click", {"x": 1, "y": 1001}, "1001"),
        ("click", {"x": 1, "y": 1, "force": 2}, "force"),
        ("click", {"clicks": 4}, "4"),
        ("move", {}, "{}"),
        ("drag", {"path": []}, "[]"),
        ("scroll", {"direction": "in"}, "in"),
        ("scroll", {"direction": "up", "amount": -1}, "-1"),
        ("screenshot", {"region": ["a", 1, 2, 3]}, "a"),
        ("key", {"keys": []}, "[]"),
        ("answer", {}, "{}"),
        ("call", {"function": "f", "args": 3}, "3"),
    ],
)
def test_errors_quote_the_part(name: str, arguments: dict[str, object], quoted: str) -> None:
    with pytest.raises(ActionParseError) as caught:
        DIALECT.parse({"name": name, "arguments": arguments}, SCREEN)
    assert quoted in caught.value.offending


def test_every_kind_has_a_function_and_its_parameters_are_those_that_are_written() -> None:
    tools = {tool["function"]["name"]: tool["function"] for tool in DIALECT.tools(SCREEN)}
    assert set(tools) == set(FUNCTIONS)
    assert len(FUNCTIONS) == len(CARRIES)
    full = {
        "click": Action.click(AT, button=Button.RIGHT, clicks=2, modifiers=("ctrl",)),
        "drag": Action.drag(AT, Point(1, 1), button=Button.RIGHT),
        "scroll": Action.scroll(AT, dy=3.0, modifiers=("ctrl",)),
        "hold": Action(ActionKind.HOLD, keys=("a",), duration=2.0),
        "screenshot": Action(ActionKind.SCREENSHOT, region=(Point(0, 0), Point(0.5, 1))),
        "infeasible": Action.fail("no"),
    }
    for name, action in full.items():
        said = function_tools.write(action, DIALECT.grid(SCREEN))
        assert said["name"] == name
        assert set(said["arguments"]) <= set(tools[name]["parameters"]["properties"])
        assert set(tools[name]["parameters"]["required"]) <= set(said["arguments"])
