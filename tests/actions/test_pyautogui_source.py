from __future__ import annotations

import pytest
from hypothesis import given

from operant.actions import pyautogui_source
from operant.errors import ActionParseError
from operant.types import Action, ActionKind, Button, Point, Size

from . import round_trip
from .strategies import has_pyautogui_names, is_whole, on_screen, quick

SCREEN = Size(1920, 1080)
AT = Point.from_pixel(100, 200, SCREEN)
TO = Point.from_pixel(300, 400, SCREEN)


@pytest.mark.parametrize(
    ("source", "actions"),
    [
        ("WAIT", [Action.wait()]),
        ("FAIL", [Action.fail()]),
        ("```\nDONE\n```", [Action.done()]),
        ("pyautogui.moveTo(100, 200)", [Action.move(AT)]),
        ("pyautogui.moveTo((100, 200), duration=1)", [Action.move(AT)]),
        ("pyautogui.moveTo(100, 200, 0.6, pyautogui.easeInOutQuad)", [Action.move(AT)]),
        ("pyautogui.click()", [Action.click()]),
        ("pyautogui.click(100, 200, 2, 0.1, 'right')", [Action.click(AT, clicks=2, button=Button.RIGHT)]),
        ("pyautogui.click(x=100, y=200, button=pyautogui.MIDDLE)", [Action.click(AT, button=Button.MIDDLE)]),
        ("pyautogui.click(100, 200, button=3)", [Action.click(AT, button=Button.RIGHT)]),
        ("pyautogui.rightClick(100, 200)", [Action.click(AT, button=Button.RIGHT)]),
        ("pyautogui.middleClick()", [Action.click(button=Button.MIDDLE)]),
        ("pyautogui.doubleClick(100, 200)", [Action.click(AT, clicks=2)]),
        ("pyautogui.tripleClick(100, 200, 0.0, 'left')", [Action.click(AT, clicks=3)]),
        (
            "pyautogui.dragTo(100, 200, duration=1.0, button='left', mouseDownUp=True)",
            [Action.drag(AT, duration=1.0)],
        ),
        (
            "pyautogui.dragTo(100, 200, 1, pyautogui.linear, 'right')",
            [Action.drag(AT, duration=1.0, button=Button.RIGHT)],
        ),
        ("pyautogui.mouseDown()", [Action(ActionKind.MOUSE_DOWN)]),
        ("pyautogui.mouseDown(button='right')", [Action(ActionKind.MOUSE_DOWN, button=Button.RIGHT)]),
        (
            "pyautogui.mouseUp(100, 200, 'middle')",
            [Action(ActionKind.MOUSE_UP, point=AT, button=Button.MIDDLE)],
        ),
        ("pyautogui.scroll(3)", [Action.scroll(dy=-3.0)]),
        ("pyautogui.scroll(-5, 100, 200)", [Action.scroll(AT, dy=5.0)]),
        ("pyautogui.vscroll(clicks=-5)", [Action.scroll(dy=5.0)]),
        ("pyautogui.hscroll(4)", [Action.scroll(dx=4.0)]),
        ("pyautogui.scroll(2.9)", [Action.scroll(dy=-2.0)]),
        ("pyautogui.write('a < b', interval=0.1)", [Action.type("a < b")]),
        ("pyautogui.typewrite('it\\'s' \" so\\n\", 0.25)", [Action.type("it's so\n")]),
        ("pyautogui.typewrite(['a', 'enter'])", [Action.key("a"), Action.key("enter")]),
        ("pyautogui.write(r'C:\\dir')", [Action.type("C:\\dir")]),
        ("pyautogui.write('C:\\dir')", [Action.type("C:\\dir")]),
        ("pyautogui.press('return')", [Action.key("enter")]),
        ("pyautogui.press(['a', 'b'], presses=2)", [Action.key("a"), Action.key("b")] * 2),
        ("pyautogui.press('down', 3, 0.1)", [Action.key("down")] * 3),
        ("pyautogui.keyDown('shift')", [Action(ActionKind.KEY_DOWN, keys=("shift",))]),
        ("pyautogui.keyUp(key='shift')", [Action(ActionKind.KEY_UP, keys=("shift",))]),
        ("pyautogui.hotkey('ctrl', 'shift', 't', interval=0.1)", [Action.key("ctrl", "shift", "t")]),
        ("pyautogui.hotkey(['ctrl', 'c'])", [Action.key("ctrl", "c")]),
        ("time.sleep(0.5)", [Action.wait(0.5)]),
        ("pyautogui.sleep(seconds=2)", [Action.wait(2.0)]),
    ],
)
def test_examples(source: str, actions: list[Action]) -> None:
    assert pyautogui_source.parse(source, SCREEN) == actions


@pytest.mark.parametrize(
    ("source", "actions"),
    [
        (
            "import pyautogui; import time; pyautogui.FAILSAFE = False; "
            "pyautogui.click(100, 200); time.sleep(1)",
            [Action.click(AT), Action.wait(1.0)],
        ),
        (
            "import pyautogui\nimport time\n'''\nThought:\nopen it\n'''\n\n# now\n"
            "pyautogui.click(100, 200)\n\nDONE",
            [Action.click(AT), Action.done()],
        ),
        ("```python\nimport pyautogui, time\npyautogui.press('a')\n```", [Action.key("a")]),
        ("Here:\n```python\npyautogui.press('a')```\nthat is all", [Action.key("a")]),
    ],
)
def test_whole_sources(source: str, actions: list[Action]) -> None:
    assert pyautogui_source.parse(source, SCREEN) == actions


@pytest.mark.parametrize(
    ("source", "action"),
    [
        (
            "pyautogui.keyDown('ctrl'); pyautogui.keyDown('shift'); pyautogui.click(100, 200); "
            "pyautogui.keyUp('shift'); pyautogui.keyUp('ctrl')",
            Action.click(AT, modifiers=("ctrl", "shift")),
        ),
        ("pyautogui.moveTo(100, 200); pyautogui.dragTo(300, 400, 1)", Action.drag(AT, TO, duration=1.0)),
        (
            "pyautogui.moveTo(100, 200); pyautogui.mouseDown(); pyautogui.moveTo(300, 400, 0.5); "
            "pyautogui.mouseUp()",
            Action.drag(AT, TO, duration=0.5),
        ),
        (
            "pyautogui.keyDown('a'); time.sleep(2); pyautogui.keyUp('a')",
            Action(ActionKind.HOLD, keys=("a",), duration=2.0),
        ),
        ("pyautogui.hscroll(1, 100, 200); pyautogui.scroll(-2, 100, 200)", Action.scroll(AT, dx=1.0, dy=2.0)),
    ],
)
def test_calls_that_make_one_gesture(source: str, action: Action) -> None:
    assert pyautogui_source.parse(source, SCREEN) == [action]


def test_calls_that_only_look_like_a_gesture_stay_apart() -> None:
    source = (
        "pyautogui.keyDown('a'); pyautogui.click(); pyautogui.keyUp('b'); pyautogui.moveTo(100, 200); "
        "pyautogui.mouseDown(); pyautogui.moveTo(300, 400); pyautogui.mouseUp(button='right')"
    )
    kinds = [action.kind for action in pyautogui_source.parse(source, SCREEN)]
    names = ["KEY_DOWN", "CLICK", "KEY_UP", "MOVE", "MOUSE_DOWN", "MOVE", "MOUSE_UP"]
    assert [kind.name for kind in kinds] == names


@pytest.mark.parametrize(
    ("source", "quoted"),
    [
        ("pyautogui.click(1920, 0)", "1920"),
        ("pyautogui.click(-1, 0)", "-1"),
        ("pyautogui.click(100)", "100"),
        ("pyautogui.click('button.png')", "button.png"),
        ("pyautogui.click(1, 2, clicks=9)", "clicks=9"),
        ("pyautogui.click(1, 2, 1, 0, 'left', 0, 0, 0, 0, 0)", "pyautogui.click"),
        ("pyautogui.click(1, 2, x=3)", "x=3"),
        ("pyautogui.click(1, 2, x=3, x=4)", "x=3"),
        ("pyautogui.click(1, 2, buton='left')", "buton"),
        ("pyautogui.click(1, 2, button='lefty')", "lefty"),
        ("pyautogui.click(1920 / 2, 540)", "1920 / 2"),
        ("pyautogui.clik(1, 2)", "pyautogui.clik"),
        ("pyautogui.moveTo()", "pyautogui.moveTo()"),
        ("pyautogui.moveRel(1, 2)", "pyautogui.moveRel"),
        ("pyautogui.press('nokey')", "nokey"),
        ("pyautogui.press('a', presses=100000)", "100000"),
        ("pyautogui.hotkey()", "[]"),
        ("pyautogui.hotkey('a', intervall=1)", "intervall"),
        ("pyautogui.write('')", "pyautogui.write"),
        ("pyautogui.dragTo(1, 2, mouseDownUp=False)", "dragTo"),
        ("time.sleep(3600)", "time.sleep(3600)"),
        ("time.sleep(-1)", "time.sleep(-1)"),
        ("click(1, 2)", "click"),
        ("import os", "import os"),
        ("import pyautogui as time", "import pyautogui as time"),
        ("import pyautogui", "import pyautogui"),
        ("pyautogui.FAILSAFE = True", "FAILSAFE"),
        ("pyautogui.click = 1; WAIT", "pyautogui.click = 1"),
        ("MAYBE", "MAYBE"),
        ("I will click the button.", "I will click"),
        ("```python\npyautogui.click()", "```python"),
        ("", "''"),
    ],
)
def test_errors_quote_the_part(source: str, quoted: str) -> None:
    with pytest.raises(ActionParseError) as caught:
        pyautogui_source.parse(source, SCREEN)
    assert quoted in caught.value.offending


def can_say(action: Action) -> bool:
    button = action.button not in (Button.BACK, Button.FORWARD)
    named = has_pyautogui_names((*action.keys, *action.modifiers))
    match action.kind:
        case ActionKind.SCROLL:
            return named and is_whole(action)
        case ActionKind.FAIL:
            return not action.text
        case ActionKind.SCREENSHOT | ActionKind.CALL | ActionKind.ASK | ActionKind.ANSWER:
            return False
    return button and named


@quick
@given(on_screen)
def test_round_trip(drawn: tuple[Action, Size]) -> None:
    round_trip.check(pyautogui_source, *drawn, can_say)
