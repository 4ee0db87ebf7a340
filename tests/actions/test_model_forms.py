"""What models really write, by dialect: strict about meaning, lenient about form.

These are the inputs that earlier parsers refused although their meaning was plain, one table for all dialects.
"""

from __future__ import annotations

import pytest

from operant.actions import DIALECTS
from operant.errors import ActionParseError
from operant.types import Action, ActionKind, Button, Point, ScrollUnit, Size

SCREEN = Size(1280, 800)


def at(x: int, y: int) -> Point:
    return Point.from_pixel(x, y, SCREEN)


MIDDLE = Point(0.5, 0.5)
DRAG = Action.drag(at(1, 2), at(3, 4))
BOX = "<|begin_of_box|>{}<|end_of_box|>"

FORMS: list[tuple[str, str, object, list[Action]]] = [
    # Anthropic
    (
        "a block of the toolset, without an action",
        "anthropic_toolset",
        {
            "type": "tool_use",
            "id": "t",
            "name": "left_click",
            "toolset_name": "computer",
            "input": {"coordinate": [12, 6]},
        },
        [Action.click(at(12, 6))],
    ),
    (
        "modifiers on a drag",
        "anthropic",
        {"action": "left_click_drag", "start_coordinate": [1, 2], "coordinate": [3, 4], "text": "ctrl+shift"},
        [Action.drag(at(1, 2), at(3, 4), modifiers=("ctrl", "shift"))],
    ),
    (
        "modifiers of a click under the demo's name",
        "anthropic",
        {"action": "left_click", "coordinate": [12, 6], "key": "shift"},
        [Action.click(at(12, 6), modifiers=("shift",))],
    ),
    ("a long wait is shortened", "anthropic", {"action": "wait", "duration": 300}, [Action.wait(60.0)]),
    (
        "a long hold is shortened",
        "anthropic",
        {"action": "hold_key", "text": "a", "duration": "300"},
        [Action(ActionKind.HOLD, keys=("a",), duration=60.0)],
    ),
    (
        "a coordinate equal to the width",
        "anthropic",
        {"action": "left_click", "coordinate": [1280, 800]},
        [Action.click(at(1279, 799))],
    ),
    (
        "a coordinate as a string",
        "anthropic",
        {"action": "left_click", "coordinate": "[12, 6]"},
        [Action.click(at(12, 6))],
    ),
    # OpenAI
    ("a path as pairs", "openai", {"type": "drag", "path": [[1, 2], [3, 4]]}, [DRAG]),
    (
        "modifiers on a drag",
        "openai",
        {"type": "drag", "path": [{"x": 1, "y": 2}, {"x": 3, "y": 4}], "keys": ["SHIFT"]},
        [Action.drag(at(1, 2), at(3, 4), modifiers=("shift",))],
    ),
    ("a chord", "openai", {"type": "keypress", "keys": ["CTRL", "A"]}, [Action.key("ctrl", "a")]),
    ("a chord in one word", "openai", {"type": "keypress", "keys": ["CTRL+A"]}, [Action.key("ctrl", "a")]),
    ("a wait takes two seconds", "openai", {"type": "wait"}, [Action.wait(2.0)]),
    ("numbers as strings", "openai", {"type": "click", "x": "12", "y": "6"}, [Action.click(at(12, 6))]),
    (
        "keys that are null",
        "openai",
        {"type": "move", "x": 12, "y": 6, "keys": None},
        [Action.move(at(12, 6))],
    ),
    # Gemini
    (
        "desktop",
        "gemini",
        {"name": "click", "args": {"y": "500", "x": 500, "intent": "Go"}},
        [Action.click(MIDDLE)],
    ),
    ("browser", "gemini_browser", {"name": "click_at", "args": {"y": 500, "x": 500}}, [Action.click(MIDDLE)]),
    (
        "a chord in one word",
        "gemini_browser",
        {"name": "key_combination", "args": {"keys": "Control+A"}},
        [Action.key("ctrl", "a")],
    ),
    # Functions
    (
        "arguments as damaged JSON",
        "function_tools",
        {"function": {"name": "click", "arguments": '{"x": 500, "y": 500,}'}},
        [Action.click(MIDDLE)],
    ),
    # Qwen
    (
        "JSON",
        "qwen2_5_vl",
        '<tool_call>{"name": "computer_use", "arguments": {"action": "left_click", "coordinate": [12, 6]}}</tool_call>',
        [Action.click(at(12, 6))],
    ),
    (
        "JSON without its closing tag",
        "qwen3_vl",
        '<tool_call>\n{"name": "computer_use", "arguments": {"action": "scroll", "pixels": "100"}}',
        [Action.scroll(None, dy=-100.0, unit=ScrollUnit.PIXEL)],
    ),
    (
        "XML",
        "qwen3_5",
        "<tool_call><function=computer_use><parameter=action>left_click</parameter>"
        "<parameter=coordinate>[500, 500]</parameter></function></tool_call>",
        [Action.click(MIDDLE)],
    ),
    # UI-TARS
    ("1.0", "ui_tars", "Thought: Go.\nAction: click(start_box='(500,500)')", [Action.click(MIDDLE)]),
    (
        "1.5 counts pixels",
        "ui_tars_1_5",
        "Thought: Go.\nAction: click(start_box='<|box_start|>(12,6)<|box_end|>')",
        [Action.click(at(12, 6))],
    ),
    (
        "Doubao",
        "ui_tars_doubao",
        "Thought: Go.\nAction: click(point='<point>500 500</point>')",
        [Action.click(MIDDLE)],
    ),
    (
        "Doubao's older boxes and names",
        "ui_tars_doubao",
        "Action_Summary: Go.\nAction: left_double_click(start_box='<bbox>400 400 600 600</bbox>')",
        [Action.click(MIDDLE, clicks=2)],
    ),
    (
        "2, several functions",
        "ui_tars_2",
        "<gui_think>hm</gui_think><seed:tool_call><function=click><parameter=point><point>500 500</point></parameter>"
        "</function><function=hotkey><parameter=key>ctrl a</parameter></function></seed:tool_call>",
        [Action.click(MIDDLE), Action.key("ctrl", "a")],
    ),
    (
        "2, tags that were never used",
        "ui_tars_2",
        "<think_never_used_51bc>hm</think_never_used_51bc><seed:tool_call_never_used_51bc>"
        "<function_never_used_51bc=wait><parameter_never_used_51bc=time>300</parameter_never_used_51bc>"
        "</function_never_used_51bc></seed:tool_call_never_used_51bc>",
        [Action.wait(60.0)],
    ),
    (
        "2, names as attributes",
        "ui_tars_2",
        '<seed:tool_call><function name="type"><parameter name="content" string="true">Hi\\n</parameter>'
        "</function></seed:tool_call>",
        [Action.type("Hi\n")],
    ),
    (
        "2, omni",
        "ui_tars_2_omni",
        "<computer_env>Action: click(start_box='(500,500)')</computer_env>",
        [Action.click(MIDDLE)],
    ),
    ("2, omni's answer", "ui_tars_2_omni", "<answer>42</answer>", [Action(ActionKind.ANSWER, text="42")]),
    (
        "2, infeasible",
        "ui_tars_2",
        "<seed:tool_call><function=infeasible><parameter=content>No file</parameter></function></seed:tool_call>",
        [Action.fail("No file")],
    ),
    # GLM
    (
        "a box",
        "glm_4_5v",
        "Memory: []\nReason: Go.\nAction: "
        + BOX.format("left_click(start_box='[500,500]', element_info='x')"),
        [Action.click(MIDDLE)],
    ),
    (
        "a box around a fence",
        "glm_4_5v",
        BOX.format("```python\nleft_drag(start_box='[100,200]', end_box='[500,500]')\n```"),
        [Action.drag(Point(0.1, 0.2), MIDDLE)],
    ),
    ("a wait takes five seconds", "glm_4_5v", BOX.format("WAIT()"), [Action.wait(5.0)]),
    ("a chord under either name", "glm_4_5v", BOX.format("key(key='ctrl+c')"), [Action.key("ctrl", "c")]),
    (
        "numbers as strings",
        "glm_4_5v",
        BOX.format("scroll(start_box='[500,500]', direction='up', step='3')"),
        [Action.scroll(MIDDLE, dy=-3.0)],
    ),
    # Kimi
    (
        "code",
        "kimi",
        "◁think▷hm◁/think▷## Action:\nClick.\n## Code:\n```python\npyautogui.click(x=0.5, y=0.5)\n```",
        [Action.click(MIDDLE)],
    ),
    (
        "a fence with another word",
        "kimi",
        "## Action:\nStop.\n## Code:\n```code\ncomputer.terminate(status='success', answer='42')\n```",
        [Action(ActionKind.ANSWER, text="42")],
    ),
    (
        "three clicks",
        "kimi",
        "## Code:\n```python\ncomputer.triple_click(x=0.5, y=0.5)\n```",
        [Action.click(MIDDLE, clicks=3)],
    ),
    ("a failure", "kimi", "```python\ncomputer.terminate(status='failure')\n```", [Action.fail()]),
    # ComputerRL
    (
        "GLM's tokens around a fence",
        "computer_rl",
        "<think>hm</think>" + BOX.format("```python\nAgent.click([12, 6])\n```"),
        [Action.click(at(12, 6))],
    ),
    (
        "two lines in a fence",
        "computer_rl",
        "<think>hm</think>\n```python\nAgent.hotkey(['ctrl', 'a'])\nAgent.type(text='Hi')\n```",
        [Action.key("ctrl", "a"), Action.type("Hi")],
    ),
    (
        "the visual one, cut at its stop string",
        "computer_rl_visual",
        "<think>hm</think><answer>```python\nAgent.click([500, 500], button_type='right')\n```",
        [Action.click(MIDDLE, button=Button.RIGHT)],
    ),
]


@pytest.mark.parametrize(("dialect", "payload", "actions"), [form[1:] for form in FORMS], ids=[
    f"{form[1]}: {form[0]}" for form in FORMS
])  # fmt: skip
def test_what_has_one_meaning_is_read(dialect: str, payload: object, actions: list[Action]) -> None:
    assert DIALECTS[dialect].parse(payload, SCREEN) == actions


def test_every_dialect_has_an_example() -> None:
    shared = {
        "anthropic_20250124",
        "anthropic_20241022",
        "pyautogui",
        "json",
    }  # readers tested in their own files
    assert {form[1] for form in FORMS} | shared == set(DIALECTS)


@pytest.mark.parametrize(
    ("dialect", "payload"),
    [
        ("anthropic", {"action": "left_click", "coordinate": [1281, 6]}),
        ("openai", {"type": "drag", "path": [[1, 2]]}),
        ("gemini", {"name": "click", "args": {"x": 500}}),
        (
            "qwen3_5",
            "<tool_call><function=computer_use><parameter=action>left_click</parameter><parameter=coordinate>[",
        ),
        (
            "ui_tars_2",
            "<seed:tool_call><function=scroll><parameter=direction>up</parameter><parameter=point><point>1",
        ),
        ("ui_tars_2", "<seed:tool_call><function=fly></function></seed:tool_call>"),
        ("ui_tars_2", "<seed:tool_call></seed:tool_call>"),
        ("ui_tars_2_omni", "<code_env>rm -rf</code_env>"),
        ("ui_tars_2_omni", "<mcp_env>{}</mcp_env>"),
        ("ui_tars", "Action: click('(500,500)')"),
        ("glm_4_5v", BOX.format("left_click(element_info='x')")),
        ("glm_4_5v", BOX.format("left_click('[1,2]')")),
        ("glm_4_5v", BOX.format("scroll(start_box='[1,2]', direction='up', step=-3)")),
        ("glm_4_5v", "I would rather not."),
        ("kimi", "## Code:\n```python\ncomputer.terminate(status='perhaps')\n```"),
        ("kimi", "## Code:\n```python\ncomputer.wait(1, 2)\n```"),
        ("kimi", "## Code:\n```python\ncomputer.reboot()\n```"),
        ("kimi", "## Code:\n```python\npyautogui.click(x=1.5, y=0.5)\n```"),
    ],
)
def test_what_could_mean_two_things_is_refused(dialect: str, payload: object) -> None:
    with pytest.raises(ActionParseError):
        DIALECTS[dialect].parse(payload, SCREEN)
