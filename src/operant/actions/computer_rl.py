"""ComputerRL's answers: ``<think>...</think>`` and then Python, fenced or not.

A line calls a primitive of ``Agent`` or a function of the application in focus, such as ``CalcTools.save()``;
the latter, and those primitives that are not a gesture, become call actions under their full name. Functions of
Operant's applications are written with a capital letter (``Files.move`` for ``files.move``). Whether
such a function exists is for the registry of applications to say. The models are asked for one line; of a reply
with several blocks the first counts, and all of its lines, as in ComputerRL's own runner. The text agent
(``DIALECT``) reads the widgets and counts pixels, the visual one (``VISUAL``) sees pictures and counts thousandths.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Mapping
from dataclasses import replace

from operant.actions.base import check_carried, check_length, pyautogui_keys, refuse
from operant.actions.coordinates import Grid, Pixels, Units
from operant.actions.dialect import Dialect
from operant.actions.frames import COMPUTER_RL
from operant.actions.lenient import chord, place
from operant.actions.payload import Fields, choose, malformed, quoting
from operant.actions.python_calls import (
    Call,
    Vocabulary,
    python_literal,
    python_string,
    read_calls,
    unfenced,
)
from operant.actions.scrolling import DIRECTIONS, direction_of
from operant.actions.thinking import escape_thinking, without_thinking
from operant.calls.catalog import canonical_name
from operant.types import Action, ActionKind, Button, Point, Size

__all__ = ["CARRIES", "DIALECT", "NOTCHES_PER_SCROLL", "VISUAL", "parse", "read", "render", "write"]

_NAME = "computer_rl"
#: How far ComputerRL's own runner turns the wheel for one scroll action.
NOTCHES_PER_SCROLL = 100
CARRIES: Mapping[ActionKind, str] = {
    ActionKind.CLICK: "point! button clicks",
    ActionKind.DRAG: "path",
    ActionKind.SCROLL: "point! dx dy unit",
    ActionKind.KEY: "keys",
    ActionKind.TYPE: "text",
    ActionKind.WAIT: "",
    ActionKind.CALL: "function args kwargs",
    ActionKind.DONE: "",
    ActionKind.FAIL: "",
}
#: Primitives that are gestures, with their parameters; each place has a second name in the visual variant.
_GESTURES: Mapping[str, str] = {
    "Agent.click": "coordinates num_clicks button_type",
    "Agent.type": "coordinates text overwrite enter",
    "Agent.drag_and_drop": "drag_from_coordinates drop_on_coordinates",
    "Agent.scroll": "coordinates direction",
    "Agent.hotkey": "keys",
    "Agent.wait": "",
    "Agent.exit": "success",
}
_CALLED = ("Agent.open_app", "Agent.switch_window", "Agent.quote")
_BUTTONS: Mapping[str, Button] = {b.value: b for b in (Button.LEFT, Button.MIDDLE, Button.RIGHT)}
_WAYS = {way: DIRECTIONS[way] for way in ("up", "down")}
# The classes of ComputerRL's applications are capitalised, which modules such as os are not.
_FUNCTION = re.compile(r"[A-Z]\w*\.[A-Za-z]\w*", re.ASCII)
#: GLM's models put their final answer between these.
_BOX = re.compile(r"<\|(?:begin|end)_of_box\|>")
_PARAMETER = re.compile(r"[A-Za-z]\w*", re.ASCII)


def parse(payload: object, screen: Size) -> list[Action]:
    """The actions of an answer of the text agent."""
    return read(payload, Pixels(screen, clamps=True))


def read(payload: object, grid: Grid) -> list[Action]:
    """The actions of an answer whose coordinates are those of a grid."""
    code = _BOX.sub("", without_thinking(payload)).strip()
    if not code:
        raise malformed("nothing but thinking", payload)
    code = code.removeprefix("<answer>").removesuffix("</answer>")
    actions: list[Action] = []
    for call in read_calls(unfenced(code), Vocabulary()):
        with quoting(call.source):
            actions += _actions(call, grid)
    return actions


def _actions(call: Call, grid: Grid) -> list[Action]:
    if not _FUNCTION.fullmatch(call.function) and canonical_name(call.function) is None:
        raise malformed("not a function of Agent or of an application", call.function)
    if call.function.startswith("Agent.") and call.function not in _CALLED:
        parameters = choose("primitive", call.function, _GESTURES)
        fields = call.bind(parameters.split())
        actions = _gesture(call.function, fields, grid)
        fields.end()
        return actions
    function = canonical_name(call.function) if call.function not in _CALLED else None
    return [
        Action(
            ActionKind.CALL,
            function=function or call.function,
            args=call.args,
            kwargs=tuple(call.kwargs.items()),
        )
    ]


def _gesture(function: str, fields: Fields, grid: Grid) -> list[Action]:
    match function:
        case "Agent.click":
            button, clicks = fields.choice("button_type", _BUTTONS, "left"), fields.integer("num_clicks", 1)
            point = _place(fields, grid)
            return [Action.click(point, button=button, clicks=clicks, screen=grid.size)]
        case "Agent.type":
            return _typing(fields, grid)
        case "Agent.drag_and_drop":
            start, end = (
                _place(fields, grid, name) for name in ("drag_from_coordinates", "drop_on_coordinates")
            )
            return [Action.drag(start, end, screen=grid.size)]
        case "Agent.scroll":
            dx, dy = (float(step * NOTCHES_PER_SCROLL) for step in fields.choice("direction", _WAYS))
            return [Action.scroll(_place(fields, grid), dx=dx, dy=dy, screen=grid.size)]
        case "Agent.hotkey":
            return [Action.key(*chord(fields.need("keys"), letters=False))]
        case "Agent.exit":
            fields.need("success")
            return [Action.done() if fields.flag("success", True) else Action.fail()]
    return [Action.wait()]


def _place(fields: Fields, grid: Grid, name: str = "coordinates") -> Point:
    return place(fields.need(_said(fields, name)), grid)


def _said(fields: Fields, name: str) -> str:
    singular = name.removesuffix("s")
    return singular if singular in fields else name


def _typing(fields: Fields, grid: Grid) -> list[Action]:
    actions = []
    if _said(fields, "coordinates") in fields:
        actions.append(Action.click(_place(fields, grid), screen=grid.size))
    fields.ignore("coordinates", "coordinate")
    if fields.flag("overwrite", False):
        actions += [Action.key("ctrl", "a"), Action.key("backspace")]
    text = fields.text("text", "") + ("\n" if fields.flag("enter", False) else "")
    return [*actions, Action.type(text)] if text or not actions else actions


def render(action: Action, screen: Size) -> str:
    """The line of code, without thought and fence."""
    return write(action, Pixels(screen))


def write(action: Action, grid: Grid) -> str:
    check_carried(_NAME, action, CARRIES)
    # Only a string can hold such a mark; as it stands, it would be taken out.
    line = _BOX.sub(lambda mark: "\\x3c" + mark[0][1:], escape_thinking(_line(action, grid)))
    return check_length(_NAME, action, line)


def _line(action: Action, grid: Grid) -> str:
    at = [list(grid.locate(point)) for point in (action.path or ([action.point] if action.point else []))]
    match action.kind:
        case ActionKind.CLICK:
            if action.button.value not in _BUTTONS:
                refuse(_NAME, action, f"it has no {action.button.value} button")
            clicks = f", num_clicks={action.clicks}" if action.clicks != 1 else ""
            button = f", button_type={action.button.value!r}" if action.button is not Button.LEFT else ""
            return f"Agent.click({at[0]}{clicks}{button})"
        case ActionKind.DRAG:
            if len(at) != 2:
                refuse(_NAME, action, "it drags from one point to another")
            return f"Agent.drag_and_drop({at[0]}, {at[1]})"
        case ActionKind.SCROLL:
            direction, amount = direction_of(_NAME, action)
            if direction not in _WAYS or amount != NOTCHES_PER_SCROLL:
                refuse(_NAME, action, f"it scrolls {NOTCHES_PER_SCROLL} notches up or down at a time")
            return f"Agent.scroll({at[0]}, {direction!r})"
        case ActionKind.KEY:
            return (
                f"Agent.hotkey([{', '.join(python_string(name) for name in pyautogui_keys(_NAME, action))}])"
            )
        case ActionKind.TYPE:
            return f"Agent.type(text={python_string(action.text)})"
        case ActionKind.CALL:
            return _called(action)
        case ActionKind.WAIT:
            return "Agent.wait()"
    return f"Agent.exit(success={action.kind is ActionKind.DONE})"


def _called(action: Action) -> str:
    known = action.function in _CALLED or not action.function.startswith("Agent.")
    function = action.function
    if canonical_name(function) == function:
        function = function[:1].upper() + function[1:]  # classes are capitalised
    if not (known and _FUNCTION.fullmatch(function)) or _has_keyword(function.split(".")):
        refuse(_NAME, action, f"it can't call {action.function!r}")
    for name, _ in action.kwargs:
        if not _PARAMETER.fullmatch(name) or _has_keyword([name]):
            refuse(_NAME, action, f"{name!r} can't be the name of an argument")
    values = [python_literal(value) for value in action.args]
    values += [f"{name}={python_literal(value)}" for name, value in action.kwargs]
    return f"{function}({', '.join(values)})"


def _has_keyword(names: list[str]) -> bool:
    return any(keyword.iskeyword(name) for name in names)


_WORDING = (
    "Answer with <think>...</think>, if you want, and one line of Python with one of: Agent.click([x, y],"
    " num_clicks=1, button_type='left'), Agent.type([x, y], '...'), Agent.drag_and_drop([x, y], [x, y]),"
    " Agent.scroll([x, y], 'down'), Agent.hotkey(['ctrl', 's']), Agent.wait(), Agent.exit(success=True)."
)
DIALECT = Dialect(
    title="ComputerRL / AutoGLM-OS, from the widgets as text",
    way="text",
    carries=CARRIES,
    reader=read,
    writer=write,
    units=(Units.PIXELS, Units.THOUSANDTHS, Units.UP_TO_999),
    sees="tree",
    wording=_WORDING,
    ends={ActionKind.DONE: "Agent.exit(success=True)", ActionKind.FAIL: "Agent.exit(success=False)"},
    lacks=("modifiers", "move", "scroll sideways", "question", "answer"),
    stop=("<|user|>", "<|observation|>", "</answer>"),
)
VISUAL = replace(
    DIALECT,
    title="ComputerRL / AutoGLM-OS, from pictures",
    units=(Units.THOUSANDTHS,),
    limits=COMPUTER_RL,
    sees="picture",
)
