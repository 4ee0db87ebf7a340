from __future__ import annotations

import pytest
from hypothesis import given

from operant.actions import computer_rl
from operant.errors import ActionParseError
from operant.types import Action, ActionKind, Button, Point, Size

from . import round_trip
from .strategies import actions, has_pyautogui_names, is_plain, is_whole, on_screen, quick, thousandths

SCREEN = Size(1920, 1080)
AT = Point.from_pixel(100, 200, SCREEN)
TO = Point.from_pixel(300, 400, SCREEN)


def call(function: str, *args: object, **kwargs: object) -> Action:
    return Action(ActionKind.CALL, function=function, args=args, kwargs=tuple(kwargs.items()))


@pytest.mark.parametrize(
    ("line", "actions"),
    [
        ("Agent.click([100, 200])", [Action.click(AT)]),
        (
            "Agent.click(coordinates=[100, 200], num_clicks=2, button_type='right')",
            [Action.click(AT, clicks=2, button=Button.RIGHT)],
        ),
        ("Agent.click(coordinate=(100, 200))", [Action.click(AT)]),
        ("Agent.type(text='Hi')", [Action.type("Hi")]),
        ("Agent.type([100, 200], 'Hi', False, True)", [Action.click(AT), Action.type("Hi\n")]),
        (
            "Agent.type(coordinates=[100, 200], text='Hi', overwrite=True)",
            [Action.click(AT), Action.key("ctrl", "a"), Action.key("backspace"), Action.type("Hi")],
        ),
        ("Agent.type(coordinates=None, text='', enter=True)", [Action.type("\n")]),
        (
            "Agent.type([100, 200], overwrite=True)",
            [Action.click(AT), Action.key("ctrl", "a"), Action.key("backspace")],
        ),
        ("Agent.drag_and_drop([100, 200], [300, 400])", [Action.drag(AT, TO)]),
        (
            "Agent.drag_and_drop(drag_from_coordinate=[100, 200], drop_on_coordinate=[300, 400])",
            [Action.drag(AT, TO)],
        ),
        ("Agent.scroll([100, 200], 'down')", [Action.scroll(AT, dy=100.0)]),
        ("Agent.scroll(coordinates=[100, 200], direction='up')", [Action.scroll(AT, dy=-100.0)]),
        ("Agent.hotkey(['ctrl', 'c'])", [Action.key("ctrl", "c")]),
        ("Agent.hotkey(keys=['prtsc'])", [Action.key("printscreen")]),
        ("Agent.wait()", [Action.wait()]),
        ("Agent.exit(success=True)", [Action.done()]),
        ("Agent.exit(False)", [Action.fail()]),
        ("Agent.open_app('chrome')", [call("Agent.open_app", "chrome")]),
        ("Agent.switch_window(window_id='0x01')", [call("Agent.switch_window", window_id="0x01")]),
        ("VLCTools.play()", [call("VLCTools.play")]),
        ("Files.move('a', target='b')", [call("files.move", "a", target="b")]),
        ("files.move('a', target='b')", [call("files.move", "a", target="b")]),
        ("CalcTools.set_cell_value('A1', -1.5)", [call("CalcTools.set_cell_value", "A1", -1.5)]),
        (
            "CalcTools.f([[1, None], ('a', True)], x={'k': []})",
            [call("CalcTools.f", [[1, None], ["a", True]], x={"k": []})],
        ),
    ],
)
def test_examples(line: str, actions: list[Action]) -> None:
    for text in (
        line,
        f"<think>\nfirst this\n</think>\n{line}",
        f"<think>a</think>```python\n{line}\n```",
        f"no opening tag</think>\n```python\n{line}\n```\n",
        f"<think>a\n```python\nAgent.wait()\n```</think>\n<answer>```python\n{line}\n```</answer>",
    ):
        assert computer_rl.parse(text, SCREEN) == actions


def test_relative_coordinates() -> None:
    assert computer_rl.VISUAL.parse("Agent.click([500, 250])", SCREEN) == [Action.click(Point(0.5, 0.25))]


def test_all_lines_of_the_first_block_count() -> None:
    text = "<think>a</think><|begin_of_box|>```python\nAgent.click([1920, 200])\nAgent.wait()\n```\n<|end_of_box|>"
    last = Point.from_pixel(1919, 200, SCREEN)
    for reply in (text, f"{text}\n```python\nAgent.exit(success=True)\n```"):
        assert computer_rl.parse(reply, SCREEN) == [Action.click(last), Action.wait()]


@pytest.mark.parametrize(
    ("line", "quoted"),
    [
        ("Agent.click([1921, 0])", "1921"),
        ("Agent.click()", "{}"),
        ("Agent.click([1])", "[1]"),
        ("Agent.click([1, 2], button_type='wheel')", "wheel"),
        ("Agent.click([1, 2], coordinate=[1, 2])", "coordinates"),
        ("Agent.clck([1, 2])", "Agent.clck"),
        ("Agent.scroll([1, 2], 'left')", "left"),
        ("Agent.exit()", "{}"),
        ("Agent.exit(success='yes')", "yes"),
        ("Agent.exit.__call__(success=True)", "Agent.exit.__call__"),
        ("Agent.type()", "Agent.type()"),
        ("print('x')", "print"),
        ("os.system('x')", "os.system"),
        ("CalcTools.__init__()", "__init__"),
        ("CalcTools.f(g())", "g()"),
        ("CalcTools.f(**{})", "CalcTools.f"),
        ("CalcTools.f({1: 2})", "1"),
        ("CalcTools.f(b'x')", "bytes"),
        ("CalcTools.f(1e999)", "inf"),
        ("", "''"),
        ("<think>only thought", "<think>"),
    ],
)
def test_errors_quote_the_part(line: str, quoted: str) -> None:
    with pytest.raises(ActionParseError) as caught:
        computer_rl.parse(line, SCREEN)
    assert quoted in caught.value.offending


def can_say(action: Action) -> bool:
    match action.kind:
        case ActionKind.CLICK:
            return (
                action.point is not None
                and action.button not in (Button.BACK, Button.FORWARD)
                and not action.modifiers
            )
        case ActionKind.DRAG:
            return len(action.path) == 2 and is_plain(action)
        case ActionKind.SCROLL:
            whole = is_whole(action) and not action.dx and abs(action.dy) == 100
            return action.point is not None and whole and not action.modifiers
        case ActionKind.KEY:
            return has_pyautogui_names(action.keys)
        case ActionKind.CALL:
            named = all(name in ("x", "value") for name, _ in action.kwargs)
            return action.function in ("CalcTools.save", "Agent.open_app") and named
        case ActionKind.WAIT:
            return not action.duration
        case ActionKind.FAIL:
            return not action.text
    return action.kind in (ActionKind.TYPE, ActionKind.DONE)


@quick
@given(on_screen)
def test_round_trip(drawn: tuple[Action, Size]) -> None:
    round_trip.check(computer_rl, *drawn, can_say)


@quick
@given(actions(thousandths, SCREEN))
def test_round_trip_in_thousandths(action: Action) -> None:
    round_trip.check(computer_rl.VISUAL, action, SCREEN, can_say)


def test_functions_of_applications_are_written_as_classes() -> None:
    action = Action.call("mousepad.find_and_replace", {"find": "a", "replacement": "b"})
    line = computer_rl.render(action, SCREEN)
    assert line == "Mousepad.find_and_replace(find='a', replacement='b')"
    assert computer_rl.parse(line, SCREEN) == [action]
    with pytest.raises(ActionParseError):
        computer_rl.parse("os.system('true')", SCREEN)
