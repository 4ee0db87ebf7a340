"""Actions as a Gymnasium space: what to do, and the parameters of whatever that is.

| part     | space                 | used by                    | meaning                                 |
|----------|-----------------------|----------------------------|-----------------------------------------|
| `type`   | Discrete(kinds)       | always                     | index into ``kinds``                    |
| `point`  | Box [0, 1]^2          | clicks, move, drag, scroll | x and y as fractions of the screen      |
| `end`    | Box [0, 1]^2          | drag                       | where the drag ends                     |
| `span`   | MultiDiscrete([T, T]) | type, answer               | first and last token of the instruction |
| `enter`  | Discrete(2)           | type                       | whether Enter follows                   |
| `key`    | Discrete(keys)        | key                        | index into ``keys``                     |
| `scroll` | Box [-10, 10]^2       | scroll                     | notches right and down                  |

Parts that a kind does not use are ignored. ``encode`` goes the other way, for demonstrations: an oracle's
action as the space says it, where it can.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces

from operant.actions.keys import canonical_key
from operant.envs.instruction import find_span, span_text
from operant.errors import ActionNotExpressible, ConfigError, InvalidAction
from operant.types import Action, ActionKind, Button, Point, ScrollUnit

__all__ = ["CLICKS", "DEFAULT_KEYS", "DEFAULT_KINDS", "KINDS", "HybridActions"]

DEFAULT_KINDS = (
    "click", "double_click", "right_click", "drag", "type", "key", "scroll", "wait", "done",
)  # fmt: skip
#: Every kind that can be asked for.
KINDS = (*DEFAULT_KINDS, "triple_click", "middle_click", "move", "fail", "answer")
#: kind -> (button, clicks)
CLICKS: dict[str, tuple[Button, int]] = {
    "click": (Button.LEFT, 1),
    "double_click": (Button.LEFT, 2),
    "triple_click": (Button.LEFT, 3),
    "right_click": (Button.RIGHT, 1),
    "middle_click": (Button.MIDDLE, 1),
}
#: Keys pressed together are joined by "+".
DEFAULT_KEYS = (
    "enter", "tab", "shift+tab", "esc", "space", "backspace", "delete", "up", "down", "left", "right", "home",
    "end", "pageup", "pagedown", "ctrl+a", "ctrl+c", "ctrl+x", "ctrl+v", "ctrl+z", "ctrl+s", "ctrl+shift+s",
    "ctrl+n", "ctrl+o", "ctrl+f", "ctrl+h", "ctrl+l", "ctrl+t", "ctrl+w", "ctrl+q", "alt+f4", "alt+tab", "f2",
    "f5", "f11",
)  # fmt: skip
MOST_NOTCHES = 10.0
TOLERANCE = 1e-4  # how far beyond the edge of the screen rounding may put a point


class HybridActions:
    """The space, and both directions of the mapping between it and canonical actions."""

    def __init__(
        self,
        kinds: Sequence[str] = DEFAULT_KINDS,
        keys: Sequence[str] = DEFAULT_KEYS,
        max_tokens: int = 64,
    ) -> None:
        unknown = [kind for kind in kinds if kind not in KINDS]
        if unknown or not kinds:
            raise ConfigError(f"{unknown} are no kinds of action", hint=f"kinds: {', '.join(KINDS)}")
        if not keys or max_tokens < 1:
            raise ConfigError("an action space needs at least one key and one token")
        self.kinds = tuple(kinds)
        self.chords = tuple(tuple(canonical_key(part) for part in key.split("+")) for key in keys)
        self.max_tokens = max_tokens
        self.space: spaces.Space[Any] = spaces.Dict(
            {
                "type": spaces.Discrete(len(self.kinds)),
                "point": spaces.Box(0.0, 1.0, (2,), np.float32),
                "end": spaces.Box(0.0, 1.0, (2,), np.float32),
                "span": spaces.MultiDiscrete([max_tokens, max_tokens]),
                "enter": spaces.Discrete(2),
                "key": spaces.Discrete(len(self.chords)),
                "scroll": spaces.Box(-MOST_NOTCHES, MOST_NOTCHES, (2,), np.float32),
            }
        )

    # From the space.

    def decode(self, action: Any, instruction: str) -> Action:
        """The canonical action; ``InvalidAction`` says what is wrong with it."""
        if not isinstance(action, Mapping):
            raise InvalidAction(f"a hybrid action is a dict with a type, not {type(action).__name__}")
        kind = self.kinds[_index(action, "type", len(self.kinds))]
        if kind in CLICKS:
            button, clicks = CLICKS[kind]
            return Action.click(_point(action, "point"), button=button, clicks=clicks)
        if kind == "move":
            return Action.move(_point(action, "point"))
        if kind == "drag":
            return Action.drag(_point(action, "point"), _point(action, "end"))
        if kind == "scroll":
            dx, dy = (float(np.clip(value, -MOST_NOTCHES, MOST_NOTCHES)) for value in _pair(action, "scroll"))
            return Action.scroll(_point(action, "point"), dx=float(round(dx)), dy=float(round(dy)))
        if kind == "key":
            return Action.key(*self.chords[_index(action, "key", len(self.chords))])
        if kind == "type":
            return Action.type(self._text(action, instruction) + ("\n" if _index(action, "enter", 2) else ""))
        if kind == "answer":
            return Action(ActionKind.ANSWER, text=self._text(action, instruction))
        return {"wait": Action.wait, "done": Action.done, "fail": Action.fail}[kind]()

    def _text(self, action: Mapping[str, Any], instruction: str) -> str:
        first, last = (int(value) for value in _pair(action, "span"))
        text = span_text(instruction, first, last)
        if text is None:
            raise InvalidAction(f"the instruction has no span from token {first} to token {last}")
        return text

    # To the space.

    def encode(self, action: Action, instruction: str) -> dict[str, Any]:
        """The same action in the space; ``ActionNotExpressible`` if it has no such action."""
        coded: dict[str, Any] = {
            "type": 0,
            "point": np.full(2, 0.5, np.float32),
            "end": np.full(2, 0.5, np.float32),
            "span": np.zeros(2, np.int64),
            "enter": 0,
            "key": 0,
            "scroll": np.zeros(2, np.float32),
        }
        kind = self._kind(action)
        if kind not in self.kinds:
            raise ActionNotExpressible(f"a {action.kind.value} is not among the kinds of this action space")
        coded["type"] = self.kinds.index(kind)
        if action.modifiers:
            raise ActionNotExpressible(f"a {kind} with {'+'.join(action.modifiers)} held")
        if kind in CLICKS or kind in ("move", "scroll"):
            if action.point is None:
                raise ActionNotExpressible(f"a {kind} without a point")
            coded["point"][:] = action.point.x, action.point.y
        if kind == "scroll":
            per_notch = 100.0 if action.unit is ScrollUnit.PIXEL else 1.0
            coded["scroll"][:] = np.clip(
                (action.dx / per_notch, action.dy / per_notch), -MOST_NOTCHES, MOST_NOTCHES
            )
        elif kind == "drag":
            if len(action.path) < 2:
                raise ActionNotExpressible("a drag from wherever the pointer is")
            coded["point"][:] = action.path[0].x, action.path[0].y
            coded["end"][:] = action.path[-1].x, action.path[-1].y
        elif kind == "key":
            chord = tuple(canonical_key(key) for key in action.keys)
            if chord not in self.chords:
                raise ActionNotExpressible(
                    f"the key {'+'.join(chord)} is not in the list of this action space"
                )
            coded["key"] = self.chords.index(chord)
        elif kind in ("type", "answer"):
            text = action.text.removesuffix("\n") if kind == "type" else action.text
            span = find_span(instruction, text)
            if span is None or span[1] >= self.max_tokens:
                raise ActionNotExpressible(f"the text {text!r} is not a span of the instruction")
            coded["span"][:] = span
            coded["enter"] = int(kind == "type" and action.text.endswith("\n"))
        return coded

    @staticmethod
    def _kind(action: Action) -> str:
        if action.kind is ActionKind.CLICK:
            wanted = (action.button, action.clicks)
            return next(
                (kind for kind, clicks in CLICKS.items() if clicks == wanted), "click of another kind"
            )
        return str(action.kind.value)


def _part(action: Mapping[str, Any], name: str) -> Any:
    if name not in action:
        raise InvalidAction(
            f"the action has no {name!r}", hint="an action is a dict as the action space samples it"
        )
    return action[name]


def _index(action: Mapping[str, Any], name: str, count: int) -> int:
    value = np.asarray(_part(action, name))
    if value.size != 1 or not np.isfinite(value).all():
        raise InvalidAction(f"{name!r} is not one number: {value!r}")
    index = int(value.ravel()[0])
    if not 0 <= index < count:
        raise InvalidAction(
            f"{name}={index} is not in the action space", hint=f"it goes from 0 to {count - 1}"
        )
    return index


def _pair(action: Mapping[str, Any], name: str) -> tuple[float, float]:
    value = np.asarray(_part(action, name), np.float64)
    if value.shape != (2,):
        raise InvalidAction(f"{name!r} has the shape {value.shape}, not (2,)")
    if not np.isfinite(value).all():
        raise InvalidAction(f"{name!r} is {value.tolist()}")
    return float(value[0]), float(value[1])


def _point(action: Mapping[str, Any], name: str) -> Point:
    x, y = _pair(action, name)
    if not (-TOLERANCE <= x <= 1 + TOLERANCE and -TOLERANCE <= y <= 1 + TOLERANCE):
        raise InvalidAction(
            f"{name}=({x:g}, {y:g}) is off the screen", hint="x and y are fractions in [0, 1]"
        )
    return Point(min(max(x, 0.0), 1.0), min(max(y, 0.0), 1.0))
