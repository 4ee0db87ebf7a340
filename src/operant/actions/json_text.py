"""Our own JSON actions as models write them: the object in a reply, with whatever was said around it left out.

Coordinates are in the model's units, where ``json_actions`` has fractions of the screen.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from operant.actions import json_actions
from operant.actions.base import check_length
from operant.actions.coordinates import Grid, Units
from operant.actions.dialect import Dialect
from operant.actions.payload import check_items, malformed, quoting
from operant.actions.thinking import without_thinking
from operant.types import Action, ActionKind, Point

__all__ = ["DIALECT", "json_in", "json_safe"]

_OBJECT = re.compile(r"\{.*\}|\[.*\]", re.DOTALL)


def json_in(text: str) -> object:
    """The JSON of a reply, with whatever the model said around it left out."""
    found = _OBJECT.search(text)
    if found is None:
        raise malformed("the answer holds no JSON", text)
    try:
        return json.loads(found[0])
    except (ValueError, RecursionError) as error:
        raise malformed("the answer's JSON is malformed", text) from error


def json_safe(value: object) -> str:
    """JSON in which no string can be taken for a tag of the text around it."""
    return json.dumps(value, ensure_ascii=False).replace("<", "\\u003c").replace("◁", "\\u25c1")


def read(payload: object, grid: Grid) -> list[Action]:
    form = json_in(without_thinking(payload))
    items = check_items(form, "actions") if isinstance(form, list) else [form]

    def to_fraction(x: float, y: float) -> list[float]:
        with quoting([x, y]):
            point = grid.point(x, y)
        return [point.x, point.y]

    return [json_actions.from_json(_places(item, to_fraction)) for item in items]


def write(action: Action, grid: Grid) -> str:
    form = json_actions.to_json(action)
    form.pop("screen", None)
    said = _places(form, lambda x, y: list(grid.locate(Point(x, y))))
    return check_length("json", action, json_safe(said))


def _places(form: object, convert: Callable[[float, float], list[float]]) -> Any:
    """The same form with its coordinates converted; what has another shape is left for the parser to refuse."""
    if not isinstance(form, dict):
        return form

    def place(value: object) -> object:
        if isinstance(value, list) and len(value) == 2 and all(_is_number(number) for number in value):
            return convert(*value)
        return value

    def every(value: object) -> object:
        return [place(item) for item in value] if isinstance(value, list) else value

    changes: dict[str, Callable[[object], object]] = {"point": place, "path": every, "region": every}
    return {name: changes[name](value) if name in changes else value for name, value in form.items()}


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


DIALECT = Dialect(
    title="any model, in our own JSON",
    way="text",
    carries=json_actions.CARRIES,
    reader=read,
    writer=write,
    units=(Units.THOUSANDTHS, Units.PIXELS, Units.UP_TO_999, Units.FRACTIONS),
    wording=(
        'Answer with one JSON object, such as {"kind": "click", "point": [x, y]}. Kinds: click (point, button,'
        " clicks), move (point), drag (path: [[x, y], [x, y]]), scroll (point, dy), type (text), key (keys:"
        ' ["ctrl", "s"]), wait (duration), done, fail (text), answer (text).'
    ),
    ends={
        ActionKind.DONE: '{"kind": "done"}',
        ActionKind.FAIL: '{"kind": "fail"}',
        ActionKind.ASK: '{"kind": "ask"}',
        ActionKind.ANSWER: '{"kind": "answer"}',
    },
)
