"""Canonical actions of every kind, for property tests of the formats."""

from __future__ import annotations

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

from operant.actions.keys import KEYSYM_NAMES, pyautogui_name
from operant.types import Action, ActionKind, Button, Point, ScrollUnit, Size

#: Without a deadline: other tests may keep the machine busy.
quick = settings(deadline=None, max_examples=60)

SIZES = [Size(1, 1), Size(640, 480), Size(1280, 800), Size(1366, 768), Size(1920, 1080), Size(5120, 1441)]
screens = st.sampled_from(SIZES)

characters = st.sampled_from(list("aAzZ09+-'\"\\/<>| `é€ßΩ你😀".replace(" ", "")))
keys = st.one_of(st.sampled_from(sorted(KEYSYM_NAMES)), st.sampled_from(["ctrl", "shift"]), characters)
chords = st.lists(keys, min_size=1, max_size=3).map(tuple)
modifiers = st.one_of(st.just(()), st.lists(keys, max_size=2, unique=True).map(tuple))
awkward = ["```", "```python\nx\n```", "</think>", "<answer>", "Action: click()", "\nAction:", 'it\'s "so"\n']
awkward += [
    "\\n",
    "\\",
    "a\\'",
    "\r\n\t\0\x0b\u2028",
    "')",
    "{}%s",
    "</answer>",
    "# no",
    "<point>1 2</point>",
]
valid_text = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)
texts = st.one_of(valid_text, st.sampled_from(awkward))
seconds = st.one_of(st.sampled_from([0.0, 2.0, 5.0]), st.floats(0, 60))
amounts = st.one_of(
    st.sampled_from([0.0, 1.0, -1.0, 5.0, -5.0, 100.0, -100.0, 2.5]), st.integers(-1000, 1000).map(float)
)
leaves = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    texts,
)
json_values = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
functions = st.sampled_from(
    [
        "CalcTools.save",
        "Agent.open_app",
        "Agent.click",
        "cursor_position",
        "os.system",
        "x.import",
        "a b",
        "_x._y",
    ]
)
arguments = st.sampled_from(["x", "value", "class", "two words", "é", "_hidden"])


def pixel_centres(size: Size) -> st.SearchStrategy[Point]:
    return st.builds(
        lambda x, y: Point.from_pixel(x, y, size),
        st.integers(0, size.width - 1),
        st.integers(0, size.height - 1),
    )


def pixel_edges(size: Size) -> st.SearchStrategy[tuple[Point, Point]]:
    def region(x: list[int], y: list[int]) -> tuple[Point, Point]:
        (left, right), (top, bottom) = sorted(x), sorted(y)
        return Point(left / size.width, top / size.height), Point(right / size.width, bottom / size.height)

    def two(side: int) -> st.SearchStrategy[list[int]]:
        return st.lists(st.integers(0, side), min_size=2, max_size=2, unique=True)

    return st.builds(region, two(size.width), two(size.height))


thousandths = st.builds(lambda x, y: Point(x / 1000, y / 1000), st.integers(0, 1000), st.integers(0, 1000))


def actions(points: st.SearchStrategy[Point], size: Size) -> st.SearchStrategy[Action]:
    """Every kind, with every field that it may carry."""
    maybe = st.none() | points
    buttons = st.sampled_from(Button)

    def of(kind: ActionKind, **more: Any) -> st.SearchStrategy[Action]:
        return st.builds(Action, st.just(kind), **more)

    kinds = [
        of(ActionKind.MOVE, point=points),
        of(ActionKind.CLICK, point=maybe, button=buttons, clicks=st.integers(1, 3), modifiers=modifiers),
        of(ActionKind.CLICK, point=points, clicks=st.integers(1, 2)),
        of(ActionKind.MOUSE_DOWN, point=maybe, button=buttons),
        of(ActionKind.MOUSE_UP, point=maybe, button=buttons),
        of(
            ActionKind.DRAG,
            path=st.lists(points, min_size=1, max_size=4).map(tuple),
            button=buttons,
            modifiers=modifiers,
            duration=seconds,
        ),
        of(ActionKind.DRAG, path=st.lists(points, min_size=1, max_size=3).map(tuple)),
        of(
            ActionKind.SCROLL,
            point=maybe,
            dx=amounts,
            dy=amounts,
            unit=st.sampled_from(ScrollUnit),
            modifiers=modifiers,
        ),
        of(ActionKind.SCROLL, point=maybe, dy=amounts),
        of(ActionKind.KEY, keys=chords),
        of(ActionKind.KEY_DOWN, keys=chords),
        of(ActionKind.KEY_UP, keys=chords),
        of(ActionKind.HOLD, keys=chords, duration=st.floats(0.001, 60)),
        of(ActionKind.TYPE, text=texts),
        of(ActionKind.WAIT, duration=seconds),
        of(ActionKind.SCREENSHOT, region=st.none() | pixel_edges(size)),
        of(
            ActionKind.CALL,
            function=functions,
            args=st.lists(json_values, max_size=2).map(tuple),
            kwargs=st.dictionaries(arguments, json_values, max_size=2).map(
                lambda given: tuple(given.items())
            ),
        ),
        of(ActionKind.DONE),
        of(ActionKind.FAIL, text=st.just("") | texts),
        of(ActionKind.ASK, text=st.just("") | texts),
        of(ActionKind.ANSWER, text=texts),
    ]
    return st.one_of(kinds)


# Built once: making the strategies takes longer than drawing from them.
_by_size = {size: st.tuples(actions(pixel_centres(size), size), st.just(size)) for size in SIZES}
on_screen = st.one_of(list(_by_size.values()))


# What several formats have in common in what they can say.


def has_pyautogui_names(names: tuple[str, ...]) -> bool:
    return all(pyautogui_name(name) for name in names)


def is_plain(action: Action) -> bool:
    """Left button, no keys held, no time given."""
    return action.button is Button.LEFT and not action.modifiers and not action.duration


def is_whole(action: Action, unit: ScrollUnit = ScrollUnit.NOTCH) -> bool:
    return action.unit is unit and action.dx.is_integer() and action.dy.is_integer()
