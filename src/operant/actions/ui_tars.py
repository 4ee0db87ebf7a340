"""UI-TARS's answers: ``Thought: ...`` and then ``Action: click(start_box='(x,y)')``.

UI-TARS 1.0 and Doubao count thousandths of the screen, 1.5 pixels of the resized picture that it was shown; Doubao
writes ``point='<point>x y</point>'``. A scroll says only where to, and means five notches; ``finished`` with a text
is an answer. UI-TARS-2 is in ``ui_tars_2``. The thought is left to the keeper of the conversation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from operant.actions.base import check_carried, check_length, refuse
from operant.actions.coordinates import Grid, Thousandths, Units, pair
from operant.actions.dialect import Dialect
from operant.actions.frames import UI_TARS
from operant.actions.keys import canonical_keys, parse_chord
from operant.actions.lenient import LenientFields
from operant.actions.payload import Fields, check_number, choose, malformed, quoting
from operant.actions.python_calls import Call, Vocabulary, python_string, read_calls
from operant.actions.scrolling import DIRECTIONS, direction_of
from operant.actions.thinking import escape_thinking, without_thinking
from operant.errors import ActionParseError
from operant.types import Action, ActionKind, Button, Point, Size

__all__ = [
    "CARRIES",
    "DIALECT",
    "DOUBAO",
    "NOTCHES_PER_SCROLL",
    "VERSION_1_5",
    "parse",
    "place_in",
    "read_call",
    "read_calls_of",
    "render",
]

_NAME = "ui_tars"
#: How far UI-TARS's own runner turns the wheel for one scroll action.
NOTCHES_PER_SCROLL = 5
CARRIES: Mapping[ActionKind, str] = {
    ActionKind.MOVE: "point",
    ActionKind.CLICK: "point! button clicks",
    ActionKind.DRAG: "path",
    ActionKind.SCROLL: "point dx dy unit",
    ActionKind.KEY: "keys",
    ActionKind.KEY_DOWN: "keys",
    ActionKind.KEY_UP: "keys",
    ActionKind.TYPE: "text",
    ActionKind.WAIT: "",
    ActionKind.DONE: "",
    ActionKind.ASK: "",
    ActionKind.ANSWER: "text",
}
_CLICKS: Mapping[str, tuple[Button, int]] = {
    "click": (Button.LEFT, 1),
    "left_single": (Button.LEFT, 1),
    "left_double": (Button.LEFT, 2),
    "right_single": (Button.RIGHT, 1),
    # Doubao's names, and those that models slip into.
    "left_click": (Button.LEFT, 1),
    "left_double_click": (Button.LEFT, 2),
    "double_click": (Button.LEFT, 2),
    "right_click": (Button.RIGHT, 1),
}
_FUNCTIONS: Mapping[str, ActionKind] = {
    **dict.fromkeys(_CLICKS, ActionKind.CLICK),
    "hover": ActionKind.MOVE,
    "move_to": ActionKind.MOVE,
    "mouse_down": ActionKind.MOUSE_DOWN,
    "mouse_up": ActionKind.MOUSE_UP,
    "drag": ActionKind.DRAG,
    "select": ActionKind.DRAG,
    "hotkey": ActionKind.KEY,
    "keydown": ActionKind.KEY_DOWN,
    "keyup": ActionKind.KEY_UP,
    "press": ActionKind.KEY_DOWN,
    "release": ActionKind.KEY_UP,
    "type": ActionKind.TYPE,
    "scroll": ActionKind.SCROLL,
    "wait": ActionKind.WAIT,
    "finished": ActionKind.DONE,
    "call_user": ActionKind.ASK,
    "infeasible": ActionKind.FAIL,
}
_BUTTONS: Mapping[str, Button] = {b.value: b for b in (Button.LEFT, Button.MIDDLE, Button.RIGHT)}
_ACTION = re.compile(r"^[ \t]*Action:", re.MULTILINE)
_UNESCAPED = re.compile(r"(type|finished)\(content=(['\"])(.*)\2\)", re.DOTALL)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "'": "'", '"': '"', "\\": "\\"}
_MARKUP = re.compile(r"<\|box_(?:start|end)\|>|</?(?:point|bbox)>")
_NUMBERS = re.compile(r"[(\[]{0,2}([-\d., ]{1,60})[)\]]{0,2}")


def parse(payload: object, screen: Size) -> list[Action]:
    """The actions of an answer that counts thousandths."""
    return read(payload, Thousandths())


def read(payload: object, grid: Grid) -> list[Action]:
    """The actions after the last line that begins with ``Action:``, or of a text without such a line."""
    return read_calls_of(without_thinking(payload), grid)


def read_calls_of(text: str, grid: Grid) -> list[Action]:
    marks = [mark.end() for mark in _ACTION.finditer(text)]
    said = text[marks[-1] if marks else 0 :].strip()
    return [read_call(call, grid) for call in _calls(said)]


def _calls(said: str) -> list[Call]:
    try:
        return read_calls(said, Vocabulary())
    except ActionParseError:
        # Models forget to escape quotes and newlines of what they type.
        loose = _UNESCAPED.fullmatch(said)
        if loose is None:
            raise
        content = _ESCAPE.sub(lambda found: _ESCAPED.get(found[1], found[0]), loose[3])
        return [Call(loose[1], (), {"content": content}, said)]


def read_call(call: Call, grid: Grid) -> Action:
    """The action of one call with named arguments."""
    kind = choose("action", call.function, _FUNCTIONS)
    if call.args:
        raise malformed(f"{call.function} takes named arguments", call.source)
    fields = LenientFields(call.kwargs, call.function)
    with quoting(call.source):
        action = _read(call.function, kind, fields, grid)
    fields.end()
    return action


def _read(name: str, kind: ActionKind, fields: LenientFields, grid: Grid) -> Action:
    match kind:
        case ActionKind.CLICK:
            button, clicks = _CLICKS[name]
            point = _point(fields, grid, "start_box", "point", "start_point")
            if point is None:
                raise malformed("a click needs start_box", name)
            return Action.click(point, button=button, clicks=clicks, screen=grid.size)
        case ActionKind.MOVE:
            return Action(
                kind, point=_point(fields, grid, "start_box", "point", "start_point"), screen=grid.size
            )
        case ActionKind.MOUSE_DOWN | ActionKind.MOUSE_UP:
            button = fields.choice("button", _BUTTONS, "left")
            return Action(kind, point=_point(fields, grid, "point", "start_box"), button=button)
        case ActionKind.DRAG:
            ends = (
                _point(fields, grid, "start_box", "start_point"),
                _point(fields, grid, "end_box", "end_point"),
            )
            if None in ends:
                raise malformed("a drag needs start_box and end_box", name)
            return Action.drag(*(end for end in ends if end), screen=grid.size)
        case ActionKind.SCROLL:
            dx, dy = (float(step * NOTCHES_PER_SCROLL) for step in fields.choice("direction", DIRECTIONS))
            point = _point(fields, grid, "start_box", "point", "start_point")
            return Action.scroll(point, dx=dx, dy=dy, screen=grid.size if point else None)
        case ActionKind.KEY | ActionKind.KEY_DOWN | ActionKind.KEY_UP:
            said = fields.text("keys" if "keys" in fields else "key")
            keys = [key for name in said.split() for key in parse_chord(name)]
            return Action(kind, keys=canonical_keys(keys))
        case ActionKind.TYPE:
            return Action.type(fields.text("content"))
        case ActionKind.DONE:
            content = fields.text("content", "")
            return Action(ActionKind.ANSWER, text=content) if content else Action.done()
        case ActionKind.ASK | ActionKind.FAIL:
            return Action(kind, text=fields.text("content", ""))
    return Action.wait(fields.seconds("time", 0.0))


def _point(fields: Fields, grid: Grid, *names: str) -> Point | None:
    """The point of whichever of these names is given: models say start_box or point for the same thing."""
    given = [value for name in names if (value := fields.take(name)) is not None]
    if len(given) > 1:
        raise malformed("the same point twice", given)
    return place_in(given[0], grid) if given else None


def place_in(value: object, grid: Grid) -> Point:
    """The point of "(x,y)", of either markup around it, or the middle of a box "(x1,y1,x2,y2)"."""
    if isinstance(value, str):
        written = _NUMBERS.fullmatch(_MARKUP.sub("", value[:200]).strip())
        words = written[1].replace(",", " ").split() if written else []
        try:
            numbers: object = [float(word) for word in words]
        except ValueError:
            numbers = []
    else:
        numbers = value
    if not isinstance(numbers, list) or len(numbers) not in (2, 4):
        raise malformed("not a place on the screen", value, "a place is written '(x,y)'")
    checked = [check_number(number, "a coordinate") for number in numbers]
    middle = [(a + b) / 2 for a, b in zip(checked[:2], checked[-2:], strict=True)]
    with quoting(value):
        return pair(middle, grid)


def render(action: Action, screen: Size) -> str:
    """The action in thousandths."""
    return write(action, Thousandths())


def write(action: Action, grid: Grid) -> str:
    return _written(action, grid, "start_box", "end_box", "'({},{})'")


def _write_points(action: Action, grid: Grid) -> str:
    return _written(action, grid, "point", "end_point", "'<point>{} {}</point>'")


def _written(action: Action, grid: Grid, start: str, end: str, form: str) -> str:
    check_carried(_NAME, action, CARRIES)

    def place(point: Point) -> str:
        return form.format(*grid.locate(point))

    call = _call(action, place, start, end)
    return check_length(_NAME, action, f"Action: {escape_thinking(call)}")


def _call(action: Action, place: Callable[[Point], str], start: str, end: str) -> str:
    at = f"{start}={place(action.point)}" if action.point else ""
    match action.kind:
        case ActionKind.MOVE:
            return f"hover({at})"
        case ActionKind.CLICK:
            for name, said in _CLICKS.items():
                if said == (action.button, action.clicks):
                    return f"{name}({at})"
            refuse(_NAME, action, f"it has no {action.clicks}-fold click of the {action.button.value} button")
        case ActionKind.DRAG:
            if len(action.path) != 2:
                refuse(_NAME, action, "it drags from one point to another")
            first = "start_point" if start == "point" else start
            return f"drag({first}={place(action.path[0])}, {end}={place(action.path[1])})"
        case ActionKind.SCROLL:
            direction, amount = direction_of(_NAME, action)
            if amount != NOTCHES_PER_SCROLL:
                refuse(_NAME, action, f"it scrolls by {NOTCHES_PER_SCROLL} notches at a time")
            where = f"{at}, " if at else ""
            return f"scroll({where}direction='{direction}')"
        case ActionKind.KEY | ActionKind.KEY_DOWN | ActionKind.KEY_UP:
            name = {"key": "hotkey", "key_down": "keydown", "key_up": "keyup"}[action.kind.value]
            return f"{name}(key={python_string(' '.join(action.keys))})"
        case ActionKind.TYPE:
            return f"type(content={python_string(action.text)})"
        case ActionKind.ANSWER:
            return f"finished(content={python_string(action.text)})"
        case ActionKind.DONE:
            return "finished()"
        case ActionKind.ASK:
            return "call_user()"
    return "wait()"


_WORDING = (
    "Answer with a line 'Thought: ...', if you want, and a line 'Action: ...' with one of:"
    " click(start_box='(x,y)'), left_double(start_box='(x,y)'), right_single(start_box='(x,y)'),"
    " drag(start_box='(x,y)', end_box='(x,y)'), scroll(start_box='(x,y)', direction='down'),"
    " type(content='...'), hotkey(key='ctrl s'), wait(), finished(content='...')."
)
DIALECT = Dialect(
    title="UI-TARS 1.0",
    way="text",
    carries=CARRIES,
    reader=read,
    writer=write,
    units=(Units.THOUSANDTHS, Units.PIXELS, Units.UP_TO_999),
    wording=_WORDING,
    ends={
        ActionKind.DONE: "finished()",
        ActionKind.ANSWER: "finished(content='...')",
        ActionKind.ASK: "call_user()",
    },
    lacks=("modifiers", "triple click", "middle click", "infeasible"),
)
VERSION_1_5 = replace(DIALECT, title="UI-TARS-1.5-7B", units=(Units.PIXELS,), limits=UI_TARS)
DOUBAO = replace(
    DIALECT,
    title="Doubao / Seed UI-TARS on Volcano",
    units=(Units.THOUSANDTHS,),
    writer=_write_points,
    wording=_WORDING.replace("end_box='(x,y)'", "end_point='<point>x y</point>'")
    .replace("drag(start_box='(x,y)'", "drag(start_point='<point>x y</point>'")
    .replace("start_box='(x,y)'", "point='<point>x y</point>'"),
)
