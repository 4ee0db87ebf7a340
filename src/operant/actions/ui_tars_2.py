"""UI-TARS-2 and Seed 1.8: ``<seed:tool_call><function=click><parameter=point><point>x y</point></parameter>...``.

One call may hold several functions. The tokenizer may append ``_never_used_`` and a number to any tag, and some
servers write ``<function name="click">``. The omni variant writes ``<computer_env>Action: click(...)</computer_env>``
and ends with ``<answer>...</answer>``. Either reader takes both, and the lines of earlier versions. Coordinates are
thousandths. The tags have no escapes, so a text that holds one can't be said.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from operant.actions.base import check_carried, check_length, refuse
from operant.actions.coordinates import Grid, Units
from operant.actions.dialect import Dialect
from operant.actions.payload import MAX_ITEMS, malformed
from operant.actions.python_calls import Call
from operant.actions.scrolling import direction_of
from operant.actions.thinking import NEVER_USED, holds_thinking, without_thinking
from operant.actions.ui_tars import CARRIES as OLDER
from operant.actions.ui_tars import DIALECT as VERSION_1
from operant.actions.ui_tars import NOTCHES_PER_SCROLL, read_call, read_calls_of
from operant.actions.ui_tars import write as write_line
from operant.types import Action, ActionKind, Button, Point

__all__ = ["CARRIES", "OMNI", "VERSION_2", "read"]

_NAME = "ui_tars_2"
CARRIES: Mapping[ActionKind, str] = {
    **OLDER,
    ActionKind.MOUSE_DOWN: "point button",
    ActionKind.MOUSE_UP: "point button",
    ActionKind.WAIT: "duration",
    ActionKind.ASK: "text",
    ActionKind.FAIL: "text",
}
_CLICKS = {(Button.LEFT, 1): "click", (Button.LEFT, 2): "left_double", (Button.RIGHT, 1): "right_single"}
_HELD_KEYS = {ActionKind.KEY: "hotkey", ActionKind.KEY_DOWN: "press", ActionKind.KEY_UP: "release"}
_SAID = {
    ActionKind.TYPE: "type",
    ActionKind.ANSWER: "finished",
    ActionKind.DONE: "finished",
    ActionKind.ASK: "call_user",
    ActionKind.FAIL: "infeasible",
}
_NAMED = r"(?:=|\s+name=\")([\w.]{1,60})\"?[^<>]{0,80}>"
_CALL = re.compile(rf"<seed:tool_call{NEVER_USED}>(.*?)(?:</seed:tool_call{NEVER_USED}>|\Z)", re.DOTALL)
_FUNCTION = re.compile(rf"<function{NEVER_USED}{_NAMED}(.*?)(?:</function{NEVER_USED}>|\Z)", re.DOTALL)
# A value ends before the next parameter: else every one that is not closed would be looked for to the end.
_PARAMETER = re.compile(
    rf"<parameter{NEVER_USED}{_NAMED}((?:(?!<parameter).)*?)</parameter{NEVER_USED}>", re.DOTALL
)
_PART = re.compile(r"<(computer_env|code_env|mcp_env|answer)>(.*?)(?:</\1>|\Z)", re.DOTALL)
_TAG = re.compile(r"</?(?:seed:|function|parameter|computer_env|code_env|mcp_env|answer)")
#: Models write these two characters at the end of what they type for Enter.
_ENTER = "\\n"


def read(payload: object, grid: Grid) -> list[Action]:
    """The actions of a reply in any of the forms."""
    text = without_thinking(payload)
    if "<seed:tool_call" in text or re.search(rf"<function{NEVER_USED}[=\s]", text):
        return _seed(text, grid)
    parts = list(_PART.finditer(text))
    if len(parts) > MAX_ITEMS:
        raise malformed(f"more than {MAX_ITEMS} parts", text)
    if not parts:
        return read_calls_of(text, grid)
    return [action for part in parts for action in _part(part[1], part[2], grid)]


def _part(name: str, inside: str, grid: Grid) -> list[Action]:
    if name == "answer":
        said = inside.strip()
        return [Action(ActionKind.ANSWER, text=said) if said else Action.done()]
    if name != "computer_env":
        raise malformed(f"there is no {name} here", inside, "act by <computer_env>")
    return read_calls_of(inside, grid)


def _seed(text: str, grid: Grid) -> list[Action]:
    blocks = [found[1] for found in _CALL.finditer(text)] or [text]
    calls = [found for block in blocks for found in _FUNCTION.finditer(block)]
    if not 0 < len(calls) <= MAX_ITEMS:
        raise malformed(f"{len(calls)} functions, not 1 to {MAX_ITEMS}", text)
    return [read_call(_call(found[1], found[2]), grid) for found in calls]


def _call(name: str, inside: str) -> Call:
    given: dict[str, object] = {}
    for found in _PARAMETER.finditer(inside):
        if found[1] in given:
            raise malformed("a parameter given twice", found[1])
        given[found[1]] = _content(found[2]) if found[1] == "content" else found[2].strip()
    if len(given) < inside.count("<parameter"):
        # Without the lost one the rest would mean something else, such as a click where the pointer is.
        raise malformed("a parameter that is not closed", inside)
    return Call(name, (), given, f"<function={name}>{inside}"[:200])


def _content(text: str) -> str:
    """What a parameter holds; some templates put it on lines of its own."""
    if len(text) > 1 and text.startswith("\n") and text.endswith("\n"):
        text = text[1:-1]
    return text.removesuffix(_ENTER) + "\n" if text.endswith(_ENTER) else text


def _write_seed(action: Action, grid: Grid) -> str:
    check_carried(_NAME, action, CARRIES)

    def place(point: Point) -> str:
        return "<point>{} {}</point>".format(*grid.locate(point))

    name, given = _said(action, place)
    body = "".join(f"<parameter={key}>{value}</parameter>" for key, value in given.items())
    call = f"<seed:tool_call><function={name}>{body}</function></seed:tool_call>"
    return check_length(_NAME, action, call)


def _said(action: Action, place: Callable[[Point], str]) -> tuple[str, dict[str, str]]:
    at = {"point": place(action.point)} if action.point else {}
    match action.kind:
        case ActionKind.MOVE:
            return "move_to", at
        case ActionKind.CLICK:
            name = _CLICKS.get((action.button, action.clicks))
            if name is None:
                many = f"{action.clicks}-fold click of the {action.button.value} button"
                refuse(_NAME, action, f"it has no {many}")
            return name, at
        case ActionKind.MOUSE_DOWN | ActionKind.MOUSE_UP:
            if action.button in (Button.BACK, Button.FORWARD):
                refuse(_NAME, action, f"it has no {action.button.value} button")
            return action.kind.value, {**at, "button": action.button.value}
        case ActionKind.DRAG:
            if len(action.path) != 2:
                refuse(_NAME, action, "it drags from one point to another")
            start, end = action.path
            return "drag", {"start_point": place(start), "end_point": place(end)}
        case ActionKind.SCROLL:
            direction, amount = direction_of(_NAME, action)
            if amount != NOTCHES_PER_SCROLL:
                refuse(_NAME, action, f"it scrolls by {NOTCHES_PER_SCROLL} notches at a time")
            return "scroll", {"direction": direction, **at}
        case ActionKind.KEY | ActionKind.KEY_DOWN | ActionKind.KEY_UP:
            keys = " ".join(action.keys)
            if "<" in keys or ">" in keys:
                refuse(_NAME, action, "its XML has no escapes")
            return _HELD_KEYS[action.kind], {"key": keys}
        case ActionKind.WAIT:
            return "wait", {"time": repr(action.duration)} if action.duration else {}
    return _SAID[action.kind], {"content": _written(action)} if action.text else {}


def _written(action: Action) -> str:
    text = action.text
    if _TAG.search(text) or holds_thinking(text):
        refuse(_NAME, action, "its XML has no escapes for tags")
    if text.endswith(_ENTER):
        refuse(_NAME, action, "it takes a backslash and an n at the end for Enter")
    wrapped = len(text) > 1 and text.startswith("\n") and text.endswith("\n")
    return f"\n{text}\n" if wrapped else text


def _write_omni(action: Action, grid: Grid) -> str:
    if action.kind in (ActionKind.ANSWER, ActionKind.DONE):
        text = action.text
        if _TAG.search(text) or holds_thinking(text) or text != text.strip():
            refuse(_NAME, action, "its answer has no escapes for tags and for space around it")
        check_carried(_NAME, action, OLDER)
        return check_length(_NAME, action, f"<answer>{text}</answer>")
    # Only a string can hold such a mark.
    line = _TAG.sub(lambda mark: "\\x3c" + mark[0][1:], write_line(action, grid))
    return check_length(_NAME, action, f"<computer_env>{line}</computer_env>")


_PLACE = "<parameter=point><point>x y</point></parameter>"
VERSION_2 = replace(
    VERSION_1,
    title="UI-TARS-2 / Seed 1.8",
    carries=CARRIES,
    reader=read,
    writer=_write_seed,
    units=(Units.THOUSANDTHS,),
    wording=(
        f"Call functions as <seed:tool_call><function=click>{_PLACE}</function></seed:tool_call>. Functions:"
        " click, left_double, right_single, move_to (point), drag (start_point, end_point), scroll (direction, point),"
        " mouse_down and mouse_up (point, button), type (content), hotkey (key: ctrl c), press and release (key),"
        " wait (time in seconds), finished (content), call_user (content), infeasible (content)."
    ),
    ends={
        ActionKind.DONE: "finished()",
        ActionKind.ANSWER: "finished(content)",
        ActionKind.ASK: "call_user(content)",
        ActionKind.FAIL: "infeasible(content)",
    },
    lacks=("modifiers", "triple click", "middle click", "text that holds its tags"),
)
OMNI: Dialect = replace(
    VERSION_1,
    title="UI-TARS-2 omni",
    reader=read,
    writer=_write_omni,
    units=(Units.THOUSANDTHS,),
    wording=(
        f"{VERSION_1.wording} Put the lines between <computer_env> and </computer_env>. When the task is done,"
        " write <answer>...</answer> instead."
    ),
    ends={
        ActionKind.DONE: "<answer></answer>",
        ActionKind.ANSWER: "<answer>...</answer>",
        ActionKind.ASK: "call_user()",
    },
)
