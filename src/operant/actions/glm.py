"""GLM-4.5V's answers: ``<|begin_of_box|>left_click(start_box='[x,y]', element_info='')<|end_of_box|>``.

The call may also stand after ``Action:`` or alone. Coordinates are 0 to 999. A scroll counts clicks of the wheel,
``WAIT()`` takes five seconds, and ``DONE()`` and ``FAIL()`` end a task. What an element is called changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from operant.actions.base import check_carried, check_length, refuse
from operant.actions.coordinates import Grid, Units
from operant.actions.dialect import Dialect
from operant.actions.lenient import LenientFields, chord
from operant.actions.payload import choose, malformed, quoting
from operant.actions.python_calls import Call, Vocabulary, python_string, read_calls, unfenced
from operant.actions.scrolling import DIRECTIONS, direction_of
from operant.actions.thinking import escape_thinking, without_thinking
from operant.actions.ui_tars import place_in
from operant.types import Action, ActionKind, Button, Point

__all__ = ["CARRIES", "DIALECT", "WAIT_S"]

_NAME = "glm_4_5v"
WAIT_S = 5.0
CARRIES: Mapping[ActionKind, str] = {
    ActionKind.MOVE: "point",
    ActionKind.CLICK: "point! button clicks",
    ActionKind.DRAG: "path",
    ActionKind.SCROLL: "point! dx dy unit",
    ActionKind.KEY: "keys",
    ActionKind.TYPE: "text",
    ActionKind.WAIT: "duration!",
    ActionKind.SCREENSHOT: "",
    ActionKind.DONE: "",
    ActionKind.FAIL: "",
}
_CLICKS: Mapping[str, tuple[Button, int]] = {
    "left_click": (Button.LEFT, 1),
    "right_click": (Button.RIGHT, 1),
    "middle_click": (Button.MIDDLE, 1),
    "left_double_click": (Button.LEFT, 2),
}
_FUNCTIONS: Mapping[str, ActionKind] = {
    **dict.fromkeys(_CLICKS, ActionKind.CLICK),
    "hover": ActionKind.MOVE,
    "left_drag": ActionKind.DRAG,
    "key": ActionKind.KEY,
    "type": ActionKind.TYPE,
    "scroll": ActionKind.SCROLL,
    "screenshot": ActionKind.SCREENSHOT,
    "WAIT": ActionKind.WAIT,
    "DONE": ActionKind.DONE,
    "FAIL": ActionKind.FAIL,
}
STEPS = 5
_BOX = re.compile(r"<\|begin_of_box\|>(.*?)(?:<\|end_of_box\|>|\Z)", re.DOTALL)
_MARK = re.compile(r"<\|(?:begin|end)_of_box\|>")
_ACTION = re.compile(r"^[ \t]*Action:", re.MULTILINE)


def read(payload: object, grid: Grid) -> list[Action]:
    """The actions of the last box, of what follows the last ``Action:``, or of the whole text."""
    text = without_thinking(payload)
    boxes = [found[1] for found in _BOX.finditer(text)]
    said = boxes[-1] if boxes else text
    marks = [mark.end() for mark in _ACTION.finditer(said)]
    source = unfenced(said[marks[-1] if marks else 0 :].strip())
    return [_action(call, grid) for call in read_calls(source, Vocabulary(words=("WAIT", "DONE", "FAIL")))]


def _action(call: Call, grid: Grid) -> Action:
    kind = choose("action", call.function, _FUNCTIONS)
    if call.args:
        raise malformed(f"{call.function} takes named arguments", call.source)
    fields = LenientFields(call.kwargs, call.function)
    fields.ignore("element_info")
    with quoting(call.source):
        action = _read(call.function, kind, fields, grid)
    fields.end()
    return action


def _read(name: str, kind: ActionKind, fields: LenientFields, grid: Grid) -> Action:
    match kind:
        case ActionKind.CLICK:
            button, clicks = _CLICKS[name]
            return Action.click(_place(fields, grid), button=button, clicks=clicks)
        case ActionKind.MOVE:
            return Action.move(_place(fields, grid))
        case ActionKind.DRAG:
            return Action.drag(_place(fields, grid), _place(fields, grid, "end_box"))
        case ActionKind.SCROLL:
            dx, dy = choose("direction", fields.text("direction").strip().lower(), DIRECTIONS)
            steps = fields.number("step", STEPS)
            if steps < 0:
                raise malformed("a negative scroll", steps, "direction says which way")
            return Action.scroll(_place(fields, grid), dx=dx * steps, dy=dy * steps)
        case ActionKind.KEY:
            # Its own examples say either.
            return Action.key(*chord(fields.need("key" if "key" in fields else "keys")))
        case ActionKind.TYPE:
            return Action.type(fields.text("content"))
        case ActionKind.WAIT:
            return Action.wait(WAIT_S)
    return Action(kind)


def _place(fields: LenientFields, grid: Grid, name: str = "start_box") -> Point:
    return place_in(fields.need(name), grid)


def write(action: Action, grid: Grid) -> str:
    check_carried(_NAME, action, CARRIES)
    # Only a string can hold such a mark.
    line = _MARK.sub(lambda mark: "\\x3c" + mark[0][1:], escape_thinking(_line(action, grid)))
    return check_length(_NAME, action, f"<|begin_of_box|>{line}<|end_of_box|>")


def _line(action: Action, grid: Grid) -> str:
    def box(point: Point) -> str:
        return "'[{},{}]'".format(*grid.locate(point))

    at = f"start_box={box(action.point)}" if action.point else ""
    match action.kind:
        case ActionKind.CLICK:
            for name, said in _CLICKS.items():
                if said == (action.button, action.clicks):
                    return f"{name}({at}, element_info='')"
            refuse(_NAME, action, f"it has no {action.clicks}-fold click of the {action.button.value} button")
        case ActionKind.MOVE:
            return f"hover({at}, element_info='')"
        case ActionKind.DRAG:
            if len(action.path) != 2:
                refuse(_NAME, action, "it drags from one point to another")
            start, end = (box(point) for point in action.path)
            return f"left_drag(start_box={start}, end_box={end}, element_info='')"
        case ActionKind.SCROLL:
            direction, amount = direction_of(_NAME, action)
            return f"scroll({at}, direction='{direction}', step={amount}, element_info='')"
        case ActionKind.KEY:
            return f"key(keys={python_string(_keys(action))})"
        case ActionKind.TYPE:
            return f"type(content={python_string(action.text)})"
        case ActionKind.WAIT if action.duration != WAIT_S:
            refuse(_NAME, action, f"it waits for {WAIT_S:g} s")
        case ActionKind.SCREENSHOT:
            return "screenshot()"
    return f"{action.kind.name}()"


def _keys(action: Action) -> str:
    for key in action.keys:
        if len(key) == 1 and key != key.lower():
            refuse(_NAME, action, f"it does not tell the key {key!r} from {key.lower()!r}")
    if "+" in action.keys[:-1]:
        refuse(_NAME, action, "it joins keys by +")
    return "+".join(action.keys)


DIALECT = Dialect(
    title="GLM-4.5V",
    way="text",
    carries=CARRIES,
    reader=read,
    writer=write,
    units=(Units.UP_TO_999,),
    wording=(
        "Answer with one action between <|begin_of_box|> and <|end_of_box|>: left_click(start_box='[x,y]'),"
        " right_click, middle_click, left_double_click or hover (start_box), left_drag(start_box='[x,y]',"
        " end_box='[x,y]'), key(keys='ctrl+c'), type(content='...'), scroll(start_box='[x,y]', direction='down',"
        " step=5), WAIT(), DONE(), FAIL()."
    ),
    ends={ActionKind.DONE: "DONE()", ActionKind.FAIL: "FAIL()"},
    lacks=("modifiers", "triple click", "key down and up", "question", "answer", "capital letters as keys"),
)
