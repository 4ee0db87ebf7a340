"""UI-RL's environment servers: the parameters of ``/act``, such as ``action_type=left_click&x=10&y=20``.

Keys have pyautogui's names, joined by "+". Coordinates are pixels. Every scroll is by three notches, up or down.
The first generation of servers knows the pointer's actions only. Not known: sessions, pauses and pictures.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from operant.actions.base import check_carried, pyautogui_keys, refuse
from operant.actions.coordinates import Pixels, pair, point_at
from operant.actions.keys import parse_chord
from operant.actions.payload import Fields, choose, quoting
from operant.actions.scrolling import direction_of
from operant.types import Action, ActionKind, Button, Size

__all__ = ["ACTION_TYPES", "CARRIES", "NOTCHES", "parse", "render"]

_NAME = "ui_rl"
#: How far each scroll goes.
NOTCHES = 3
CARRIES: Mapping[ActionKind, str] = {
    ActionKind.SCREENSHOT: "",
    ActionKind.MOVE: "point",
    ActionKind.CLICK: "point! button clicks",
    ActionKind.SCROLL: "point dx dy unit",
    ActionKind.KEY: "keys",
    ActionKind.TYPE: "text",
}
#: Button and count.
_CLICKS: Mapping[str, tuple[Button, int]] = {
    "left_click": (Button.LEFT, 1),
    "right_click": (Button.RIGHT, 1),
    "double_click": (Button.LEFT, 2),
    "triple_click": (Button.LEFT, 3),
}
ACTION_TYPES: Mapping[str, ActionKind] = {
    "screenshot": ActionKind.SCREENSHOT,
    "mouse_move": ActionKind.MOVE,
    **dict.fromkeys(_CLICKS, ActionKind.CLICK),
    "type": ActionKind.TYPE,
    "keys": ActionKind.KEY,
    "scroll": ActionKind.SCROLL,
}
_DIRECTIONS: Mapping[str, int] = {"up": -NOTCHES, "down": NOTCHES}


def parse(payload: object, screen: Size) -> list[Action]:
    """The action of one request's parameters. Those that its type has no use for are passed over, as UI-RL does."""
    fields = Fields(payload, _NAME)
    name = fields.text("action_type")
    kind = choose("action_type", name, ACTION_TYPES)
    fields.ignore("x", "y", "text", "keys", "direction", "delay")
    fields.end()
    fields.what = name
    with quoting(payload):
        return [_read(name, kind, fields, Pixels(screen))]


def _read(name: str, kind: ActionKind, fields: Fields, grid: Pixels) -> Action:
    match kind:
        case ActionKind.MOVE | ActionKind.CLICK:
            point = pair([fields.number("x"), fields.number("y")], grid)
            if kind is ActionKind.MOVE:
                return Action.move(point, screen=grid.size)
            button, clicks = _CLICKS[name]
            return Action.click(point, button=button, clicks=clicks, screen=grid.size)
        case ActionKind.SCROLL:
            place = point_at(fields, grid)
            notches = fields.choice("direction", _DIRECTIONS)
            return Action.scroll(place, dy=float(notches), screen=grid.size if place else None)
        case ActionKind.TYPE:
            return Action.type(fields.text("text"))
        case ActionKind.KEY:
            return Action.key(*parse_chord(fields.text("keys")))
    return Action(kind)


def render(action: Action, screen: Size) -> dict[str, Any]:
    check_carried(_NAME, action, CARRIES)
    at = dict(zip("xy", Pixels(screen).locate(action.point), strict=True)) if action.point else {}
    match action.kind:
        case ActionKind.MOVE:
            return {"action_type": "mouse_move", **at}
        case ActionKind.CLICK:
            for name, form in _CLICKS.items():
                if form == (action.button, action.clicks):
                    return {"action_type": name, **at}
            refuse(_NAME, action, f"it has no {action.clicks} clicks of the {action.button.value} button")
        case ActionKind.SCROLL:
            direction, notches = direction_of(_NAME, action)
            if direction not in _DIRECTIONS or notches != NOTCHES:
                refuse(_NAME, action, f"it scrolls by {NOTCHES} notches, up or down")
            return {"action_type": "scroll", "direction": direction, **at}
        case ActionKind.TYPE:
            return {"action_type": "type", "text": action.text}
        case ActionKind.KEY:
            return {"action_type": "keys", "keys": "+".join(pyautogui_keys(_NAME, action))}
    return {"action_type": "screenshot"}
