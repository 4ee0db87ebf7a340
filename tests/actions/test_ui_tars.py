from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from operant.actions import ui_tars
from operant.errors import ActionParseError
from operant.types import Action, ActionKind, Button, Point, Size

from . import round_trip
from .strategies import actions, is_plain, is_whole, on_screen, quick, thousandths

SCREEN = Size(1920, 1080)
AT, TO = Point(0.1, 0.2), Point(0.3, 0.4)


@pytest.mark.parametrize(
    ("said", "action"),
    [
        ("click(start_box='(100,200)')", Action.click(AT)),
        ("click(start_box='<|box_start|>(100,200)<|box_end|>')", Action.click(AT)),
        ("click(point='<point>100 200</point>')", Action.click(AT)),
        ("click(start_box='[100, 200]')", Action.click(AT)),
        ("click(start_box=(100, 200))", Action.click(AT)),
        ("click(start_box='(80,180,120,220)')", Action.click(AT)),
        ("click(start_box='<bbox>80 180 120 220</bbox>')", Action.click(AT)),
        ("left_single(start_box='(100,200)')", Action.click(AT)),
        ("left_double(start_box='(100,200)')", Action.click(AT, clicks=2)),
        ("right_single(start_box='(100,200)')", Action.click(AT, button=Button.RIGHT)),
        ("hover(start_box='(100,200)')", Action.move(AT)),
        ("drag(start_box='(100,200)', end_box='(300,400)')", Action.drag(AT, TO)),
        (
            "drag(start_point='<point>100 200</point>', end_point='<point>300 400</point>')",
            Action.drag(AT, TO),
        ),
        ("hotkey(key='ctrl c')", Action.key("ctrl", "c")),
        ("hotkey(key='ctrl+c')", Action.key("ctrl", "c")),
        ("hotkey(key='arrowleft')", Action.key("left")),
        ("hotkey(key='pagedown')", Action.key("pagedown")),
        ("type(content='hello')", Action.type("hello")),
        ("type(content='hello\\n')", Action.type("hello\n")),
        ("type(content='it\\'s \\\"so\\\"')", Action.type('it\'s "so"')),
        ("type(content='it's so\\n')", Action.type("it's so\n")),
        ("type(content='two\nlines')", Action.type("two\nlines")),
        ('type(content="C:\\temp")', Action.type("C:\temp")),
        ("scroll(start_box='(100,200)', direction='down')", Action.scroll(AT, dy=5.0)),
        ("scroll(direction='up')", Action.scroll(dy=-5.0)),
        ("scroll(point='<point>100 200</point>', direction='right')", Action.scroll(AT, dx=5.0)),
        ("wait()", Action.wait()),
        ("finished()", Action.done()),
        ("finished(content='')", Action.done()),
        ("finished(content='42')", Action(ActionKind.ANSWER, text="42")),
        ("call_user()", Action(ActionKind.ASK)),
    ],
)
def test_examples(said: str, action: Action) -> None:
    for text in (said, f"Action: {said}", f"Thought: I will.\nThen on.\nAction: {said}\n"):
        assert ui_tars.parse(text, SCREEN) == [action]


def test_pixels_of_the_picture_that_the_model_saw() -> None:
    image = Size(1932, 1092)
    (action,) = ui_tars.VERSION_1_5.parse("Action: click(start_box='(966,546)')", image)
    assert action == Action.click(Point.from_pixel(966, 546, image))
    assert action.screen == image


def test_several_actions() -> None:
    text = "Thought: both.\nAction: click(start_box='(100,200)')\n\ntype(content='a\\n')"
    assert ui_tars.parse(text, SCREEN) == [Action.click(AT), Action.type("a\n")]


@pytest.mark.parametrize(
    ("said", "quoted"),
    [
        ("click(start_box='(1001,0)')", "1001"),
        ("click(start_box='(-1,0)')", "-1"),
        ("click(start_box='(1,2,3)')", "(1,2,3)"),
        ("click(start_box='1..2,3')", "1..2,3"),
        ("click(start_box='here')", "here"),
        ("click(start_box='(1,2)', point='(1,2)')", "(1,2)"),
        ("click()", "click"),
        ("click('(1,2)')", "click('(1,2)')"),
        ("drag(start_box='(1,2)')", "drag"),
        ("scroll(direction='sideways')", "sideways"),
        ("hotkey(key='')", "0 keys"),
        ("hotkey(key='ctrl nokey')", "nokey"),
        ("type(text='a')", "content"),
        ("type(content='')", "type"),
        ("wait(5)", "wait"),
        ("open_app(app_name='x')", "open_app"),
        ("I give up", "I give up"),
        ("", "''"),
    ],
)
def test_errors_quote_the_part(said: str, quoted: str) -> None:
    with pytest.raises(ActionParseError) as caught:
        ui_tars.parse(f"Thought: x\nAction: {said}", SCREEN)
    assert quoted in f"{caught.value.message}"


def can_say(action: Action) -> bool:
    match action.kind:
        case ActionKind.CLICK:
            said = [(Button.LEFT, 1), (Button.LEFT, 2), (Button.RIGHT, 1)]
            return (
                action.point is not None and (action.button, action.clicks) in said and not action.modifiers
            )
        case ActionKind.DRAG:
            return len(action.path) == 2 and is_plain(action)
        case ActionKind.SCROLL:
            steps = {abs(action.dx), abs(action.dy)}
            return is_whole(action) and steps == {0.0, 5.0} and not action.modifiers
        case ActionKind.WAIT:
            return not action.duration
        case ActionKind.ASK:
            return not action.text
    spoken = "MOVE KEY KEY_DOWN KEY_UP TYPE DONE ANSWER"
    return action.kind.name in spoken.split()


@quick
@given(actions(thousandths, SCREEN))
def test_round_trip_in_thousandths(action: Action) -> None:
    round_trip.check(ui_tars, action, SCREEN, can_say)


@quick
@given(on_screen)
def test_round_trip_in_pixels_of_the_picture(drawn: tuple[Action, Size]) -> None:
    action, image = drawn
    round_trip.check(ui_tars.VERSION_1_5, action, image, can_say)


@quick
@given(st.floats(0, 1), st.floats(0, 1))
def test_any_point_moves_by_less_than_a_thousandth(x: float, y: float) -> None:
    text = ui_tars.render(Action.move(Point(x, y)), SCREEN)
    (action,) = ui_tars.parse(text, SCREEN)
    assert action.point is not None
    assert max(abs(action.point.x - x), abs(action.point.y - y)) < 0.001
