"""OSWorld's computer_13: ``{"action_type": ..., "parameters": {...}}``, or the words WAIT, FAIL and DONE.

OSWorld performs these through pyautogui, so keys have pyautogui's names and a positive ``dy`` scrolls up.
Scrolls and button presses happen where the pointer is. Not known: OSWorld's server and its pauses.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from operant.actions.base import check_carried, pyautogui_keys, refuse
from operant.actions.coordinates import Pixels, point_at
from operant.actions.keys import canonical_key, canonical_keys
from operant.actions.payload import Fields, batch, choose, quoting
from operant.actions.scrolling import whole_scroll
from operant.types import Action, ActionKind, Button, ScrollUnit, Size

__all__ = ["CARRIES", "parse", "render"]

_NAME = "computer_13"
CARRIES: Mapping[ActionKind, str] = {
    ActionKind.MOVE: "point",
    ActionKind.CLICK: "point button clicks",
    ActionKind.MOUSE_DOWN: "button",
    ActionKind.MOUSE_UP: "button",
    ActionKind.DRAG: "path",
    ActionKind.SCROLL: "dx dy unit",
    ActionKind.KEY: "keys",
    ActionKind.KEY_DOWN: "keys",
    ActionKind.KEY_UP: "keys",
    ActionKind.TYPE: "text",
    ActionKind.WAIT: "",
    ActionKind.DONE: "",
    ActionKind.FAIL: "",
}
_TYPES: Mapping[str, ActionKind] = {
    "MOVE_TO": ActionKind.MOVE,
    "CLICK": ActionKind.CLICK,
    "RIGHT_CLICK": ActionKind.CLICK,
    "DOUBLE_CLICK": ActionKind.CLICK,
    "MOUSE_DOWN": ActionKind.MOUSE_DOWN,
    "MOUSE_UP": ActionKind.MOUSE_UP,
    "DRAG_TO": ActionKind.DRAG,
    "SCROLL": ActionKind.SCROLL,
    "TYPING": ActionKind.TYPE,
    "PRESS": ActionKind.KEY,
    "HOTKEY": ActionKind.KEY,
    "KEY_DOWN": ActionKind.KEY_DOWN,
    "KEY_UP": ActionKind.KEY_UP,
    "WAIT": ActionKind.WAIT,
    "FAIL": ActionKind.FAIL,
    "DONE": ActionKind.DONE,
}
_BUTTONS: Mapping[str, Button] = {b.value: b for b in (Button.LEFT, Button.MIDDLE, Button.RIGHT)}


def parse(payload: object, screen: Size) -> list[Action]:
    """The action of an object or a word, or the actions of a list of them."""
    return [_action(item, Pixels(screen)) for item in batch(payload)]


def _action(item: object, grid: Pixels) -> Action:
    outer = Fields({"action_type": item} if isinstance(item, str) else item, _NAME)
    name = outer.text("action_type")
    kind = choose("action_type", name, _TYPES)
    fields = outer
    if "parameters" in outer:
        fields = Fields(outer.take("parameters"), name)
    outer.ignore("parameters")
    with quoting(item):
        action = _read(name, kind, fields, grid)
    fields.end()
    outer.end()
    return action


def _read(name: str, kind: ActionKind, fields: Fields, grid: Pixels) -> Action:
    match kind:
        case ActionKind.MOVE | ActionKind.CLICK | ActionKind.DRAG:
            return _pointer(name, kind, fields, grid)
        case ActionKind.MOUSE_DOWN | ActionKind.MOUSE_UP:
            return Action(kind, button=fields.choice("button", _BUTTONS, "left"))
        case ActionKind.SCROLL:
            # pyautogui drops what is behind the decimal point.
            dx, up = int(fields.number("dx", 0.0)), int(fields.number("dy", 0.0))
            return Action.scroll(dx=float(dx), dy=float(-up))
        case ActionKind.TYPE:
            return Action.type(fields.text("text"))
        case ActionKind.KEY if name == "HOTKEY":
            return Action.key(*canonical_keys(fields.need("keys")))
        case ActionKind.KEY | ActionKind.KEY_DOWN | ActionKind.KEY_UP:
            return Action(kind, keys=(canonical_key(fields.text("key")),))
    return Action(kind)


def _pointer(name: str, kind: ActionKind, fields: Fields, grid: Pixels) -> Action:
    point = point_at(fields, grid)
    size = grid.size if point else None
    if kind is ActionKind.DRAG:
        return Action(kind, path=(point,) if point else (), screen=size)
    if name == "RIGHT_CLICK":
        return Action.click(point, button=Button.RIGHT, screen=size)
    if name == "DOUBLE_CLICK":
        return Action.click(point, clicks=2, screen=size)
    if name == "CLICK":
        button, clicks = fields.choice("button", _BUTTONS, "left"), fields.integer("num_clicks", 1)
        return Action.click(point, button=button, clicks=clicks, screen=size)
    return Action(kind, point=point, screen=size)


def render(action: Action, screen: Size) -> dict[str, Any]:
    check_carried(_NAME, action, CARRIES)
    if action.button.value not in _BUTTONS:
        refuse(_NAME, action, f"it has no {action.button.value} button")
    name, parameters = _parameters(action, Pixels(screen))
    return {"action_type": name, "parameters": parameters}


def _parameters(action: Action, grid: Pixels) -> tuple[str, dict[str, Any]]:
    at = dict(zip("xy", grid.locate(action.point), strict=True)) if action.point else {}
    match action.kind:
        case ActionKind.MOVE:
            return "MOVE_TO", at
        case ActionKind.CLICK:
            # OSWorld refuses a count of clicks that comes without a button or a place.
            clicks = {"num_clicks": action.clicks} if action.clicks != 1 else {}
            return "CLICK", {"button": action.button.value, **at, **clicks}
        case ActionKind.MOUSE_DOWN | ActionKind.MOUSE_UP:
            return action.kind.name, {"button": action.button.value}
        case ActionKind.DRAG:
            if len(action.path) > 1:
                refuse(_NAME, action, "it drags from where the pointer is to one point")
            return "DRAG_TO", dict(zip("xy", grid.locate(action.path[0]), strict=True))
        case ActionKind.SCROLL:
            dx, dy = whole_scroll(_NAME, action, ScrollUnit.NOTCH)
            return "SCROLL", {"dx": dx, "dy": -dy}
        case ActionKind.TYPE:
            return "TYPING", {"text": action.text}
        case ActionKind.KEY if len(action.keys) > 1:
            return "HOTKEY", {"keys": pyautogui_keys(_NAME, action)}
        case ActionKind.KEY | ActionKind.KEY_DOWN | ActionKind.KEY_UP:
            if len(action.keys) > 1:
                refuse(_NAME, action, "it takes one key at a time")
            name = "PRESS" if action.kind is ActionKind.KEY else action.kind.name
            return name, {"key": pyautogui_keys(_NAME, action)[0]}
    return action.kind.name, {}
