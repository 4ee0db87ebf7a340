"""Meta-actions as numbers: what the manager chooses, and both directions of the mapping to canonical actions.

| part         | meaning                                                                     | used by          |
|--------------|-----------------------------------------------------------------------------|------------------|
| `kind`       | index into the configured kinds                                             | always           |
| `target`     | a row that is perceived, or (after all rows) a cell of the map              | clicks, drag ... |
| `offset`     | where in that row's box or that cell, as fractions of it                    | the same         |
| `end`, `end_offset` | the same for where a drag ends                                       | drag             |
| `held`       | what is brought there: the point that is held, or a corner of the window    | drag             |
| `first`, `last` | of the perceived tokens, a span to copy                                  | type, answer     |
| `enter`      | whether Enter follows                                                       | type             |
| `key`, `scroll` | index into the configured keys, notches                                  | key, scroll      |
| `spot`, `end_spot` | x and y at once, for the Gaussian                                     | clicks, drag ... |
| `refine`     | how far the worker moved the point, in units of its reach                   | points of cells  |
| `point`, `end_point`, `text`, `text_length` | what it comes to: fractions of the screen, UTF-8      | the environment  |
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from operant.actions.keys import canonical_key
from operant.agents.hierarchical.config import KINDS, HierarchicalConfig
from operant.agents.hierarchical.rows import CORNER, LINE, TITLE, WINDOW, framed
from operant.errors import ActionNotExpressible, ConfigError
from operant.types import Action, ActionKind, Button, Point

__all__ = ["GRID", "HELD", "POINTING", "TEXT_BYTES", "MetaActions"]

Arrays = dict[str, npt.NDArray[Any]]

#: Columns and rows of the coarse map.
GRID = (40, 25)
TEXT_BYTES = 256
#: kind -> (button, clicks, modifiers)
CLICKS: dict[str, tuple[Button, int, tuple[str, ...]]] = {
    "click": (Button.LEFT, 1, ()),
    "double_click": (Button.LEFT, 2, ()),
    "triple_click": (Button.LEFT, 3, ()),
    "right_click": (Button.RIGHT, 1, ()),
    "ctrl_click": (Button.LEFT, 1, ("ctrl",)),
    "shift_click": (Button.LEFT, 1, ("shift",)),
}
#: Kinds that need a place.
POINTING = frozenset({*CLICKS, "drag", "scroll"})
ROOMY = 6000  # pixels: where in a box this large something is let go is told by the map
NEAR_MIDDLE = 0.12
BESIDE = 0.08  # of a box: how far beside it a place may be that is told by it
ALIKE = 0.2  # of a box or cell: places that come to the same
#: What a drag brings to its end: the point that is held, or, by the title bar, a corner of the window's frame. People
#: put windows by their edges, and where the hand has to go for that depends on where it took hold.
HELD = ("point", "top left", "top right", "bottom left", "bottom right")
LANDS = 2.5  # pixels from a corner, an edge's middle or the middle of the screen
#: Parts of a meta-action that are chosen from a list.
CHOSEN = ("kind", "target", "end", "held", "first", "last", "enter", "key", "scroll")


class MetaActions:
    """Reads labels off canonical actions and makes canonical actions of what was chosen."""

    def __init__(self, config: HierarchicalConfig) -> None:
        manager = config.manager
        unknown = [kind for kind in manager.kinds if kind not in KINDS]
        if unknown or not manager.kinds or not manager.keys or not manager.scrolls:
            raise ConfigError(f"{unknown} are no meta-actions", hint=f"kinds: {', '.join(KINDS)}")
        self.kinds = manager.kinds
        self.chords = tuple(tuple(canonical_key(part) for part in key.split("+")) for key in manager.keys)
        self.scrolls = manager.scrolls
        self.rows = config.encoder.rows
        self.cells = GRID[0] * GRID[1]

    # To labels.

    def label(self, action: Action, seen: Mapping[str, npt.NDArray[Any]]) -> Arrays:
        """The meta-action that this is, given what was perceived; ``ActionNotExpressible`` if it is none."""
        out = self.blank()
        kind = self._kind(action)
        if kind not in self.kinds:
            raise ActionNotExpressible(f"{kind} is not among the kinds of meta-action")
        out["kind"][...] = self.kinds.index(kind)
        points = [action.point] if action.point is not None else list(action.path)
        if kind in POINTING:
            if not points or (kind == "drag" and len(points) < 2):
                raise ActionNotExpressible(f"a {kind} without its place")
            target, offset = self._target(points[0], seen)
            out["target"][...], out["offset"][:] = target, offset
            out["point"][:] = out["spot"][:] = points[0].x, points[0].y
        if kind == "drag":
            held, target, offset = self._end(int(out["target"]), points[0], points[-1], seen)
            out["held"][...], out["end"][...], out["end_offset"][:] = held, target, offset
            out["end_point"][:] = out["end_spot"][:] = points[-1].x, points[-1].y
        elif kind == "scroll":
            notches = np.asarray(self.scrolls, np.float64)
            out["scroll"][...] = int(np.abs(notches - action.dy).argmin())
        elif kind == "key":
            out["key"][...] = self._chord(action)
        elif kind in ("type", "answer"):
            self._write_text(action.text, kind, seen, out)
        return out

    def same(self, one: Action, other: Action, seen: Mapping[str, npt.NDArray[Any]]) -> bool:
        """Whether both come to the same choice, with places in it that are near each other."""
        try:
            first, second = self.label(one, seen), self.label(other, seen)
        except ActionNotExpressible:
            return one == other
        return all(first[name] == second[name] for name in CHOSEN) and all(
            bool(np.abs(first[name] - second[name]).max() < ALIKE) for name in ("offset", "end_offset")
        )

    def blank(self) -> Arrays:
        """A meta-action with nothing in it."""
        whole = {name: np.zeros((), np.int64) for name in CHOSEN}
        places = ("offset", "end_offset", "point", "end_point", "spot", "end_spot")
        pairs = {name: np.full(2, 0.5, np.float32) for name in places}
        return {
            **whole,
            **pairs,
            "refine": np.zeros(2, np.float32),
            "text": np.zeros(TEXT_BYTES, np.uint8),
            "text_length": np.zeros((), np.int64),
        }

    @staticmethod
    def _kind(action: Action) -> str:
        if action.kind is not ActionKind.CLICK:
            return str(action.kind.value)
        wanted = (action.button, action.clicks, tuple(action.modifiers))
        return next((kind for kind, click in CLICKS.items() if click == wanted), "click of another kind")

    def _chord(self, action: Action) -> int:
        chord = tuple(canonical_key(key) for key in action.keys)
        if chord not in self.chords:
            raise ActionNotExpressible(f"the key {'+'.join(chord)} is not in the list of keys")
        return self.chords.index(chord)

    def _end(
        self, target: int, start: Point, end: Point, seen: Mapping[str, npt.NDArray[Any]]
    ) -> tuple[int, int, tuple[float, float]]:
        """What a drag of that target brings where."""
        role = int(seen["row_role"][target]) if target < self.rows else 0
        if role == CORNER:
            return 0, *self._cell(end)
        if role == TITLE and target and int(seen["row_role"][target - 1]) == WINDOW:
            size = seen["size"].astype(np.float64)
            moved = np.array([end.x - start.x, end.y - start.y])
            corners = _frame_corners(seen["row_box"][target - 1].astype(np.float64)) / size + moved
            landing = np.rint(corners * 2) / 2  # edges and middles of the screen
            lands = (np.abs(corners - landing) * size < LANDS).all(1)
            for held in np.flatnonzero(lands):
                x, y = np.clip(landing[held], 0.0, 1.0)
                return int(held) + 1, *self._cell(Point(float(x), float(y)))
        return 0, *self._target(end, seen, roomy=False)

    def _target(
        self, point: Point, seen: Mapping[str, npt.NDArray[Any]], *, roomy: bool = True
    ) -> tuple[int, tuple[float, float]]:
        """The smallest thing perceived at that point, the line of text that ends before it, or the cell of the map.

        Unless ``roomy``, large things say nothing of a place in them, except near their middle.
        """
        width, height = (int(value) for value in seen["size"])
        x, y = point.x * width, point.y * height
        left, top, across, down = seen["row_box"].astype(np.float64).T
        level = (seen["row_segment"] == 1) & (x >= left) & (y >= top) & (y < top + down)
        inside = level & (x < left + across)
        if not inside.any():
            return self._cell(point)
        area = np.where(inside, across * down, np.inf)
        row = int(len(area) - 1 - area[::-1].argmin())  # the innermost of equals
        if area[row] >= ROOMY:
            # A click beside a line puts the cursor at its end: any place there will do.
            held = (left >= left[row]) & (left + across <= left[row] + across[row])
            lines = np.flatnonzero(level & held & (seen["row_role"] == LINE))
            row = int(lines[-1]) if len(lines) else row
        # An empty line has no width.
        offset = (x - left[row]) / max(1.0, across[row]), (y - top[row]) / max(1.0, down[row])
        if not roomy and area[row] >= ROOMY and max(abs(part - 0.5) for part in offset) >= NEAR_MIDDLE:
            return self._cell(point)
        return row, (min(float(offset[0]), 1.0 + BESIDE), float(offset[1]))

    def _cell(self, point: Point) -> tuple[int, tuple[float, float]]:
        columns, rows = GRID
        column, line = min(int(point.x * columns), columns - 1), min(int(point.y * rows), rows - 1)
        return (
            self.rows + line * columns + column,
            (point.x * columns - column, point.y * rows - line),
        )

    def _write_text(self, text: str, kind: str, seen: Mapping[str, npt.NDArray[Any]], out: Arrays) -> None:
        wanted = text.removesuffix("\n") if kind == "type" else text
        span = _find_span(wanted.encode(), seen)
        if span is None:
            raise ActionNotExpressible(f"the text {wanted[:60]!r} is neither in the instruction nor shown")
        out["first"][...], out["last"][...] = span
        out["enter"][...] = int(kind == "type" and text.endswith("\n"))
        raw = wanted.encode()[:TEXT_BYTES]
        out["text"][: len(raw)] = np.frombuffer(raw, np.uint8)
        out["text_length"][...] = len(raw)

    # From choices.

    def action(self, chosen: Mapping[str, Any]) -> Action:
        """The canonical action of one row of choices."""
        kind = self.kinds[int(chosen["kind"])]
        if kind in CLICKS:
            button, clicks, modifiers = CLICKS[kind]
            return Action.click(_point(chosen["point"]), button=button, clicks=clicks, modifiers=modifiers)
        if kind == "drag":
            return Action.drag(_point(chosen["point"]), _point(chosen["end_point"]))
        if kind == "scroll":
            return Action.scroll(_point(chosen["point"]), dy=float(self.scrolls[int(chosen["scroll"])]))
        if kind == "key":
            return Action.key(*self.chords[int(chosen["key"])])
        if kind in ("type", "answer"):
            raw = bytes(np.asarray(chosen["text"], np.uint8)[: int(chosen["text_length"])])
            text = raw.decode("utf-8", "replace")
            if not text:
                return Action.wait()  # nothing to copy from
            if kind == "answer":
                return Action(ActionKind.ANSWER, text=text)
            return Action.type(text + ("\n" if int(chosen["enter"]) else ""))
        return {"wait": Action.wait, "done": Action.done, "fail": Action.fail}[kind]()


def _frame_corners(window: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The corners of the frame of a window, in the order of ``HELD``: (4, 2) in pixels."""
    left, top, width, height = framed(*window)
    right, bottom = left + width, top + height
    return np.array([[left, top], [right, top], [left, bottom], [right, bottom]])


def _find_span(wanted: bytes, seen: Mapping[str, npt.NDArray[Any]]) -> tuple[int, int] | None:
    """The first span of tokens that says exactly this: in the instruction, else one that is shown."""
    source, spans, segments = seen["source"].tobytes(), seen["token_span"], seen["token_segment"]
    starts = {int(spans[index, 0]): int(index) for index in np.flatnonzero(segments == 1)}
    ends = {int(spans[index, 1]): int(index) for index in np.flatnonzero(segments == 1)}
    at = source.find(wanted) if wanted else -1
    while at >= 0:
        if at in starts and at + len(wanted) in ends:
            return starts[at], ends[at + len(wanted)]
        at = source.find(wanted, at + 1)
    for index in np.flatnonzero(segments == 2):
        if source[int(spans[index, 0]) : int(spans[index, 1])] == wanted:
            return int(index), int(index)
    return None


def _point(pair: Any) -> Point:
    x, y = (min(max(float(value), 0.0), 1.0) for value in pair)
    return Point(x, y)
