"""The input of Anthropic's computer tool: ``{"action": ..., ...}``.

Keys have xdotool's names, scrolls a direction and a number of notches. ``zoom`` is a screenshot of a
region, whose borders are pixel edges; ``cursor_position`` is a call of the function of that name. The
end of a task is not an action here, and images are scaled elsewhere: pixels are those of ``screen``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from operant.actions.base import check_carried, refuse
from operant.actions.coordinates import Pixels, pair, region_at
from operant.actions.keys import keysym_name, parse_chord
from operant.actions.payload import MAX_ITEMS, Fields, batch, choose, malformed, quoting
from operant.actions.scrolling import DIRECTIONS, direction_of
from operant.types import Action, ActionKind, Button, Point, Size

__all__ = ["CARRIES", "CURSOR_POSITION", "parse", "render"]

_NAME = "anthropic"
#: The function of the call action that asks where the pointer is.
CURSOR_POSITION = "cursor_position"
CARRIES: Mapping[ActionKind, str] = {
    ActionKind.MOVE: "point",
    ActionKind.CLICK: "point button clicks modifiers",
    ActionKind.MOUSE_DOWN: "",
    ActionKind.MOUSE_UP: "",
    ActionKind.DRAG: "path",
    ActionKind.SCROLL: "point dx dy unit modifiers",
    ActionKind.KEY: "keys",
    ActionKind.HOLD: "keys duration",
    ActionKind.TYPE: "text",
    ActionKind.WAIT: "duration",
    ActionKind.SCREENSHOT: "region",
    ActionKind.CALL: "function",
}
_CLICKS: Mapping[str, tuple[Button, int]] = {
    "left_click": (Button.LEFT, 1),
    "right_click": (Button.RIGHT, 1),
    "middle_click": (Button.MIDDLE, 1),
    "double_click": (Button.LEFT, 2),
    "triple_click": (Button.LEFT, 3),
}
_CLICK_NAMES = {said: name for name, said in _CLICKS.items()}
_ACTIONS: Mapping[str, ActionKind] = {
    **dict.fromkeys(_CLICKS, ActionKind.CLICK),
    "key": ActionKind.KEY,
    "type": ActionKind.TYPE,
    "mouse_move": ActionKind.MOVE,
    "left_click_drag": ActionKind.DRAG,
    "left_mouse_down": ActionKind.MOUSE_DOWN,
    "left_mouse_up": ActionKind.MOUSE_UP,
    "scroll": ActionKind.SCROLL,
    "hold_key": ActionKind.HOLD,
    "wait": ActionKind.WAIT,
    "screenshot": ActionKind.SCREENSHOT,
    "zoom": ActionKind.SCREENSHOT,
    CURSOR_POSITION: ActionKind.CALL,
}


def parse(payload: object, screen: Size) -> list[Action]:
    """The actions of a tool input, of the ``tool_use`` block around it, or of a list of either."""
    return [action for item in batch(payload) for action in _actions(item, Pixels(screen))]


def _actions(item: object, grid: Pixels) -> list[Action]:
    if isinstance(item, Mapping) and item.get("type") == "tool_use":
        item = item.get("input")
    fields = Fields(item, "the computer tool's input")
    name = fields.text("action")
    kind = choose("action", name, _ACTIONS)
    with quoting(item):
        actions = _keys(fields) if kind is ActionKind.KEY else [_action(name, kind, fields, grid)]
    fields.end()
    return actions


def _keys(fields: Fields) -> list[Action]:
    """xdotool presses one chord after another; they are separated by spaces."""
    text, repeat = fields.text("text"), fields.integer("repeat", 1)
    chords = text.split() or [text]
    if not 0 < repeat * len(chords) <= MAX_ITEMS:
        raise malformed(f"not 1 to {MAX_ITEMS} key presses", text)
    return [Action.key(*parse_chord(chord)) for chord in chords] * repeat


def _action(name: str, kind: ActionKind, fields: Fields, grid: Pixels) -> Action:
    match kind:
        case ActionKind.CLICK:
            button, clicks = _CLICKS[name]
            point, held = _coordinate(fields, grid), _modifiers(fields)
            size = grid.size if point else None
            return Action.click(point, button=button, clicks=clicks, modifiers=held, screen=size)
        case ActionKind.MOVE:
            return Action(kind, point=_coordinate(fields, grid), screen=grid.size)
        case ActionKind.DRAG:
            ends = (_coordinate(fields, grid, "start_coordinate"), _coordinate(fields, grid))
            if ends[1] is None:
                raise malformed("a drag needs coordinate", fields.what)
            return Action.drag(*(end for end in ends if end), screen=grid.size)
        case ActionKind.SCROLL:
            return _scroll(fields, grid)
        case ActionKind.HOLD:
            return Action(kind, keys=parse_chord(fields.text("text")), duration=fields.number("duration"))
        case ActionKind.TYPE:
            return Action.type(fields.text("text"))
        case ActionKind.WAIT:
            return Action.wait(fields.number("duration"))
        case ActionKind.CALL:
            return Action(kind, function=CURSOR_POSITION)
        case ActionKind.SCREENSHOT if name == "zoom":
            return Action(kind, region=region_at(fields.need("region"), grid), screen=grid.size)
    return Action(kind)


def _coordinate(fields: Fields, grid: Pixels, name: str = "coordinate") -> Point | None:
    value = fields.take(name)
    return None if value is None else pair(value, grid)


def _modifiers(fields: Fields) -> tuple[str, ...]:
    text = fields.text("text", "")
    return parse_chord(text) if text else ()


def _scroll(fields: Fields, grid: Pixels) -> Action:
    dx, dy = fields.choice("scroll_direction", DIRECTIONS)
    amount = fields.integer("scroll_amount")
    if amount < 0:
        raise malformed("a negative scroll_amount", amount, "scroll_direction says which way")
    point = _coordinate(fields, grid)
    size = grid.size if point else None
    held = _modifiers(fields)
    return Action.scroll(point, dx=float(dx * amount), dy=float(dy * amount), modifiers=held, screen=size)


def render(action: Action, screen: Size) -> dict[str, Any]:
    check_carried(_NAME, action, CARRIES)
    grid = Pixels(screen)
    at = {"coordinate": list(grid.locate(action.point))} if action.point else {}
    held = {"text": _chord(action.modifiers)} if action.modifiers else {}
    match action.kind:
        case ActionKind.MOVE:
            return {"action": "mouse_move", **at}
        case ActionKind.CLICK:
            name = _CLICK_NAMES.get((action.button, action.clicks))
            if name is None:
                refuse(
                    _NAME, action, f"it has no {action.clicks}-fold click of the {action.button.value} button"
                )
            return {"action": name, **at, **held}
        case ActionKind.MOUSE_DOWN:
            return {"action": "left_mouse_down"}
        case ActionKind.MOUSE_UP:
            return {"action": "left_mouse_up"}
        case ActionKind.DRAG:
            *start, end = (list(grid.locate(point)) for point in action.path)
            if len(start) > 1:
                refuse(_NAME, action, "it drags in one straight line")
            begin = {"start_coordinate": start[0]} if start else {}
            return {"action": "left_click_drag", **begin, "coordinate": end}
        case ActionKind.SCROLL:
            direction, amount = direction_of(_NAME, action)
            return {"action": "scroll", **at, "scroll_direction": direction, "scroll_amount": amount, **held}
        case ActionKind.KEY:
            return {"action": "key", "text": _chord(action.keys)}
        case ActionKind.HOLD:
            return {"action": "hold_key", "text": _chord(action.keys), "duration": action.duration}
        case ActionKind.TYPE:
            return {"action": "type", "text": action.text}
        case ActionKind.WAIT:
            return {"action": "wait", "duration": action.duration}
        case ActionKind.CALL:
            if action.function != CURSOR_POSITION:
                refuse(_NAME, action, f"it has no function {action.function!r}")
            return {"action": CURSOR_POSITION}
    if action.region is None:
        return {"action": "screenshot"}
    edges = [number for corner in action.region for number in grid.locate_edge(corner)]
    if edges[0] >= edges[2] or edges[1] >= edges[3]:
        refuse(_NAME, action, "its region holds no whole pixel")
    return {"action": "zoom", "region": edges}


def _chord(keys: tuple[str, ...]) -> str:
    return "+".join(keysym_name(key) for key in keys)
