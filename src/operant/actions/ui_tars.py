"""UI-TARS's answers: ``Thought: ...`` and then ``Action: click(start_box='(x,y)')``.

Coordinates are thousandths of the screen unless ``image`` gives the size of the resized picture that a
Qwen2.5-VL model was shown; then they are its pixels. A scroll says only where to, and means five
notches; ``finished`` with a text is an answer. The thought is left to the keeper of the conversation.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from operant.actions.base import check_carried, check_length, refuse
from operant.actions.coordinates import Grid, Pixels, Thousandths, pair
from operant.actions.keys import canonical_keys, parse_chord
from operant.actions.payload import Fields, check_number, check_text, choose, malformed, quoting
from operant.actions.python_calls import Call, Vocabulary, python_string, read_calls
from operant.actions.scrolling import DIRECTIONS, direction_of
from operant.errors import ActionParseError
from operant.types import Action, ActionKind, Button, Point, Size

__all__ = ["CARRIES", "NOTCHES_PER_SCROLL", "parse", "render"]

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
}
_FUNCTIONS: Mapping[str, ActionKind] = {
    **dict.fromkeys(_CLICKS, ActionKind.CLICK),
    "hover": ActionKind.MOVE,
    "drag": ActionKind.DRAG,
    "select": ActionKind.DRAG,
    "hotkey": ActionKind.KEY,
    "keydown": ActionKind.KEY_DOWN,
    "keyup": ActionKind.KEY_UP,
    "type": ActionKind.TYPE,
    "scroll": ActionKind.SCROLL,
    "wait": ActionKind.WAIT,
    "finished": ActionKind.DONE,
    "call_user": ActionKind.ASK,
}
_ACTION = re.compile(r"^[ \t]*Action:", re.MULTILINE)
_UNESCAPED = re.compile(r"(type|finished)\(content=(['\"])(.*)\2\)", re.DOTALL)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "'": "'", '"': '"', "\\": "\\"}
_MARKUP = re.compile(r"<\|box_(?:start|end)\|>|</?(?:point|bbox)>")
_NUMBERS = re.compile(r"[(\[]?([-\d., ]{1,60})[)\]]?")


def parse(payload: object, screen: Size, *, image: Size | None = None) -> list[Action]:
    """The actions after the last line that begins with ``Action:``, or of a text without such a line."""
    text = check_text(payload)
    marks = [mark.end() for mark in _ACTION.finditer(text)]
    said = text[marks[-1] if marks else 0 :].strip()
    grid = Pixels(image) if image else Thousandths()
    return [_action(call, grid) for call in _calls(said)]


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


def _action(call: Call, grid: Grid) -> Action:
    kind = choose("action", call.function, _FUNCTIONS)
    fields = call.bind(())
    with quoting(call.source):
        action = _read(call.function, kind, fields, grid)
    fields.end()
    return action


def _read(name: str, kind: ActionKind, fields: Fields, grid: Grid) -> Action:
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
            keys = [key for name in fields.text("key").split() for key in parse_chord(name)]
            return Action(kind, keys=canonical_keys(keys))
        case ActionKind.TYPE:
            return Action.type(fields.text("content"))
        case ActionKind.DONE:
            content = fields.text("content", "")
            return Action(ActionKind.ANSWER, text=content) if content else Action.done()
    return Action(kind)


def _point(fields: Fields, grid: Grid, *names: str) -> Point | None:
    """The point of whichever of these names is given: models say start_box or point for the same thing."""
    given = [value for name in names if (value := fields.take(name)) is not None]
    if len(given) > 1:
        raise malformed("the same point twice", given)
    return _place(given[0], grid) if given else None


def _place(value: object, grid: Grid) -> Point:
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


def render(action: Action, screen: Size, *, image: Size | None = None) -> str:
    check_carried(_NAME, action, CARRIES)
    call = _call(action, Pixels(image) if image else Thousandths())
    return check_length(_NAME, action, f"Action: {call}")


def _call(action: Action, grid: Grid) -> str:
    at = f"start_box={_box(action.point, grid)}" if action.point else ""
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
            start, end = (_box(point, grid) for point in action.path)
            return f"drag(start_box={start}, end_box={end})"
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


def _box(point: Point, grid: Grid) -> str:
    x, y = grid.locate(point)
    return f"'({x},{y})'"
