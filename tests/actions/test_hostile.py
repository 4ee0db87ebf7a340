"""Input that nobody means well with: it is refused by name, quickly, and nothing of it runs."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from operant.actions import FORMATS, parse
from operant.errors import ActionParseError
from operant.types import Action, Size

from .strategies import quick

SCREEN = Size(1280, 800)
WRITTEN_AS_PYTHON = ["pyautogui", "ui_tars", "ui_tars_2", "glm_4_5v", "kimi", "computer_rl"]

SOURCES = [
    "__import__('os').system('touch /tmp/operant-was-here')",
    "import os; os.system('touch /tmp/operant-was-here')",
    "from os import system; system('touch /tmp/operant-was-here')",
    "eval('1')",
    "exec('import os')",
    "open('/tmp/operant-was-here', 'w')",
    "pyautogui.click.__globals__['os'].system('id')",
    "pyautogui.__builtins__.eval('1')",
    "().__class__.__base__.__subclasses__()",
    "getattr(pyautogui, 'click')(1, 2)",
    "pyautogui.click(__import__('os').getpid(), 2)",
    "pyautogui.write(open('/etc/passwd').read())",
    "pyautogui.write(f'{1 + 1}')",
    "pyautogui.write(rf'{open}')",
    "pyautogui.write('a' * 10 ** 9)",
    "pyautogui.write('%s' % 1)",
    "pyautogui.press([k for k in 'abc'])",
    "pyautogui.press({*'abc'})",
    "pyautogui.click((x := 5), 6)",
    "pyautogui.click(*[1, 2])",
    "pyautogui.click(**{'x': 1})",
    "pyautogui.click(x=(lambda: 1)())",
    "(lambda: pyautogui.click(1, 2))()",
    "while True: pyautogui.click(1, 2)",
    "for i in range(10): pyautogui.click(1, 2)",
    "if 1: pyautogui.click(1, 2)",
    "def f(): pass",
    "class A(metaclass=print): pass",
    "@print\ndef f(): pass",
    "async def f(): await x",
    "x = 5",
    "x: int = print('ran')",
    "del pyautogui",
    "assert print('ran')",
    "with open('/tmp/operant-was-here', 'w') as f: pass",
    "try: 1\nexcept: 2",
    "pyautogui.click(9" + "9" * 400 + ", 2)",
    "pyautogui.click(9" + "9" * 50_000 + ", 2)",
    "pyautogui.click(1e999, 2)",
    "pyautogui.click(-1e999, 2)",
    "pyautogui.click(1j, 2)",
    "pyautogui.click(..., 2)",
    "pyautogui.click(b'1', 2)",
    "pyautogui.click(True, False)",
    "pyautogui.click(nan, 2)",
    "pyautogui.click(None, 2)",
    "pyautogui.click('1', '2')",
    "pyautogui.click([[1]], 2)",
    "pyautogui.write('\ud800')",
    "pyautogui.write('\\ud800')",
    "pyautogui.write('a\0b')",
    "\0",
    "pyautogui.press('\\0')",
    "pyautogui.scroll(10**9)",
    "pyautogui.scroll(1000000000)",
    "x\r你",  # Python 3.12's tokenizer answers with UnicodeDecodeError
    "(" * 10_000 + ")" * 10_000,
    "pyautogui.click(" + "(" * 10_000 + "1" + ")" * 10_000 + ", 2)",
    "pyautogui.click(" + "[" * 150 + "]" * 150 + ")",
    "pyautogui.click(" + "-" * 20_000 + "1, 2)",
    "pyautogui.click(" + "not " * 20_000 + "1, 2)",
    "pyautogui.click(" + "1 + " * 20_000 + "1, 2)",
    "pyautogui.click(" + "lambda a, b: " * 5_000 + "1, 2)",
    "pyautogui.click(" + "1 if 1 else " * 5_000 + "1, 2)",
    "pyautogui" + ".click" * 10_000 + "()",
    "pyautogui.click" + "()" * 20_000,
    "pyautogui.click" + "[0]" * 20_000 + "()",
    "pyautogui.click(" + "{'a': " * 5_000 + "1" + "}" * 5_000 + ")",
    "pyautogui.click(f'" + "{" * 2_000 + "1" + "}" * 2_000 + "', 2)",
    "pyautogui.click(f'{" + "-" * 20_000 + "1}', 2)",
    "\n".join(" " * depth + "if 1:" for depth in range(300)),
    "x = " * 10_000 + "1",
    "'''" + "\n" * 50_000,
    "\\\n" * 40_000,
    "`" * 90_000,
    "```" + " " * 90_000,
    "pyautogui.write('" + "a" * 100_000 + "')",
    "a" * 1_000_000,
    "pyautogui.click()\n" * 5_000,
    "pyautogui.press('a', presses=1000)\n" * 900,
    "Action: " * 12_000,
    "Action: click(start_box='" + " " * 90_000 + "')",
    "Action: click(start_box='" + "1," * 40_000 + "')",
    "Action: type(content='" + "'" * 90_000,
    "Action: hotkey(key='" + "+" * 90_000 + "')",
    "Action: hotkey(key='" + "a " * 45_000 + "')",
    "<think>" * 10_000,
    "</think>" * 10_000,
    "<seed:tool_call><function=click>" + "<parameter=x>" * 7_000,
    "<tool_call><function=computer_use>" + "</parameter>" * 4_000 + "<parameter=x>" * 3_000,
    "<|begin_of_box|>" * 6_000,
    "<computer_env>" * 7_000,
    "## Code:\n" * 11_000,
    "Agent.click(Agent.click([1, 2]))",
    "CalcTools.f(open('/etc/passwd'))",
]
VALUES: list[Any] = [
    None,
    True,
    -1,
    0,
    10**400,
    1e308,
    float("nan"),
    float("inf"),
    "",
    "x",
    "\ud800",
    "\0",
    b"x",
]
VALUES += [
    [],
    {},
    [1],
    [1, 2],
    [[]],
    [float("nan"), 1],
    {"x": 1},
    {1: 2},
    "x" * 200_000,
    object(),
    [1] * 5_000,
]


@pytest.fixture
def marker() -> Iterator[Path]:
    """The file that several of the sources would make."""
    path = Path("/tmp/operant-was-here")
    path.unlink(missing_ok=True)
    yield path
    path.unlink(missing_ok=True)


# An audit hook can't be taken away again, so it has a switch.
_seen: list[str] = []
_watching = False
_TELLTALE = (
    "exec",
    "open",
    "os.",
    "subprocess",
    "import",
    "socket",
    "ctypes",
    "shutil",
    "pty",
    "builtins.input",
)


def _audit(event: str, _: tuple[object, ...]) -> None:
    if _watching and event.startswith(_TELLTALE):
        _seen.append(event)


sys.addaudithook(_audit)


@pytest.mark.parametrize("name", WRITTEN_AS_PYTHON)
def test_nothing_that_is_parsed_runs(name: str, marker: Path) -> None:
    global _watching
    before = sys.gettrace()
    sources = [source for source in SOURCES if len(source) < 1000]
    for source in sources[:2]:  # let the parser import what it needs
        with pytest.raises(ActionParseError):
            parse(name, source, SCREEN)
    _seen.clear()
    _watching = True
    try:
        for source in sources:
            with pytest.raises(ActionParseError):
                parse(name, source, SCREEN)
    finally:
        _watching = False
    assert _seen == []
    assert not marker.exists()
    assert sys.gettrace() is before


@pytest.mark.parametrize("name", WRITTEN_AS_PYTHON)
@pytest.mark.parametrize(
    "source", SOURCES, ids=lambda source: source[:40].encode("ascii", "replace").decode()
)
def test_sources_are_refused_quickly(name: str, source: str) -> None:
    started = time.process_time()
    with pytest.raises(ActionParseError) as caught:
        parse(name, source, SCREEN)
    assert time.process_time() - started < 2
    assert len(caught.value.offending) <= 80
    str(caught.value).encode()


@pytest.mark.parametrize(
    "deep", ["-" * 101 + "1", "1" + " + 1" * 50, "a" + ".b" * 50, "f" + "()" * 100, "[" * 101]
)
def test_depth_is_bounded_before_python_parses(deep: str) -> None:
    with pytest.raises(ActionParseError, match="nested too deeply"):
        parse("pyautogui", f"pyautogui.click({deep})", SCREEN)


@pytest.mark.parametrize("name", FORMATS)
def test_payloads_of_the_wrong_type(name: str) -> None:
    for value in VALUES:
        with pytest.raises(ActionParseError) as caught:
            parse(name, value, SCREEN)
        assert len(str(caught.value)) < 400


def test_lists_without_end() -> None:
    endless: list[Any] = []
    endless.append(endless)
    deep: Any = 1
    for _ in range(100_000):
        deep = [deep]
    for name in FORMATS:
        for value in (endless, deep, {"action": endless}, {"kind": "call", "function": "f", "args": deep}):
            with pytest.raises(ActionParseError):
                parse(name, value, SCREEN)


# Fuzzing: only a list of actions or ActionParseError may come out.


def check(name: str, payload: object) -> None:
    refused: ActionParseError | None = None
    actions: list[Action] = []
    try:
        actions = parse(name, payload, SCREEN)
    except ActionParseError as error:
        refused = error
    if refused:
        assert len(refused.offending) <= 80
        str(refused).encode()
    else:
        assert {type(action) for action in actions} == {Action}


WORDS = {
    "computer_13": "MOVE_TO CLICK RIGHT_CLICK MOUSE_DOWN DRAG_TO SCROLL TYPING PRESS HOTKEY KEY_UP WAIT",
    "anthropic": "key type mouse_move left_click left_click_drag left_mouse_up scroll hold_key wait zoom",
    "openai": "click double_click drag keypress move screenshot scroll type wait computer_call",
    "json": "move click mouse_down drag scroll key key_down hold type wait screenshot call done fail",
}
DISCRIMINATORS = {"computer_13": "action_type", "anthropic": "action", "openai": "type", "json": "kind"}
FIELDS = (
    "x y button num_clicks dx dy text key keys coordinate start_coordinate scroll_direction scroll_amount "
    "duration region path scroll_x scroll_y actions action point clicks modifiers unit function args kwargs "
    "screen parameters"
)
hostile = st.one_of(
    st.sampled_from([*VALUES[:16], "left", "ctrl", "down", [0.5, 0.5], [10, 10], ["ctrl"], {"x": 1, "y": 2}]),
    st.integers(-5, 5000),
    st.floats(),
    st.text(st.characters(), max_size=8),
    st.lists(st.integers(-5, 5000) | st.floats() | st.text(max_size=3) | st.none(), max_size=4),
)
objects = st.dictionaries(st.sampled_from(FIELDS.split()), hostile, max_size=5)


@pytest.mark.parametrize("name", WORDS)
@quick
@given(st.data())
def test_objects(name: str, data: st.DataObject) -> None:
    word = data.draw(st.sampled_from(WORDS[name].split()) | hostile)
    fields = data.draw(objects)
    wrapped = name == "computer_13" and data.draw(st.booleans())
    check(name, {DISCRIMINATORS[name]: word, **({"parameters": fields} if wrapped else fields)})


FUNCTIONS = (
    "pyautogui.click pyautogui.moveTo pyautogui.dragTo pyautogui.scroll pyautogui.press pyautogui.hotkey "
    "pyautogui.write pyautogui.keyDown time.sleep click drag hotkey type scroll finished wait Agent.click "
    "Agent.type Agent.exit Agent.scroll Agent.hotkey CalcTools.save eval"
)
NAMES = (
    "x y clicks button keys presses start_box end_box point content key direction coordinates text message"
)
LITERALS = "1|-5|1e9|None|True|'left'|'ctrl c'|'(1,2)'|[1, 2]|(3, 4)|''|x|f()"
literals = st.sampled_from(LITERALS.split("|")) | hostile.map(repr)
arguments = st.lists(
    literals | st.builds("{}={}".format, st.sampled_from(NAMES.split()), literals), max_size=4
).map(", ".join)
calls = st.builds("{}({})".format, st.sampled_from(FUNCTIONS.split()), arguments)
pieces = st.one_of(
    calls,
    st.sampled_from(["DONE", "```", "Action:", "</think>", ";", "import time", "'''"]),
    st.text(max_size=6),
)
sources = st.lists(pieces, min_size=1, max_size=3).map("\n".join) | calls | st.text(max_size=40)


@pytest.mark.parametrize("name", WRITTEN_AS_PYTHON)
@quick
@given(sources)
def test_texts(name: str, source: str) -> None:
    check(name, source)


@pytest.mark.parametrize("name", FORMATS)
@quick
@given(
    hostile
    | objects
    | st.lists(objects, max_size=3)
    | st.dictionaries(hostile.filter(lambda v: isinstance(v, str | int)), hostile)
)
def test_anything(name: str, payload: object) -> None:
    check(name, payload)
