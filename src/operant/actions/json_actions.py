"""Operant's own JSON form of an action: nothing is lost, and coordinates are fractions of the screen.

Used on disk and on the wire. A field that has its default value is left out. Knows nothing of files
or sockets; what it makes and takes are objects that ``json`` can write and read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from operant.actions.base import check_carried
from operant.actions.keys import canonical_keys
from operant.actions.payload import Fields, batch, check_items, check_number, json_value, malformed, quoting
from operant.types import Action, ActionKind, Button, Point, ScrollUnit, Size

__all__ = ["CARRIES", "from_json", "parse", "render", "to_json"]

_NAME = "json"
_KINDS: Mapping[str, ActionKind] = {kind.value: kind for kind in ActionKind}
_BUTTONS: Mapping[str, Button] = {button.value: button for button in Button}
_UNITS: Mapping[str, ScrollUnit] = {unit.value: unit for unit in ScrollUnit}
_EVERYTHING = "point button clicks modifiers path dx dy unit keys text duration region function args kwargs"
CARRIES: Mapping[ActionKind, str] = dict.fromkeys(ActionKind, _EVERYTHING)


def to_json(action: Action) -> dict[str, Any]:
    """The action as an object.

    >>> to_json(Action.click(Point(0.5, 0.25), clicks=2))
    {'kind': 'click', 'point': [0.5, 0.25], 'clicks': 2}
    """
    check_carried(_NAME, action, CARRIES)
    size = action.screen
    form = {
        "kind": action.kind.value,
        "point": action.point and _pair(action.point),
        "button": action.button.value if action.button is not Button.LEFT else None,
        "clicks": action.clicks if action.clicks != 1 else None,
        "modifiers": list(action.modifiers) or None,
        "path": [_pair(point) for point in action.path] or None,
        "dx": action.dx or None,
        "dy": action.dy or None,
        "unit": action.unit.value if action.unit is not ScrollUnit.NOTCH else None,
        "keys": list(action.keys) or None,
        "text": action.text or None,
        "duration": action.duration or None,
        "region": action.region and [_pair(corner) for corner in action.region],
        "function": action.function or None,
        "args": json_value(list(action.args)) or None,
        "kwargs": json_value(dict(action.kwargs)) or None,
        "screen": size and [size.width, size.height],
    }
    return {name: value for name, value in form.items() if value is not None}


def _pair(point: Point) -> list[float]:
    return [point.x, point.y]


def from_json(form: object) -> Action:
    """The action of an object that ``to_json`` made, or that was written in its manner."""
    fields = Fields(form, "an action")
    kind = fields.choice("kind", _KINDS)
    point = fields.take("point")
    with quoting(form):
        action = Action(
            kind,
            point=None if point is None else _point(point),
            button=fields.choice("button", _BUTTONS, "left"),
            clicks=fields.integer("clicks", 1),
            modifiers=_keys(fields, "modifiers"),
            path=_points(fields, "path"),
            dx=fields.number("dx", 0.0),
            dy=fields.number("dy", 0.0),
            unit=fields.choice("unit", _UNITS, "notch"),
            keys=_keys(fields, "keys"),
            text=fields.text("text", ""),
            duration=fields.number("duration", 0.0),
            region=_region(fields),
            function=fields.text("function", ""),
            args=_args(fields),
            kwargs=_kwargs(fields),
            screen=_size(fields),
        )
    fields.end()
    return action


def _point(value: object) -> Point:
    x_and_y = check_items(value, "coordinates")
    if len(x_and_y) != 2:
        raise malformed("not a pair of coordinates", value)
    with quoting(value):
        return Point(check_number(x_and_y[0], "x"), check_number(x_and_y[1], "y"))


def _points(fields: Fields, name: str) -> tuple[Point, ...]:
    value = fields.take(name)
    return () if value is None else tuple(_point(item) for item in check_items(value, "points"))


def _region(fields: Fields) -> tuple[Point, Point] | None:
    corners = _points(fields, "region")
    if len(corners) not in (0, 2):
        raise malformed("a region has two corners", fields.take("region"))
    return (corners[0], corners[1]) if corners else None


def _keys(fields: Fields, name: str) -> tuple[str, ...]:
    value = fields.take(name)
    return () if value is None else canonical_keys(value)


def _args(fields: Fields) -> tuple[object, ...]:
    value = json_value(fields.take("args"))
    if value is not None and not isinstance(value, list):
        raise malformed("args is not a list", value)
    return tuple(value or ())


def _kwargs(fields: Fields) -> tuple[tuple[str, object], ...]:
    value = json_value(fields.take("kwargs"))
    if value is not None and not isinstance(value, dict):
        raise malformed("kwargs is not an object", value)
    return tuple((value or {}).items())


def _size(fields: Fields) -> Size | None:
    value = fields.take("screen")
    if value is None:
        return None
    sides = [check_number(side, "screen") for side in check_items(value, "sides")]
    if len(sides) != 2 or not all(side.is_integer() for side in sides):
        raise malformed("a screen has a width and a height", value)
    return Size(int(sides[0]), int(sides[1]))


def parse(payload: object, screen: Size) -> list[Action]:
    """The action of an object, or the actions of a list of them; fractions need no screen."""
    return [from_json(item) for item in batch(payload)]


def render(action: Action, screen: Size) -> dict[str, Any]:
    return to_json(action)
