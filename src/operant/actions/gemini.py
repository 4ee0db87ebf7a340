"""Gemini's computer use: calls such as ``{"name": "click", "args": {"x": 500, "y": 250, "intent": ...}}``.

Two sets of functions: that of gemini-3.5-flash for desktops (``DIALECT``) and that of 2.5 for browsers (``BROWSER``);
either reader takes both. Coordinates are 0 to 999 of a grid of 1000. ``type_text_at`` is a click, a clearing and typed
text. Navigation is done by the keys that browsers share. ``safety_decision`` is for the keeper of the conversation.
The end of a task is a reply without a call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from operant.actions.base import check_carried, refuse
from operant.actions.coordinates import Thousandths, Units
from operant.actions.dialect import Dialect
from operant.actions.frames import GEMINI
from operant.actions.lenient import LenientFields, chord
from operant.actions.payload import choose, malformed, quoting
from operant.actions.scrolling import DIRECTIONS
from operant.actions.tool_calls import FunctionCall, function_calls
from operant.types import Action, ActionKind, Button, Point, ScrollUnit, Size

__all__ = ["BROWSER", "BROWSER_CARRIES", "BROWSER_FUNCTIONS", "CARRIES", "DIALECT", "declaration"]

_NAME = "gemini"
CARRIES: Mapping[ActionKind, str] = {
    ActionKind.MOVE: "point",
    ActionKind.CLICK: "point! button clicks",
    ActionKind.MOUSE_DOWN: "point!",
    ActionKind.MOUSE_UP: "point!",
    ActionKind.DRAG: "path",
    ActionKind.SCROLL: "point! dx dy unit",
    ActionKind.KEY: "keys",
    ActionKind.KEY_DOWN: "keys",
    ActionKind.KEY_UP: "keys",
    ActionKind.TYPE: "text",
    ActionKind.WAIT: "duration!",
    ActionKind.SCREENSHOT: "",
}
BROWSER_CARRIES: Mapping[ActionKind, str] = {
    ActionKind.MOVE: "point",
    ActionKind.CLICK: "point!",
    ActionKind.DRAG: "path",
    ActionKind.SCROLL: "point! dx dy unit",
    ActionKind.KEY: "keys",
    ActionKind.WAIT: "duration!",
    ActionKind.CALL: "function",
}
_CLICKS: Mapping[str, tuple[Button, int]] = {
    "click": (Button.LEFT, 1),
    "double_click": (Button.LEFT, 2),
    "triple_click": (Button.LEFT, 3),
    "middle_click": (Button.MIDDLE, 1),
    "right_click": (Button.RIGHT, 1),
    "click_at": (Button.LEFT, 1),
}
_POINTED: Mapping[str, ActionKind] = {
    "move": ActionKind.MOVE,
    "hover_at": ActionKind.MOVE,
    "mouse_down": ActionKind.MOUSE_DOWN,
    "mouse_up": ActionKind.MOUSE_UP,
}
_KEYS: Mapping[str, ActionKind] = {
    "press_key": ActionKind.KEY,
    "key_down": ActionKind.KEY_DOWN,
    "key_up": ActionKind.KEY_UP,
}
_BROWSER_KEYS = {"go_back": ("alt", "left"), "go_forward": ("alt", "right")}
_CALLED = ("open_web_browser", "search")
_OTHERS = (
    "type type_text_at drag_and_drop scroll scroll_at scroll_document hotkey key_combination wait wait_5_seconds"
    " take_screenshot navigate"
)
_NAMES = dict.fromkeys([*_CLICKS, *_POINTED, *_KEYS, *_BROWSER_KEYS, *_CALLED, *_OTHERS.split()])
#: Every function that the tool has in a browser.
BROWSER_FUNCTIONS = (
    *_BROWSER_KEYS,
    *_CALLED,
    *["wait_5_seconds", "navigate", "click_at", "hover_at", "type_text_at", "key_combination"],
    *["scroll_document", "scroll_at", "drag_and_drop"],
)
#: How far a scroll goes that does not say so.
SCROLL_PIXELS, SCROLL_THOUSANDTHS, LONGEST_SCROLL = 300, 800, 999


def declaration(environment: str = "ENVIRONMENT_DESKTOP", excluded: Sequence[str] = ()) -> dict[str, Any]:
    """The entry of a request's ``tools`` for generateContent."""
    left_out = {"excludedPredefinedFunctions": list(excluded)} if excluded else {}
    return {"computerUse": {"environment": environment, **left_out}}


def read(payload: object, grid: Thousandths) -> list[Action]:
    """The actions of a function call or of a list of them."""
    actions: list[Action] = []
    for call in function_calls(payload):
        choose("function", call.name, _NAMES)
        fields = call.fields()
        fields.ignore("intent", "safety_decision")
        with quoting(call.arguments):
            actions += _actions(call, fields, grid)
        fields.end()
    return actions


def _actions(call: FunctionCall, fields: LenientFields, grid: Thousandths) -> list[Action]:
    name = call.name
    if name in _CLICKS:
        button, clicks = _CLICKS[name]
        return [Action.click(_point(fields, grid), button=button, clicks=clicks)]
    if name in _POINTED:
        return [Action(_POINTED[name], point=_point(fields, grid))]
    if name in _KEYS:
        return [Action(_KEYS[name], keys=chord(fields.need("key")))]
    if name in _BROWSER_KEYS:
        return [Action.key(*_BROWSER_KEYS[name])]
    match name:
        case "type":
            return [_typed(fields, press_enter=False)]
        case "type_text_at":
            click = Action.click(_point(fields, grid))
            clear = fields.flag("clear_before_typing", True)
            cleared = [Action.key("ctrl", "a"), Action.key("backspace")] if clear else []
            return [click, *cleared, _typed(fields, press_enter=True)]
        case "drag_and_drop":
            browser = "destination_x" in fields or "destination_y" in fields
            start = _point(fields, grid, *(("x", "y") if browser else ("start_x", "start_y")))
            return [
                Action.drag(start, _point(fields, grid, *(_TO_BROWSER if browser else ("end_x", "end_y"))))
            ]
        case "scroll" | "scroll_at" | "scroll_document":
            return [_scroll(name, fields, grid)]
        case "hotkey" | "key_combination":
            return [Action.key(*chord(fields.need("keys")))]
        case "wait":
            return [Action.wait(fields.seconds("seconds", 1.0))]
        case "wait_5_seconds":
            return [Action.wait(5.0)]
        case "navigate":
            return [Action.key("ctrl", "l"), Action.type(fields.text("url") + "\n")]
        case "take_screenshot":
            return [Action(ActionKind.SCREENSHOT)]
    return [Action(ActionKind.CALL, function=name)]


_TO_BROWSER = ("destination_x", "destination_y")


def _point(fields: LenientFields, grid: Thousandths, x: str = "x", y: str = "y") -> Point:
    point = fields.x_and_y(grid, x, y)
    if point is None:
        raise malformed(f"{x} and {y} are missing", fields.what)
    return point


def _typed(fields: LenientFields, *, press_enter: bool) -> Action:
    return Action.type(fields.text("text") + ("\n" if fields.flag("press_enter", press_enter) else ""))


def _scroll(name: str, fields: LenientFields, grid: Thousandths) -> Action:
    direction = fields.text("direction").lower()
    dx, dy = choose("direction", direction, DIRECTIONS)
    shown = grid.shown or Size(1000, 1000)
    side = shown.width if dx else shown.height
    if name == "scroll_document":
        if dy:
            return Action.key("pagedown" if dy > 0 else "pageup")
        return Action.scroll(None, dx=dx * side / 2, unit=ScrollUnit.PIXEL)
    if name == "scroll":
        pixels = fields.number("magnitude_in_pixels", SCROLL_PIXELS)
    else:
        pixels = fields.number("magnitude", SCROLL_THOUSANDTHS) * side / 1000
    if pixels < 0:
        raise malformed("a negative scroll", pixels, "direction says which way")
    return Action.scroll(_point(fields, grid), dx=dx * pixels, dy=dy * pixels, unit=ScrollUnit.PIXEL)


def write(action: Action, grid: Thousandths) -> dict[str, Any]:
    """A call of the desktop's set."""
    check_carried(_NAME, action, CARRIES)
    at = _at(action.point, grid)
    match action.kind:
        case ActionKind.CLICK:
            for name, said in _CLICKS.items():
                if said == (action.button, action.clicks):
                    return _said(name, at)
            refuse(_NAME, action, f"it has no {action.clicks}-fold click of the {action.button.value} button")
        case ActionKind.MOVE | ActionKind.MOUSE_DOWN | ActionKind.MOUSE_UP:
            return _said(action.kind.value, at)
        case ActionKind.DRAG:
            return _said("drag_and_drop", _ends(action, grid, ("start_x", "start_y"), ("end_x", "end_y")))
        case ActionKind.SCROLL:
            direction, pixels = _direction(action)
            if not pixels.is_integer() or pixels > LONGEST_SCROLL:
                refuse(_NAME, action, f"it scrolls by whole pixels, at most {LONGEST_SCROLL}")
            return _said("scroll", {**at, "direction": direction, "magnitude_in_pixels": int(pixels)})
        case ActionKind.KEY if len(action.keys) > 1:
            return _said("hotkey", {"keys": _keys(action)})
        case ActionKind.KEY | ActionKind.KEY_DOWN | ActionKind.KEY_UP:
            name = {"key": "press_key"}.get(action.kind.value, action.kind.value)
            keys = _keys(action)
            if len(keys) > 1:
                refuse(_NAME, action, "it presses and releases one key at a time")
            return _said(name, {"key": keys[0]})
        case ActionKind.TYPE:
            return _said("type", {"text": action.text})
        case ActionKind.WAIT:
            return _said("wait", {"seconds": action.duration})
    return _said("take_screenshot", {})


def _write_browser(action: Action, grid: Thousandths) -> dict[str, Any]:
    """A call of the browser's set."""
    check_carried(_NAME, action, BROWSER_CARRIES)
    at = _at(action.point, grid)
    match action.kind:
        case ActionKind.CLICK:
            return _said("click_at", at)
        case ActionKind.MOVE:
            return _said("hover_at", at)
        case ActionKind.DRAG:
            return _said("drag_and_drop", _ends(action, grid, ("x", "y"), _TO_BROWSER))
        case ActionKind.SCROLL:
            direction, pixels = _direction(action)
            shown = grid.shown or Size(1000, 1000)
            magnitude = round(
                pixels * 1000 / (shown.width if direction in ("left", "right") else shown.height)
            )
            side = shown.width if direction in ("left", "right") else shown.height
            if magnitude > LONGEST_SCROLL or magnitude * side / 1000 != pixels:
                refuse(
                    _NAME, action, f"it scrolls by whole thousandths of the screen, at most {LONGEST_SCROLL}"
                )
            return _said("scroll_at", {**at, "direction": direction, "magnitude": magnitude})
        case ActionKind.KEY:
            if "+" in action.keys[:-1]:
                refuse(_NAME, action, "it joins keys by +")
            return _said("key_combination", {"keys": "+".join(_keys(action))})
        case ActionKind.WAIT:
            if action.duration != 5:
                refuse(_NAME, action, "it waits for 5 s")
            return _said("wait_5_seconds", {})
    if action.function not in _CALLED:
        refuse(_NAME, action, f"it has no function {action.function!r}")
    return _said(action.function, {})


def _said(name: str, args: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "args": args}


def _at(point: Point | None, grid: Thousandths, x: str = "x", y: str = "y") -> dict[str, Any]:
    return dict(zip((y, x), grid.locate(point)[::-1], strict=True)) if point else {}


def _ends(action: Action, grid: Thousandths, start: tuple[str, str], end: tuple[str, str]) -> dict[str, Any]:
    if len(action.path) != 2:
        refuse(_NAME, action, "it drags from one point to another")
    return {**_at(action.path[0], grid, *start), **_at(action.path[1], grid, *end)}


def _direction(action: Action) -> tuple[str, float]:
    if action.unit is not ScrollUnit.PIXEL or (action.dx and action.dy):
        refuse(_NAME, action, "it scrolls by pixels, along one axis at a time")
    if action.dx:
        return ("right" if action.dx > 0 else "left"), abs(action.dx)
    return ("up" if action.dy < 0 else "down"), abs(action.dy)


def _keys(action: Action) -> list[str]:
    for key in action.keys:
        if len(key) == 1 and key != key.lower():
            refuse(_NAME, action, f"it does not tell the key {key!r} from {key.lower()!r}")
    return list(action.keys)


DIALECT = Dialect(
    title="Gemini 3.5 Flash and later, desktop",
    way="tool",
    carries=CARRIES,
    reader=read,
    writer=write,
    units=(Units.UP_TO_999,),
    limits=GEMINI,
    declares=lambda shown: [declaration()],
    lacks=("modifiers", "hold", "zoom", "capital letters as keys"),
)
BROWSER = replace(
    DIALECT,
    title="Gemini 2.5 computer use and 3 Flash, browser",
    carries=BROWSER_CARRIES,
    writer=_write_browser,
    # These two have no meaning on a desktop, which may have no browser.
    declares=lambda shown: [declaration("ENVIRONMENT_BROWSER", _CALLED)],
    lacks=(
        "double click",
        "right click",
        "modifiers",
        "typing where the caret is",
        "key down and up",
        "hold",
        "zoom",
    ),
)
