"""The things of an observation that can be acted on or remembered, one by one: widgets, windows and what was done.

Only what is in sight counts: what is scrolled away is left out, and so are cells without a name, which only hold
others. A window comes as several things: itself, as much of its title bar as shows, the buttons there, and the corner
by which it is resized.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from operant.agents.hierarchical.words import WORD, hash_role, words_of, words_of_name
from operant.desktop import decorations
from operant.types import ActionKind, Node, Observation, PastAction, Window

__all__ = [
    "CORNER",
    "LINE",
    "LONGEST_NAME",
    "TITLE",
    "WINDOW",
    "WORDS",
    "PerceivedRow",
    "framed",
    "left_of",
    "past_action_row",
    "read_rows",
]

Box = tuple[int, int, int, int]

WORDS = 6  # of a row
LONGEST_NAME = 80  # characters; what is longer is no name
MOST_TEXT = 4000  # characters of a widget's text that are looked at
MEANINGFUL = frozenset({"focusable", "editable", "checkable", "selectable", "expandable"})
#: A cell without a name that can do one of these is more than a holder of others.
CELL_DOES = frozenset({"checkable", "editable", "expandable"})
#: Widgets that show a part of what they hold.
VIEWS = frozenset({"document web", "scroll pane", "viewport"})
#: Widgets that are wider than the text in them, which is what people click.
ROOMY = frozenset({"table cell", "paragraph", "heading", "column header", "row header", "list item"})
#: Pixels of the row that stands for a title bar. The bar has ``decorations.ABOVE`` (20), but shipped checkpoints were trained
#: with rows of 22, so another number would change what they perceive.
TITLE_ROW_HEIGHT = 22
BUTTONS = ("close", "maximize", "minimize")  # at the end of a title bar, from the right
BUTTON_WIDTH = 17
CORNER_SIZE = (12, 6)
WINDOW, TITLE, CORNER, LINE = (hash_role(role) for role in ("window", "title", "corner", "line"))
#: Roles of things that say or take something, whose left neighbour may say what it is.
VALUES = np.array([
    hash_role(role)
    for role in (
        "table cell", "static", "label", "entry", "text", "password text", "spin button", "combo box", "paragraph",
    )
])  # fmt: skip
#: The root of a tree that has several parts, and the part that lies under all windows.
DESKTOP, ICONS = "desktop frame", ("window", "Desktop")
TALLEST = 48  # pixels of a line of a table or form


@dataclass(frozen=True)
class PerceivedRow:
    """One thing that is perceived. ``box`` is (x, y, width, height) in pixels of the desktop."""

    role: str
    words: tuple[str, ...]
    box: Box
    states: frozenset[str] = frozenset()
    age: int = 0
    """How many actions ago, for what was done; 0 for what is there."""
    text: str = ""
    """What can be read there."""
    name: str = ""
    """What it is called, or all that it says, if that is short."""
    number: int | None = None
    """Which line it is, where it is one."""
    effect: bool = False
    """Whether it changed the screen, for what was done."""
    covered: bool = False
    """Whether another window lies over it."""


def read_rows(observation: Observation, most: int, wanted: frozenset[str]) -> list[PerceivedRow]:
    """What can be acted on: widgets of the focused window first, then the windows and their title bars."""
    height, width = observation.screen.shape[:2]
    rows: list[PerceivedRow] = []
    tree = observation.tree
    # Of a full desktop the tree has several parts: the focused window, the panel and the icons.
    parts = () if tree is None else tree.children if tree.role == DESKTOP else (tree,)
    for part in parts:
        under = observation.windows if (part.role, part.name) == ICONS else ()
        for node in _in_sight(part, (0, 0, width, height)):
            rows.append(_widget_row(node, wanted, under))
            if node.role == "line":
                rows.extend(_word_rows(node, wanted))
    windows: list[PerceivedRow] = []
    for place, window in enumerate(observation.windows):
        above = [
            framed(other.x, other.y, other.width, other.height)
            for other in observation.windows[place + 1 :]
            if not other.minimized
        ]
        windows.extend(_window_rows(window, above))
    kept = max(0, most - len(windows))
    return (rows[:kept] + windows)[:most]


def _in_sight(node: Node, view: Box) -> Iterator[Node]:
    """The widgets that mean something and whose middle shows in the view that holds them, parents first."""
    children, box = node.children, node.box
    if box is not None:
        if _means_something(node) and _holds(view, _middle(box)):
            label = _own_label(node)
            if label is not None:
                children = ()
                node = replace(node, box=label.box) if node.role in ROOMY else node
            yield node
        if node.role in VIEWS:
            view = _overlap(view, box)
    for child in children:
        yield from _in_sight(child, view)


def _means_something(node: Node) -> bool:
    if node.role == "table cell" and not (node.name or node.text):
        return bool(node.states & CELL_DOES)
    return bool(node.name or node.text or node.states & MEANINGFUL)


def _own_label(node: Node) -> Node | None:
    """The text in a widget, where that is a widget of its own and says the same."""
    if len(node.children) != 1 or node.children[0].role != "static" or node.children[0].box is None:
        return None
    label = node.children[0]
    said = (label.name or label.text or "").strip()
    return label if said and said in (node.name.strip(), (node.text or "").strip()) else None


def _widget_row(node: Node, wanted: frozenset[str], above: Sequence[Window] = ()) -> PerceivedRow:
    """``above`` are windows that may lie over it."""
    assert node.box is not None
    text = (node.text or "")[:MOST_TEXT]
    words = words_of_name(node.name, 12) + words_of(text)
    # What the instruction speaks of comes first: a long text has room for little else.
    first = [word for word in dict.fromkeys(words) if word in wanted]
    rest = [word for word in dict.fromkeys(words) if word not in wanted]
    kept, shown, name = tuple((first + rest)[:WORDS]), f"{node.name} {text}".strip(), node.name or text
    number = int(node.value) if node.role == "line" and node.value is not None else None
    name = name if len(name) <= LONGEST_NAME else ""
    boxes = (framed(one.x, one.y, one.width, one.height) for one in above if not one.minimized)
    covered = any(_holds(box, _middle(node.box)) for box in boxes)
    return PerceivedRow(
        node.role, kept, node.box, node.states, text=shown, name=name, number=number, covered=covered
    )


def _word_rows(line: Node, wanted: frozenset[str]) -> Iterator[PerceivedRow]:
    """Where the words of the instruction stand in a line, by its share of the characters."""
    assert line.box is not None
    x, y, width, height = line.box
    text = line.text or ""
    for match in WORD.finditer(text):
        if match.group().lower() in wanted:
            left = x + width * match.start() // len(text)
            right = x + width * match.end() // len(text)
            yield PerceivedRow("word", (match.group().lower(),), (left, y, max(1, right - left), height))


# Windows.


def _window_rows(window: Window, above: Sequence[Box]) -> Iterator[PerceivedRow]:
    """The window and its handles; ``above`` are the windows that may lie over them."""
    states = {"focused"} if window.focused else set()
    if window.minimized:
        states.add("pressed")
    if window.maximized:
        states.add("expanded")
    words, known = tuple(words_of(window.title, WORDS)), frozenset(states)

    def row(role: str, words: tuple[str, ...], box: Box) -> PerceivedRow:
        covered = any(_holds(other, _middle(box)) for other in above)
        return PerceivedRow(role, words[:WORDS], box, known, covered=covered)

    yield row("window", words, (window.x, window.y, window.width, window.height))
    if window.minimized:
        return
    top, right, bottom = (
        max(0, window.y - TITLE_ROW_HEIGHT),
        window.x + window.width,
        window.y + window.height,
    )
    bar = (window.x, top, window.width, TITLE_ROW_HEIGHT)
    yield row("title", words, _showing(bar, above))
    for place, button in enumerate(BUTTONS, 1):
        left = right - place * BUTTON_WIDTH
        yield row("title button", (button, *words), (left, top, BUTTON_WIDTH, TITLE_ROW_HEIGHT))
    yield row("corner", words, (right - CORNER_SIZE[0], bottom - 1, *CORNER_SIZE))


def _showing(bar: Box, above: Sequence[Box]) -> Box:
    """The longest part of a title bar that nothing lies over; all of it if nothing shows."""
    x, y, width, height = bar
    spans = [(x, x + width)]
    for left, top, across, down in above:
        if top <= y + height // 2 < top + down:
            spans = [
                part
                for begin, end in spans
                for part in ((begin, min(end, left)), (max(begin, left + across), end))
                if part[0] < part[1]
            ]
    if not spans:
        return bar
    begin, end = max(spans, key=lambda span: span[1] - span[0])
    return begin, y, end - begin, height


def framed(x: Any, y: Any, width: Any, height: Any) -> tuple[Any, Any, Any, Any]:
    """The box of a window with its frame; for numbers, arrays and tensors alike."""
    return (
        x - decorations.BESIDE,
        y - decorations.ABOVE,
        width + 2 * decorations.BESIDE,
        height + decorations.ABOVE + decorations.BELOW,
    )


# What was done.


def past_action_row(past: PastAction, age: int, observation: Observation) -> PerceivedRow:
    action = past.action
    point = action.point or (action.path[-1] if action.path else None)
    height, width = observation.screen.shape[:2]
    x, y = (int(point.x * width), int(point.y * height)) if point is not None else (0, 0)
    said = "+".join(action.keys) if action.keys else action.text or past.target
    kind = action.kind.value
    if action.kind is ActionKind.CLICK:
        kind = f"{action.button.value} {'+'.join(action.modifiers)} {action.clicks}"
    words = (f"key {said}",) if action.keys else tuple(words_of_name(said, WORDS)[:WORDS])
    return PerceivedRow(f"did {kind}", words, (x, y, 0, 0), age=age, effect=past.changed)


# Places.


def left_of(roles: npt.NDArray[np.uint8], boxes: npt.NDArray[np.int16]) -> npt.NDArray[np.int64]:
    """For each value or field, which row of the same line stands next to it on the left; -1 if none does."""
    values = np.flatnonzero(np.isin(roles, VALUES) & (boxes[:, 3] <= TALLEST) & (boxes[:, 2] > 0))
    found = np.full(len(roles), -1, np.int64)
    if len(values) < 2:
        return found
    left, top, width, height = boxes[values].astype(np.int64).T
    middle = top + height // 2
    level = (middle[:, None] >= top[None]) & (middle[:, None] < (top + height)[None])
    gap = left[:, None] - (left + width)[None]
    gap = np.where(level & (gap >= -2), gap, np.iinfo(np.int64).max)
    nearest = gap.argmin(1)
    there = gap[np.arange(len(values)), nearest] < np.iinfo(np.int64).max
    found[values[there]] = values[nearest[there]]
    return found


def _middle(box: Box) -> tuple[int, int]:
    return box[0] + box[2] // 2, box[1] + box[3] // 2


def _holds(box: Box, point: tuple[int, int]) -> bool:
    x, y = point
    return box[0] <= x < box[0] + box[2] and box[1] <= y < box[1] + box[3]


def _overlap(one: Box, other: Box) -> Box:
    left, top = max(one[0], other[0]), max(one[1], other[1])
    right, bottom = min(one[0] + one[2], other[0] + other[2]), min(one[1] + one[3], other[1] + other[3])
    return left, top, max(0, right - left), max(0, bottom - top)
