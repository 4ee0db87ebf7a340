"""Our own set of functions, for models that call functions and have no computer tool: Chat Completions and the like.

Each function is one kind of action, and its parameters are flat. A call is ``{"name": ..., "arguments": {...}}`` in
any usual shape. Coordinates are in the model's units. ``done``, ``answer``, ``infeasible`` and ``ask`` end a task.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from operant.actions.base import check_carried, refuse
from operant.actions.coordinates import Grid, Units, region_at
from operant.actions.dialect import Dialect
from operant.actions.lenient import LenientFields, chord, listed, place, read_json, unquoted
from operant.actions.payload import check_items, choose, json_value, malformed, quoting
from operant.actions.scrolling import DIRECTIONS, direction_of
from operant.actions.tool_calls import FunctionCall, function_calls
from operant.types import Action, ActionKind, Button, Point, ScrollUnit, Size

__all__ = ["CARRIES", "DIALECT", "FUNCTIONS", "declaration"]

_NAME = "function_tools"
CARRIES: Mapping[ActionKind, str] = {
    ActionKind.MOVE: "point",
    ActionKind.CLICK: "point button clicks modifiers",
    ActionKind.MOUSE_DOWN: "point button",
    ActionKind.MOUSE_UP: "point button",
    ActionKind.DRAG: "path button modifiers",
    ActionKind.SCROLL: "point dx dy unit modifiers",
    ActionKind.KEY: "keys",
    ActionKind.KEY_DOWN: "keys",
    ActionKind.KEY_UP: "keys",
    ActionKind.HOLD: "keys duration",
    ActionKind.TYPE: "text",
    ActionKind.WAIT: "duration",
    ActionKind.SCREENSHOT: "region",
    ActionKind.CALL: "function args kwargs",
    ActionKind.DONE: "",
    ActionKind.ANSWER: "text",
    ActionKind.FAIL: "text",
    ActionKind.ASK: "text",
}
_NAMES: Mapping[ActionKind, str] = {
    **{kind: kind.value for kind in CARRIES},
    ActionKind.FAIL: "infeasible",
}
_KINDS: Mapping[str, ActionKind] = {name: kind for kind, name in _NAMES.items()}
_BUTTONS: Mapping[str, Button] = {button.value: button for button in Button}
WAIT_S = 1.0

_NUMBER, _TEXT = {"type": "number"}, {"type": "string"}
_XY = {"x": _NUMBER, "y": _NUMBER}
_KEYS = {"type": "array", "items": _TEXT, "description": 'Keys pressed together, such as ["ctrl", "s"].'}
_HELD = {"type": "array", "items": _TEXT, "description": "Keys held meanwhile."}
_BUTTON = {"type": "string", "enum": list(_BUTTONS)}
_PATH = {
    "type": "array",
    "items": {"type": "array", "items": _NUMBER},
    "description": "Points [x, y] from the start to the end.",
}
#: name -> what it does, its parameters and those that it needs
FUNCTIONS: Mapping[str, tuple[str, Mapping[str, Any], tuple[str, ...]]] = {
    "click": (
        "Click at a place, or where the pointer is.",
        {**_XY, "button": _BUTTON, "clicks": {"type": "integer", "enum": [1, 2, 3]}, "modifiers": _HELD},
        (),
    ),
    "move": ("Move the pointer.", _XY, ("x", "y")),
    "mouse_down": ("Press a mouse button and keep it down.", {**_XY, "button": _BUTTON}, ()),
    "mouse_up": ("Release a mouse button.", {**_XY, "button": _BUTTON}, ()),
    "drag": ("Drag along a path.", {"path": _PATH, "button": _BUTTON, "modifiers": _HELD}, ("path",)),
    "scroll": (
        "Turn the wheel at a place, or where the pointer is.",
        {
            **_XY,
            "direction": {"type": "string", "enum": list(DIRECTIONS)},
            "amount": {"type": "integer", "description": "Notches of the wheel."},
            "modifiers": _HELD,
        },
        ("direction",),
    ),
    "key": ("Press keys together.", {"keys": _KEYS}, ("keys",)),
    "key_down": ("Press keys and keep them down.", {"keys": _KEYS}, ("keys",)),
    "key_up": ("Release keys.", {"keys": _KEYS}, ("keys",)),
    "hold": ("Hold keys for some seconds.", {"keys": _KEYS, "seconds": _NUMBER}, ("keys", "seconds")),
    "type": ("Type text. A newline presses Enter.", {"text": _TEXT}, ("text",)),
    "wait": ("Wait for some seconds.", {"seconds": _NUMBER}, ()),
    "screenshot": (
        "See the screen again, or a part of it at full size.",
        {"region": {"type": "array", "items": _NUMBER, "description": "left, top, right, bottom"}},
        (),
    ),
    "call": (
        "Call a function of the application in focus.",
        {
            "function": _TEXT,
            "args": {"type": "array", "items": {}},
            "kwargs": {"type": "object"},
        },
        ("function",),
    ),
    "done": ("The task is done.", {}, ()),
    "answer": ("The task is done and asked for something: answer with that and nothing else.", {"text": _TEXT}, ("text",)),
    "infeasible": ("The task can't be done.", {"reason": _TEXT}, ()),
    "ask": ("Ask the user, only if the task can't be done without.", {"question": _TEXT}, ()),
}  # fmt: skip
_SAID = {ActionKind.FAIL: "reason", ActionKind.ASK: "question", ActionKind.ANSWER: "text"}


def declaration() -> list[dict[str, Any]]:
    """The entries of a request's ``tools`` as Chat Completions has them."""
    return [
        {
            "type": "function",
            "function": {
                "name": name,
                "description": what,
                "parameters": {"type": "object", "properties": dict(parameters), "required": list(needed)},
            },
        }
        for name, (what, parameters, needed) in FUNCTIONS.items()
    ]


def read(payload: object, grid: Grid) -> list[Action]:
    """The actions of a call or of a list of them."""
    return [_action(call, grid) for call in function_calls(payload)]


def _action(call: FunctionCall, grid: Grid) -> Action:
    kind = choose("function", call.name, _KINDS)
    fields = call.fields()
    with quoting(call.arguments):
        action = _read(kind, fields, grid)
    fields.end()
    return action


def _read(kind: ActionKind, fields: LenientFields, grid: Grid) -> Action:
    match kind:
        case ActionKind.CLICK:
            point, button = _point(fields, grid), _button(fields)
            return Action.click(
                point, button=button, clicks=fields.integer("clicks", 1), modifiers=_keys(fields, "modifiers")
            )
        case ActionKind.MOVE | ActionKind.MOUSE_DOWN | ActionKind.MOUSE_UP:
            point = _point(fields, grid)
            if kind is ActionKind.MOVE:
                return Action(kind, point=point)
            return Action(kind, point=point, button=_button(fields))
        case ActionKind.DRAG:
            given = fields.need("path")
            points = check_items(read_json(given) if isinstance(given, str) else given, "points")
            path = tuple(place(item, grid) for item in points)
            return Action(kind, path=path, button=_button(fields), modifiers=_keys(fields, "modifiers"))
        case ActionKind.SCROLL:
            return _scroll(fields, grid)
        case ActionKind.KEY | ActionKind.KEY_DOWN | ActionKind.KEY_UP:
            return Action(kind, keys=_keys(fields, "keys", needed=True))
        case ActionKind.HOLD:
            return Action(kind, keys=_keys(fields, "keys", needed=True), duration=fields.seconds("seconds"))
        case ActionKind.TYPE:
            return Action.type(fields.text("text"))
        case ActionKind.WAIT:
            return Action.wait(fields.seconds("seconds", WAIT_S))
        case ActionKind.SCREENSHOT:
            region = fields.take("region")
            corners = None if region in (None, [], "") else region_at(_numbers(region), grid)
            return Action(kind, region=corners)
        case ActionKind.CALL:
            return _call(fields)
        case ActionKind.DONE:
            fields.ignore("text", "summary")
            return Action.done()
    name = _SAID[kind]
    return Action(kind, text=fields.text(name) if kind is ActionKind.ANSWER else fields.text(name, ""))


def _numbers(region: object) -> list[object]:
    return [unquoted(item) for item in listed(region, "numbers")]


def _point(fields: LenientFields, grid: Grid) -> Point | None:
    return fields.x_and_y(grid)


def _button(fields: LenientFields) -> Button:
    return fields.choice("button", _BUTTONS, "left")


def _keys(fields: LenientFields, name: str, *, needed: bool = False) -> tuple[str, ...]:
    given = fields.need(name) if needed else fields.take(name)
    return () if given in (None, [], "") and not needed else chord(given)


def _scroll(fields: LenientFields, grid: Grid) -> Action:
    dx, dy = choose("direction", fields.text("direction").strip().lower(), DIRECTIONS)
    amount = fields.number("amount", 5.0)
    if amount < 0:
        raise malformed("a negative scroll", amount, "direction says which way")
    point, held = _point(fields, grid), _keys(fields, "modifiers")
    return Action.scroll(point, dx=dx * amount, dy=dy * amount, modifiers=held)


def _call(fields: LenientFields) -> Action:
    args, kwargs = (json_value(fields.take(name)) for name in ("args", "kwargs"))
    if not isinstance(args, list | None) or not isinstance(kwargs, dict | None):
        raise malformed("args is a list and kwargs an object", [args, kwargs])
    named = tuple((kwargs or {}).items())
    return Action(ActionKind.CALL, function=fields.text("function"), args=tuple(args or ()), kwargs=named)


def write(action: Action, grid: Grid) -> dict[str, Any]:
    check_carried(_NAME, action, CARRIES)
    given = _arguments(action, grid)
    return {
        "name": _NAMES[action.kind],
        "arguments": {name: value for name, value in given.items() if value not in (None, [], "")},
    }


def _arguments(action: Action, grid: Grid) -> dict[str, Any]:
    kind = action.kind
    at = dict(zip("xy", grid.locate(action.point), strict=True)) if action.point else {}
    button = action.button.value if action.button is not Button.LEFT else None
    held = {"modifiers": _names(action, action.modifiers)}
    match kind:
        case ActionKind.CLICK:
            return {**at, "button": button, "clicks": action.clicks if action.clicks > 1 else None, **held}
        case ActionKind.MOVE | ActionKind.MOUSE_DOWN | ActionKind.MOUSE_UP:
            return {**at, "button": button}
        case ActionKind.DRAG:
            return {"path": [list(grid.locate(point)) for point in action.path], "button": button, **held}
        case ActionKind.SCROLL:
            if action.unit is not ScrollUnit.NOTCH:
                refuse(_NAME, action, "it counts notches of the wheel")
            direction, amount = direction_of(_NAME, action)
            return {**at, "direction": direction, "amount": amount, **held}
        case ActionKind.KEY | ActionKind.KEY_DOWN | ActionKind.KEY_UP:
            return {"keys": _names(action, action.keys)}
        case ActionKind.HOLD:
            return {"keys": _names(action, action.keys), "seconds": action.duration}
        case ActionKind.WAIT:
            return {"seconds": action.duration}
        case ActionKind.SCREENSHOT:
            edges = [list(grid.locate_edge(corner)) for corner in action.region or ()]
            return {"region": [number for corner in edges for number in corner]}
        case ActionKind.CALL:
            return {
                "function": action.function,
                "args": list(action.args),
                "kwargs": dict(action.kwargs) or None,
            }
    return {_SAID.get(kind, "text"): action.text}


def _names(action: Action, keys: tuple[str, ...]) -> list[str]:
    for key in keys:
        if len(key) == 1 and key != key.lower():
            refuse(_NAME, action, f"it does not tell the key {key!r} from {key.lower()!r}")
    return list(keys)


def _declares(shown: Size) -> list[dict[str, Any]]:
    return declaration()


DIALECT = Dialect(
    title="any model that calls functions, in our own set",
    way="functions",
    carries=CARRIES,
    reader=read,
    writer=write,
    units=(Units.THOUSANDTHS, Units.PIXELS, Units.UP_TO_999, Units.FRACTIONS),
    wording="Call the functions that you are given; several calls are performed in order.",
    declares=_declares,
    ends={
        ActionKind.DONE: "done()",
        ActionKind.ANSWER: "answer(text)",
        ActionKind.FAIL: "infeasible(reason)",
        ActionKind.ASK: "ask(question)",
    },
    lacks=("scrolls by pixels or along both axes", "capital letters as keys", "durations of drags"),
)
