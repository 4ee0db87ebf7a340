"""Anthropic's computer tool, in every version: ``{"action": ..., ...}``, and the members of the toolset.

The toolset names its members where the older tools have ``action``: ``{"name": "left_click",
"toolset_name": "computer", "input": {...}}``. Keys have xdotool's names, scrolls a direction and a number of
notches. ``zoom`` is a screenshot of a region, whose borders are pixel edges; ``cursor_position`` is a call of
the function of that name. The end of a task is not an action here. Pixels are those of ``screen``, the last
full screenshot that the model was shown (its size: ``operant.actions.frames``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from operant.actions.base import check_carried, refuse
from operant.actions.coordinates import Pixels, region_at
from operant.actions.dialect import Dialect
from operant.actions.frames import ANTHROPIC, ANTHROPIC_OLDER, Limits
from operant.actions.keys import keysym_name, parse_chord
from operant.actions.lenient import LenientFields, chord, listed, unquoted
from operant.actions.payload import MAX_ITEMS, batch, choose, malformed, quoting
from operant.actions.scrolling import DIRECTIONS, direction_of
from operant.types import Action, ActionKind, Button, Point, Size

__all__ = [
    "CARRIES",
    "CURSOR_POSITION",
    "DIALECTS",
    "TOOLSET",
    "VERSIONS",
    "Version",
    "declaration",
    "parse",
    "render",
    "render_member",
]

_NAME = "anthropic"
#: The function of the call action that asks where the pointer is.
CURSOR_POSITION = "cursor_position"
CARRIES: Mapping[ActionKind, str] = {
    ActionKind.MOVE: "point",
    ActionKind.CLICK: "point button clicks modifiers",
    ActionKind.MOUSE_DOWN: "",
    ActionKind.MOUSE_UP: "",
    ActionKind.DRAG: "path modifiers",
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
_TOOL = "computer"
TOOLSET = "computer_toolset_20260801"


@dataclass(frozen=True, slots=True)
class Version:
    """One version of the tool: the beta header that it needs and the actions that it lacks."""

    beta: str | None
    lacks: frozenset[str] = frozenset()


_SINCE_2025 = frozenset({"left_mouse_down", "left_mouse_up", "scroll", "hold_key", "wait", "triple_click"})
#: Newest first.
VERSIONS: Mapping[str, Version] = {
    TOOLSET: Version(None),
    "computer_20251124": Version("computer-use-2025-11-24"),
    "computer_20250124": Version("computer-use-2025-01-24", frozenset({"zoom"})),
    "computer_20241022": Version("computer-use-2024-10-22", _SINCE_2025 | {"zoom"}),
}


def declaration(version: str, shown: Size, *, zoom: bool = True) -> dict[str, Any]:
    """The entry of a request's ``tools``, for a model that is shown pictures of this size."""
    choose("version", version, VERSIONS)
    if version == TOOLSET:
        return {"type": version, **({} if zoom else {"configs": {"zoom": {"enabled": False}}})}
    size = {"display_width_px": shown.width, "display_height_px": shown.height}
    may_zoom = {"enable_zoom": True} if zoom and version == "computer_20251124" else {}
    return {"type": version, "name": _TOOL, **size, **may_zoom}


def parse(payload: object, screen: Size) -> list[Action]:
    """The actions of a tool input, of the ``tool_use`` block around it, or of a list of either."""
    return read(payload, Pixels(screen, clamps=True))


def read(payload: object, grid: Pixels) -> list[Action]:
    return [action for item in batch(payload) for action in _actions(item, grid)]


def _input(item: object) -> object:
    """The input of a ``tool_use`` block, with the toolset's member as its action."""
    if not isinstance(item, Mapping) or not (item.get("type") == "tool_use" or "input" in item):
        return item
    toolset, name, given = item.get("toolset_name"), item.get("name"), item.get("input")
    if toolset not in (None, _TOOL):
        raise malformed("a call of another toolset", toolset)
    if name in (None, _TOOL) and toolset is None:
        return given
    if given is None:
        given = {}
    if not isinstance(given, Mapping):
        raise malformed("the tool's input is not an object", given)
    if given.get("action") not in (None, name):
        raise malformed("a member of the toolset with another action in its input", given["action"])
    return {**given, "action": name}


def _actions(item: object, grid: Pixels) -> list[Action]:
    item = _input(item)
    fields = LenientFields(item, "the computer tool's input")
    name = fields.text("action")
    kind = choose("action", name, _ACTIONS)
    with quoting(item):
        actions = _keys(fields) if kind is ActionKind.KEY else [_action(name, kind, fields, grid)]
    fields.end()
    return actions


def _keys(fields: LenientFields) -> list[Action]:
    """xdotool presses one chord after another; they are separated by spaces."""
    text, repeat = fields.text("text"), fields.integer("repeat", 1)
    chords = text.split() or [text]
    if not 0 < repeat * len(chords) <= MAX_ITEMS:
        raise malformed(f"not 1 to {MAX_ITEMS} key presses", text)
    return [Action.key(*parse_chord(chord)) for chord in chords] * repeat


def _action(name: str, kind: ActionKind, fields: LenientFields, grid: Pixels) -> Action:
    match kind:
        case ActionKind.CLICK:
            button, clicks = _CLICKS[name]
            point, held = fields.place("coordinate", grid), _modifiers(fields)
            size = grid.size if point else None
            return Action.click(point, button=button, clicks=clicks, modifiers=held, screen=size)
        case ActionKind.MOVE:
            return Action(kind, point=fields.place("coordinate", grid), screen=grid.size)
        case ActionKind.MOUSE_DOWN | ActionKind.MOUSE_UP:
            point = fields.place("coordinate", grid)
            return Action(kind, point=point, screen=grid.size if point else None)
        case ActionKind.DRAG:
            ends = (fields.place("start_coordinate", grid), fields.place("coordinate", grid))
            if ends[1] is None:
                raise malformed("a drag needs coordinate", fields.what)
            held = _modifiers(fields)
            return Action.drag(*(end for end in ends if end), modifiers=held, screen=grid.size)
        case ActionKind.SCROLL:
            return _scroll(fields, grid)
        case ActionKind.HOLD:
            return Action(kind, keys=parse_chord(fields.text("text")), duration=fields.seconds("duration"))
        case ActionKind.TYPE:
            return Action.type(fields.text("text"))
        case ActionKind.WAIT:
            return Action.wait(fields.seconds("duration"))
        case ActionKind.CALL:
            return Action(kind, function=CURSOR_POSITION)
        case ActionKind.SCREENSHOT if name == "zoom":
            return Action(kind, region=_region(fields, grid), screen=grid.size)
    return Action(kind)


def _region(fields: LenientFields, grid: Pixels) -> tuple[Point, Point]:
    return region_at([unquoted(item) for item in listed(fields.need("region"), "numbers")], grid)


def _modifiers(fields: LenientFields) -> tuple[str, ...]:
    """The keys held meanwhile. The API names them ``text``, Anthropic's own demo ``key``."""
    given = [value for name in ("text", "key") if (value := fields.take(name)) not in (None, "")]
    if len(given) > 1:
        raise malformed("modifiers given twice", given)
    return chord(given[0], letters=False) if given else ()


def _scroll(fields: LenientFields, grid: Pixels) -> Action:
    dx, dy = fields.choice("scroll_direction", DIRECTIONS)
    amount = fields.integer("scroll_amount")
    if amount < 0:
        raise malformed("a negative scroll_amount", amount, "scroll_direction says which way")
    point = fields.place("coordinate", grid)
    size = grid.size if point else None
    held = _modifiers(fields)
    return Action.scroll(point, dx=float(dx * amount), dy=float(dy * amount), modifiers=held, screen=size)


def render(action: Action, screen: Size) -> dict[str, Any]:
    return write(action, Pixels(screen))


def write(action: Action, grid: Pixels) -> dict[str, Any]:
    check_carried(_NAME, action, CARRIES)
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
            return {"action": "left_click_drag", **begin, "coordinate": end, **held}
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


def render_member(action: Action, screen: Size) -> dict[str, Any]:
    """The action as a call of the toolset: the parts of a ``tool_use`` block besides type and id."""
    return _write_member(action, Pixels(screen))


def _write_member(action: Action, grid: Pixels) -> dict[str, Any]:
    given = write(action, grid)
    return {"name": given.pop("action"), "toolset_name": _TOOL, "input": given}


def _chord(keys: tuple[str, ...]) -> str:
    return "+".join(keysym_name(key) for key in keys)


def _writer(version: str) -> Callable[[Action, Pixels], dict[str, Any]]:
    """The writer of an older version, which refuses what that version lacks."""

    def write_version(action: Action, grid: Pixels) -> dict[str, Any]:
        said = write(action, grid)
        if said["action"] in VERSIONS[version].lacks:
            refuse(version, action, f"it has no {said['action']}")
        return said

    return write_version


def _dialect(version: str, title: str, limits: Limits) -> Dialect:
    lacks = {"key down and up", "buttons back and forward", *VERSIONS[version].lacks}
    has = {kind for name, kind in _ACTIONS.items() if name not in lacks}
    return Dialect(
        title=title,
        way="tool",
        carries={kind: fields for kind, fields in CARRIES.items() if kind in has},
        reader=read,
        writer=_write_member if version == TOOLSET else _writer(version),
        limits=limits,
        declares=lambda shown: [declaration(version, shown)],
        lacks=tuple(sorted(lacks)),
    )


#: One per version of the tool, newest first.
DIALECTS: Mapping[str, Dialect] = {
    TOOLSET: _dialect(TOOLSET, "Claude 5.5 and most of 4.8 and 5", ANTHROPIC),
    "computer_20251124": _dialect("computer_20251124", "Claude 4.5 to 5", ANTHROPIC),
    "computer_20250124": _dialect("computer_20250124", "Claude Sonnet and Haiku 4.5", ANTHROPIC_OLDER),
    "computer_20241022": _dialect("computer_20241022", "Claude 3.5", ANTHROPIC_OLDER),
}
