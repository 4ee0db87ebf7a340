"""Qwen's ``computer_use``: ``<tool_call>{"name": "computer_use", "arguments": {"action": ...}}</tool_call>``.

Qwen2.5-VL counts pixels of the resized picture, Qwen3-VL thousandths; 3.5 and later write the same call as XML
(``<function=computer_use><parameter=action>...``). Every reader takes both forms, calls that a server has taken out
of the text, and a call whose closing tag was cut off. A positive scroll goes up. A drag starts at the pointer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from operant.actions.base import check_carried, check_length, refuse
from operant.actions.coordinates import Grid, Units
from operant.actions.dialect import Dialect
from operant.actions.frames import QWEN2_5_VL, QWEN3_VL
from operant.actions.json_text import json_in, json_safe
from operant.actions.lenient import LenientFields, chord
from operant.actions.payload import MAX_ITEMS, check_items, choose, malformed, quoting
from operant.actions.thinking import holds_thinking, without_thinking
from operant.actions.tool_calls import FunctionCall, function_calls
from operant.types import Action, ActionKind, Button, ScrollUnit

__all__ = ["CARRIES", "VERSION_2_5", "VERSION_3", "VERSION_3_5"]

_NAME = "qwen"
_TOOL = "computer_use"
CARRIES: Mapping[ActionKind, str] = {
    ActionKind.MOVE: "point",
    ActionKind.CLICK: "point button clicks",
    ActionKind.DRAG: "path",
    ActionKind.SCROLL: "point dx dy unit",
    ActionKind.KEY: "keys",
    ActionKind.TYPE: "text",
    ActionKind.WAIT: "duration!",
    ActionKind.DONE: "",
    ActionKind.FAIL: "",
    ActionKind.ANSWER: "text",
}
_OLDER: Mapping[ActionKind, str] = {
    kind: fields for kind, fields in CARRIES.items() if kind is not ActionKind.ANSWER
}
_WITH_MODIFIERS: Mapping[ActionKind, str] = {**CARRIES, ActionKind.CLICK: "point button clicks modifiers"}
_CLICKS: Mapping[str, tuple[Button, int]] = {
    "left_click": (Button.LEFT, 1),
    "right_click": (Button.RIGHT, 1),
    "middle_click": (Button.MIDDLE, 1),
    "double_click": (Button.LEFT, 2),
    "triple_click": (Button.LEFT, 3),
}
_ACTIONS: Mapping[str, ActionKind] = {
    **dict.fromkeys(_CLICKS, ActionKind.CLICK),
    "key": ActionKind.KEY,
    "type": ActionKind.TYPE,
    "mouse_move": ActionKind.MOVE,
    "left_click_drag": ActionKind.DRAG,
    "scroll": ActionKind.SCROLL,
    "hscroll": ActionKind.SCROLL,
    "wait": ActionKind.WAIT,
    "terminate": ActionKind.DONE,
    "answer": ActionKind.ANSWER,
}
_STATUS = {"success": ActionKind.DONE, "failure": ActionKind.FAIL, "fail": ActionKind.FAIL}
_CALL = re.compile(r"<tool_call>(.*?)(?:</tool_call>|\Z)", re.DOTALL)
_FUNCTION = re.compile(r"<function=([\w.]{1,60})>(.*?)(?:</function>|\Z)", re.DOTALL)
# A value ends before the next parameter: else every one that is not closed would be looked for to the end.
_PARAMETER = re.compile(r"<parameter=(\w{1,60})>((?:(?!<parameter=).)*?)</parameter>", re.DOTALL)
_TAG = re.compile(r"</?(?:tool_call|function|parameter)\b")


def read(payload: object, grid: Grid) -> list[Action]:
    """The actions of a reply, or of calls that a server found in it."""
    calls = _calls(without_thinking(payload)) if isinstance(payload, str) else function_calls(payload)
    return [_action(call, grid) for call in calls]


def _calls(text: str) -> list[FunctionCall]:
    blocks = [found[1] for found in _CALL.finditer(text)] or [text]
    if len(blocks) > MAX_ITEMS:
        raise malformed(f"more than {MAX_ITEMS} calls", text)
    calls: list[FunctionCall] = []
    for block in blocks:
        if "<function=" in block:
            for found in _FUNCTION.finditer(block):
                calls.append(FunctionCall(found[1], _parameters(found[2])))
        else:
            form = json_in(block)
            for item in check_items(form, "calls") if isinstance(form, list) else [form]:
                bare = isinstance(item, Mapping) and "action" in item and "name" not in item
                calls += (
                    [FunctionCall(_TOOL, item)]
                    if bare and isinstance(item, Mapping)
                    else function_calls(item)
                )
    if not calls:
        raise malformed("the answer holds no call", text)
    return calls


def _parameters(text: str) -> dict[str, object]:
    given: dict[str, object] = {}
    for found in _PARAMETER.finditer(text):
        if found[1] in given:
            raise malformed("a parameter given twice", found[1])
        # The template puts every value on lines of its own.
        given[found[1]] = found[2].removeprefix("\n").removesuffix("\n")
    if len(given) < text.count("<parameter"):
        # Without the lost one the rest would mean something else, such as a click where the pointer is.
        raise malformed("a parameter that is not closed", text)
    return given


def _action(call: FunctionCall, grid: Grid) -> Action:
    if call.name != _TOOL:
        raise malformed("unknown function", call.name, f"the only one is {_TOOL}")
    fields = call.fields()
    name = fields.text("action").strip()
    kind = choose("action", name, _ACTIONS)
    fields.what = name
    with quoting(call.arguments):
        action = _read(name, kind, fields, grid)
    fields.end()
    return action


def _read(name: str, kind: ActionKind, fields: LenientFields, grid: Grid) -> Action:
    point = fields.place("coordinate", grid)
    size = grid.size if point else None
    match kind:
        case ActionKind.CLICK:
            held = fields.take("text")
            keys = () if held in (None, "", []) else chord(held, letters=False)
            button, clicks = _CLICKS[name]
            return Action.click(point, button=button, clicks=clicks, modifiers=keys, screen=size)
        case ActionKind.MOVE:
            return Action(kind, point=point, screen=size)
        case ActionKind.DRAG:
            if point is None:
                raise malformed("a drag needs coordinate", name)
            start = fields.place("start_coordinate", grid)
            return Action.drag(*([start] if start else []), point, screen=size)
        case ActionKind.SCROLL:
            pixels = fields.number("pixels")
            sideways = name == "hscroll"
            dx, dy = (pixels, 0.0) if sideways else (0.0, -pixels)
            return Action.scroll(point, dx=dx, dy=dy, unit=ScrollUnit.PIXEL, screen=size)
        case ActionKind.KEY:
            return Action.key(*chord(fields.need("keys"), letters=False))
        case ActionKind.TYPE:
            return Action.type(fields.text("text"))
        case ActionKind.WAIT:
            return Action.wait(fields.seconds("time", 1.0))
        case ActionKind.ANSWER:
            return Action(kind, text=fields.text("text"))
    fields.ignore("text")
    return Action(choose("status", fields.text("status", "success").strip().lower(), _STATUS))


def _arguments(action: Action, grid: Grid, carries: Mapping[ActionKind, str]) -> dict[str, Any]:
    check_carried(_NAME, action, carries)
    at = {"coordinate": list(grid.locate(action.point))} if action.point else {}
    match action.kind:
        case ActionKind.CLICK:
            for name, said in _CLICKS.items():
                if said == (action.button, action.clicks):
                    held = {"text": list(action.modifiers)} if action.modifiers else {}
                    return {"action": name, **at, **held}
            refuse(_NAME, action, f"it has no {action.clicks}-fold click of the {action.button.value} button")
        case ActionKind.MOVE:
            return {"action": "mouse_move", **at}
        case ActionKind.DRAG:
            if len(action.path) != 1:
                refuse(_NAME, action, "it drags from where the pointer is")
            return {"action": "left_click_drag", "coordinate": list(grid.locate(action.path[0]))}
        case ActionKind.SCROLL:
            if action.unit is not ScrollUnit.PIXEL or (action.dx and action.dy):
                refuse(_NAME, action, "it scrolls by pixels, along one axis at a time")
            name, amount = ("hscroll", action.dx) if action.dx else ("scroll", -action.dy)
            return {"action": name, **at, "pixels": amount}
        case ActionKind.KEY:
            return {"action": "key", "keys": list(action.keys)}
        case ActionKind.WAIT:
            return {"action": "wait", "time": action.duration}
        case ActionKind.TYPE | ActionKind.ANSWER:
            return {"action": action.kind.value, "text": action.text}
    return {"action": "terminate", "status": "success" if action.kind is ActionKind.DONE else "failure"}


def _write_older(action: Action, grid: Grid) -> str:
    return _json(action, _arguments(action, grid, _OLDER))


def _write_json(action: Action, grid: Grid) -> str:
    return _json(action, _arguments(action, grid, CARRIES))


def _json(action: Action, arguments: dict[str, Any]) -> str:
    call = json_safe({"name": _TOOL, "arguments": arguments})
    return check_length(_NAME, action, f"<tool_call>\n{call}\n</tool_call>")


def _write_xml(action: Action, grid: Grid) -> str:
    lines = []
    for name, value in _arguments(action, grid, _WITH_MODIFIERS).items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        if _TAG.search(text) or holds_thinking(text):
            refuse(_NAME, action, "its XML has no escapes for tags")
        lines.append(f"<parameter={name}>\n{text}\n</parameter>")
    body = "\n".join(lines)
    call = f"<tool_call>\n<function={_TOOL}>\n{body}\n</function>\n</tool_call>"
    return check_length(_NAME, action, call)


_ASKED = (
    "The function computer_use takes an action and its arguments: left_click, right_click, middle_click, double_click,"
    "{triple} mouse_move and left_click_drag (coordinate [x, y]; a drag starts at the pointer), key (keys, a list"
    " pressed together), type (text), scroll (pixels; positive goes up), wait (time in seconds),"
    " terminate (status success or failure){answer}. Call it by "
)
_JSON_CALL = '<tool_call>{"name": "computer_use", "arguments": {"action": "left_click", "coordinate": [x, y]}}</tool_call>.'
_XML_CALL = (
    "<tool_call><function=computer_use><parameter=action>left_click</parameter>"
    "<parameter=coordinate>[x, y]</parameter></function></tool_call>."
)
_NEWER = _ASKED.format(triple=" triple_click,", answer=", answer (text)")
_ENDS = {
    ActionKind.DONE: "terminate(status=success)",
    ActionKind.FAIL: "terminate(status=failure)",
}

VERSION_2_5 = Dialect(
    title="Qwen2.5-VL",
    way="text",
    carries=_OLDER,
    reader=read,
    writer=_write_older,
    limits=QWEN2_5_VL,
    wording=_ASKED.format(triple="", answer="") + _JSON_CALL,
    ends=_ENDS,
    lacks=("modifiers", "drag from elsewhere than the pointer", "key down and up", "question", "answer"),
)
VERSION_3 = replace(
    VERSION_2_5,
    title="Qwen3-VL",
    carries=CARRIES,
    writer=_write_json,
    units=(Units.THOUSANDTHS,),
    limits=QWEN3_VL,
    wording=_NEWER + _JSON_CALL,
    ends={**_ENDS, ActionKind.ANSWER: "answer(text)"},
    lacks=("modifiers", "drag from elsewhere than the pointer", "key down and up", "question"),
)
VERSION_3_5 = replace(
    VERSION_3,
    title="Qwen3.5 and later",
    carries=_WITH_MODIFIERS,
    writer=_write_xml,
    wording=_NEWER + _XML_CALL,
    lacks=("drag from elsewhere than the pointer", "key down and up", "question"),
)
