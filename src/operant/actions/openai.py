"""OpenAI's computer actions: ``{"type": ..., ...}``, alone, in a ``computer_call``, or many in ``actions``.

Scrolls count pixels, every pointer action says where, and ``keys`` beside it are held meanwhile. A letter
as a key means the key, not the capital: the model writes "C" for it. The keys of a ``keypress`` are one chord,
and a ``wait`` takes two seconds. Not known: the rest of the response, safety checks, and the end of a task,
which is a message and not an action.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from operant.actions.base import check_carried, refuse
from operant.actions.coordinates import Pixels
from operant.actions.dialect import Dialect
from operant.actions.frames import OPENAI
from operant.actions.lenient import LenientFields, chord, place, read_json
from operant.actions.payload import batch, check_items, choose, malformed, quoting
from operant.actions.scrolling import DIRECTIONS, whole_scroll
from operant.types import Action, ActionKind, Button, Point, ScrollUnit, Size

__all__ = ["CARRIES", "DIALECT", "ENVIRONMENTS", "WAIT_S", "declaration", "parse", "render"]

_NAME = "openai"
#: How long OpenAI's own runner waits for a ``wait``, which has no duration.
WAIT_S = 2.0
#: What the preview's declaration calls the desktop.
ENVIRONMENTS = ("linux", "ubuntu", "windows", "mac", "browser")
CARRIES: Mapping[ActionKind, str] = {
    ActionKind.MOVE: "point",
    ActionKind.CLICK: "point! button clicks modifiers",
    ActionKind.DRAG: "path modifiers",
    ActionKind.SCROLL: "point! dx dy unit modifiers",
    ActionKind.KEY: "keys",
    ActionKind.TYPE: "text",
    ActionKind.WAIT: "duration!",
    ActionKind.SCREENSHOT: "",
}
_TYPES: Mapping[str, ActionKind] = {
    "click": ActionKind.CLICK,
    "double_click": ActionKind.CLICK,
    "drag": ActionKind.DRAG,
    "keypress": ActionKind.KEY,
    "move": ActionKind.MOVE,
    "screenshot": ActionKind.SCREENSHOT,
    "scroll": ActionKind.SCROLL,
    "type": ActionKind.TYPE,
    "wait": ActionKind.WAIT,
}
_BUTTONS: Mapping[str, Button] = {
    "left": Button.LEFT,
    "right": Button.RIGHT,
    "wheel": Button.MIDDLE,
    "back": Button.BACK,
    "forward": Button.FORWARD,
}
_BUTTON_NAMES = {button: name for name, button in _BUTTONS.items()}
_ARROWS = {way: f"ARROW{way.upper()}" for way in DIRECTIONS}


def declaration(shown: Size | None = None, environment: str = "linux") -> dict[str, Any]:
    """The entry of a request's ``tools``; with a size that of the retired preview, which Azure still takes."""
    if shown is None:
        return {"type": "computer"}
    choose("environment", environment, dict.fromkeys(ENVIRONMENTS))
    size = {"display_width": shown.width, "display_height": shown.height}
    return {"type": "computer_use_preview", **size, "environment": environment}


def parse(payload: object, screen: Size) -> list[Action]:
    """The actions of an action object, of a ``computer_call`` item, or of a list of either."""
    return read(payload, Pixels(screen, clamps=True))


def read(payload: object, grid: Pixels) -> list[Action]:
    return [action for item in batch(payload) for one in _unwrapped(item) for action in _actions(one, grid)]


def _unwrapped(item: object) -> list[object]:
    """The actions of a ``computer_call``, whose other fields say nothing about them."""
    if isinstance(item, Mapping) and item.get("type") == "computer_call":
        if item.get("actions") is not None:
            return check_items(item["actions"], "actions")
        return [item.get("action")]
    return [item]


def _actions(item: object, grid: Pixels) -> list[Action]:
    fields = LenientFields(item, "a computer action")
    name = fields.text("type")
    kind = choose("type", name, _TYPES)
    with quoting(item):
        action = _action(name, kind, fields, grid)
        held = () if kind is ActionKind.KEY else _keys(fields)
        if not held:
            actions = [action]
        elif kind is ActionKind.MOVE:
            down, up = Action(ActionKind.KEY_DOWN, keys=held), Action(ActionKind.KEY_UP, keys=held[::-1])
            actions = [down, action, up]
        else:
            actions = [_holding(action, held)]
    fields.end()
    return actions


def _holding(action: Action, held: tuple[str, ...]) -> Action:
    if action.kind not in (ActionKind.CLICK, ActionKind.DRAG, ActionKind.SCROLL):
        raise malformed(f"keys can't be held during {action.kind.value}", list(held))
    return replace(action, modifiers=held)


def _keys(fields: LenientFields) -> tuple[str, ...]:
    names = fields.take("keys")
    return () if names in (None, []) else chord(names)


def _action(name: str, kind: ActionKind, fields: LenientFields, grid: Pixels) -> Action:
    match kind:
        case ActionKind.CLICK if name == "double_click":
            return Action.click(_point(fields, grid), clicks=2, screen=grid.size)
        case ActionKind.CLICK:
            button = fields.choice("button", _BUTTONS, "left")
            return Action.click(_point(fields, grid), button=button, screen=grid.size)
        case ActionKind.MOVE:
            return Action.move(_point(fields, grid), screen=grid.size)
        case ActionKind.DRAG:
            return Action.drag(*_path(fields, grid), screen=grid.size)
        case ActionKind.SCROLL:
            dx, dy = fields.number("scroll_x", 0.0), fields.number("scroll_y", 0.0)
            return Action.scroll(_point(fields, grid), dx=dx, dy=dy, unit=ScrollUnit.PIXEL, screen=grid.size)
        case ActionKind.KEY:
            return Action.key(*_keys(fields))
        case ActionKind.TYPE:
            return Action.type(fields.text("text"))
        case ActionKind.WAIT:
            return Action.wait(WAIT_S)
    return Action(kind)


def _point(fields: LenientFields, grid: Pixels) -> Point:
    point = fields.x_and_y(grid)
    if point is None:
        raise malformed("x and y are missing", fields.what)
    return point


def _path(fields: LenientFields, grid: Pixels) -> list[Point]:
    """The points of a path, each {"x": x, "y": y} or [x, y]."""
    given = fields.need("path")
    places = check_items(read_json(given) if isinstance(given, str) else given, "points")
    if len(places) < 2:
        raise malformed("a drag needs at least two points", places)
    return [place(item, grid) for item in places]


def render(action: Action, screen: Size) -> dict[str, Any]:
    return write(action, Pixels(screen))


def write(action: Action, grid: Pixels) -> dict[str, Any]:
    check_carried(_NAME, action, CARRIES)
    at = _place(action.point, grid) if action.point else {}
    held = {"keys": _key_names(action, action.modifiers)} if action.modifiers else {}
    match action.kind:
        case ActionKind.MOVE:
            return {"type": "move", **at}
        case ActionKind.CLICK if action.clicks == 1:
            return {"type": "click", **at, "button": _BUTTON_NAMES[action.button], **held}
        case ActionKind.CLICK:
            if (action.clicks, action.button) != (2, Button.LEFT):
                refuse(_NAME, action, "it clicks more than once only twice and with the left button")
            return {"type": "double_click", **at, **held}
        case ActionKind.DRAG:
            if len(action.path) < 2:
                refuse(_NAME, action, "it has to say where a drag begins")
            return {"type": "drag", "path": [_place(point, grid) for point in action.path], **held}
        case ActionKind.SCROLL:
            dx, dy = whole_scroll(_NAME, action, ScrollUnit.PIXEL)
            return {"type": "scroll", **at, "scroll_x": dx, "scroll_y": dy, **held}
        case ActionKind.KEY:
            return {"type": "keypress", "keys": _key_names(action, action.keys)}
        case ActionKind.TYPE:
            return {"type": "type", "text": action.text}
        case ActionKind.WAIT if action.duration != WAIT_S:
            refuse(_NAME, action, f"it waits for {WAIT_S:g} s")
    return {"type": action.kind.value}


def _place(point: Point, grid: Pixels) -> dict[str, int]:
    return dict(zip("xy", grid.locate(point), strict=True))


def _key_names(action: Action, keys: tuple[str, ...]) -> list[str]:
    for key in keys:
        if len(key) == 1 and key != key.lower():
            refuse(_NAME, action, f"it does not tell the key {key!r} from {key.lower()!r}")
    return [key if len(key) == 1 else _ARROWS.get(key, key.upper()) for key in keys]


DIALECT = Dialect(
    title="OpenAI gpt-5.4 and later, Responses",
    way="tool",
    carries=CARRIES,
    reader=read,
    writer=write,
    limits=OPENAI,
    declares=lambda shown: [declaration()],
    lacks=("triple click", "hold", "zoom", "press and release of a button", "capital letters as keys"),
)
