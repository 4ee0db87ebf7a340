"""What holds for every dialect of models: what it is told, what it says, and that its clicks hit."""

from __future__ import annotations

import json
import math
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from operant.actions import DIALECTS, TEXT_DIALECTS, dialect
from operant.actions.coordinates import Units
from operant.config.vlm import AnswerFormat
from operant.errors import ActionNotExpressible, ActionParseError
from operant.types import Action, ActionKind, Point, ScrollUnit, Size

from .strategies import actions, awkward, quick

SCREEN = Size(1280, 800)
SCREENS = st.builds(Size, st.integers(800, 3840), st.integers(600, 2160))


def test_an_unknown_dialect_names_the_nearest() -> None:
    with pytest.raises(ActionParseError, match="did you mean 'openai'"):
        dialect("open_ai")


def test_vlm_agents_speak_every_dialect_in_text() -> None:
    assert set(get_args(AnswerFormat)) == set(TEXT_DIALECTS)


@pytest.mark.parametrize("name", DIALECTS)
def test_what_a_model_is_told(name: str) -> None:
    one = DIALECTS[name]
    shown = one.frame(SCREEN).shown
    prompt, tools = one.prompt(shown), one.tools(shown)
    assert "operate a computer" in prompt
    if one.counts() is Units.PIXELS:
        assert f"{shown.width} wide and {shown.height} high" in prompt
    else:
        assert (
            f"to {({Units.THOUSANDTHS: '1000', Units.UP_TO_999: '999', Units.FRACTIONS: '1'})[one.counts()]} "
            in prompt
        )
    assert bool(tools) == (one.way != "text")
    assert json.loads(json.dumps(tools)) == tools
    if one.way == "text":
        assert one.wording
    assert ("[INFEASIBLE]" in prompt) == (not one.ends)
    for kind, words in one.ends.items():
        assert kind.terminal
        assert kind in one.carries
        assert words


def smallest(name: str, side: int, shown: int) -> int:
    """The least length of a widget whose centre surely has a coordinate inside it: more than a cell of the
    model's grid and a pixel. A coordinate is off by up to half a cell, the centre of an even length by half a pixel."""
    cell = {Units.PIXELS: side / shown, Units.FRACTIONS: side / 10_000}.get(
        DIALECTS[name].counts(), side / 1000
    )
    return math.floor(cell) + 2


@pytest.mark.parametrize("name", DIALECTS)
@quick
@given(SCREENS, st.data())
def test_a_click_on_a_widgets_centre_lands_inside_it(name: str, screen: Size, data: st.DataObject) -> None:
    one = DIALECTS[name]
    shown = one.frame(screen).shown
    box = []
    for side, frame in zip(screen, shown, strict=True):
        least = smallest(name, side, frame)
        assert least <= 8  # so that the smallest widgets of 8x8 pixels are hit on every screen
        length = data.draw(st.integers(least, 12) | st.integers(least, side))
        box.append((data.draw(st.integers(0, side - length)), length))
    x, y = (start + length // 2 for start, length in box)
    (click,) = one.parse(one.render(Action.click(Point.from_pixel(x, y, screen)), shown), shown)
    assert click.point is not None
    for pixel, (start, length) in zip(click.point.to_pixel(screen), box, strict=True):
        assert start <= pixel < start + length


on_grid = {
    Units.PIXELS: st.builds(
        lambda x, y: Point.from_pixel(x, y, SCREEN), st.integers(0, 1279), st.integers(0, 799)
    ),
    Units.FRACTIONS: st.builds(lambda x, y: Point(x / 10_000, y / 10_000), *[st.integers(0, 10_000)] * 2),
    Units.THOUSANDTHS: st.builds(lambda x, y: Point(x / 1000, y / 1000), *[st.integers(0, 1000)] * 2),
    Units.UP_TO_999: st.builds(lambda x, y: Point(x / 1000, y / 1000), *[st.integers(0, 999)] * 2),
}
_drawn = {units: actions(points, SCREEN) for units, points in on_grid.items()}


def carried(name: str, action: Action) -> bool:
    """Whether the dialect's table has a place for everything in the action."""
    one = DIALECTS[name]
    if action.kind not in one.carries:
        return False
    plain = Action(action.kind, **_needed(action))  # type: ignore[arg-type]
    fields = one.carries[action.kind].split()
    names = {field.rstrip("!") for field in fields}
    given = {
        field for field in Action.__dataclass_fields__ if getattr(action, field) != getattr(plain, field)
    }
    return given - {"screen", *_needed(action)} <= names


def _needed(action: Action) -> dict[str, object]:
    names = (
        ("point", "path", "keys", "text", "function", "duration")
        if action.kind is not ActionKind.CLICK
        else ()
    )
    given = {name: getattr(action, name) for name in names}
    return {name: value for name, value in given.items() if value}


@pytest.mark.parametrize("name", DIALECTS)
@quick
@given(st.data())
def test_what_is_said_comes_back_and_the_rest_is_refused(name: str, data: st.DataObject) -> None:
    one = DIALECTS[name]
    action = data.draw(_drawn[one.counts()])
    try:
        said = one.render(action, SCREEN)
    except ActionNotExpressible:
        return
    assert carried(name, action)
    if action.region is not None and one.counts() is not Units.PIXELS:
        return  # regions are drawn between pixels, off the other grids
    assert one.parse(json.loads(json.dumps(said)), SCREEN) == [action]


# The simplest action of every kind that a dialect's table lists: it has to have words for it.
AT = Point(0.5, 0.25)
SIMPLE: dict[ActionKind, list[Action]] = {
    ActionKind.MOVE: [Action.move(AT)],
    ActionKind.CLICK: [Action.click(AT)],
    ActionKind.MOUSE_DOWN: [Action(ActionKind.MOUSE_DOWN, point=AT), Action(ActionKind.MOUSE_DOWN)],
    ActionKind.MOUSE_UP: [Action(ActionKind.MOUSE_UP, point=AT), Action(ActionKind.MOUSE_UP)],
    ActionKind.DRAG: [Action.drag(AT, Point(0.75, 0.75)), Action.drag(AT)],
    ActionKind.SCROLL: [
        Action.scroll(at, dy=amount, unit=unit)
        for at in (AT, None)
        for unit in ScrollUnit
        for amount in (5.0, 100.0, 300.0)
    ],
    ActionKind.KEY: [Action.key("ctrl", "a"), Action.key("enter")],
    ActionKind.KEY_DOWN: [Action(ActionKind.KEY_DOWN, keys=("ctrl",))],
    ActionKind.KEY_UP: [Action(ActionKind.KEY_UP, keys=("ctrl",))],
    ActionKind.HOLD: [Action(ActionKind.HOLD, keys=("ctrl",), duration=2.0)],
    ActionKind.TYPE: [Action.type("Hi")],
    ActionKind.WAIT: [Action.wait(seconds) for seconds in (0.0, 1.0, 2.0, 5.0)],
    ActionKind.SCREENSHOT: [Action(ActionKind.SCREENSHOT)],
    ActionKind.CALL: [
        Action(ActionKind.CALL, function=name) for name in ("CalcTools.save", "cursor_position", "search")
    ],
    ActionKind.DONE: [Action.done()],
    ActionKind.FAIL: [Action.fail(), Action.fail("no such file")],
    ActionKind.ASK: [Action(ActionKind.ASK), Action(ActionKind.ASK, text="Which one?")],
    ActionKind.ANSWER: [Action(ActionKind.ANSWER, text="42")],
}


@pytest.mark.parametrize("name", DIALECTS)
def test_every_kind_in_the_table_can_be_said(name: str) -> None:
    one = DIALECTS[name]
    for kind in ActionKind:
        said = []
        for action in SIMPLE[kind]:
            try:
                said.append(one.render(action, SCREEN))
            except ActionNotExpressible:
                continue
        assert bool(said) == (kind in one.carries), kind


@pytest.mark.parametrize("name", TEXT_DIALECTS)
def test_what_is_only_thought_is_no_action(name: str) -> None:
    one = DIALECTS[name]
    click, key = (str(one.render(action, SCREEN)) for action in (Action.click(AT), Action.key("enter")))
    (there,) = one.parse(click, SCREEN)
    for thought in (f"<think>{key}</think>\n", f"{key}</think>\n", f"<think>\n{key}\n[INFEASIBLE]</think>"):
        assert one.parse(thought + click, SCREEN) == [there]
    for thought in (f"<think>{click}", f"<think>\n{click}\nand then", f"{click}</think>"):
        with pytest.raises(ActionParseError):
            one.parse(thought, SCREEN)


@pytest.mark.parametrize("name", DIALECTS)
def test_huge_and_broken_replies_are_refused(name: str) -> None:
    for payload in (
        "x" * 10_000_000,
        "<tool_call>" * 9_000,
        "{" * 90_000,
        "[" * 90_000,
        "click(" * 15_000,
        "\ud800",
    ):
        with pytest.raises(ActionParseError) as caught:
            DIALECTS[name].parse(payload, SCREEN)
        assert len(caught.value.offending) <= 80


@pytest.mark.parametrize("name", [name for name, one in DIALECTS.items() if one.way != "text"])
def test_a_batch_of_500_actions(name: str) -> None:
    one = DIALECTS[name]
    said = one.render(Action.click(AT), SCREEN)
    assert len(one.parse([said] * 500, SCREEN)) == 500
    with pytest.raises(ActionParseError):
        one.parse([said] * 5_000, SCREEN)


@pytest.mark.parametrize("name", TEXT_DIALECTS)
@quick
@given(st.lists(st.sampled_from(awkward) | st.text(max_size=12), min_size=1, max_size=4), st.data())
def test_garbage_around_and_inside_an_answer(name: str, pieces: list[str], data: st.DataObject) -> None:
    said = str(DIALECTS[name].render(Action.click(AT), SCREEN))
    cut = data.draw(st.integers(0, len(said)))
    text = said[:cut] + "".join(pieces) + said[cut:]
    try:
        found = DIALECTS[name].parse(text, SCREEN)
    except ActionParseError:
        return
    assert all(isinstance(action, Action) for action in found)
