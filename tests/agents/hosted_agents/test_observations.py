"""What hosted agents are shown, for every vendor and dialect: picture, widgets as text, both, or marks."""

from __future__ import annotations

import base64
import io
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from operant.actions import DIALECTS, TEXT_DIALECTS
from operant.agents.hosted import HostedAgent, make
from operant.agents.hosted.widgets import marked, widget_lines, widgets_in_sight
from operant.config.hosted import HostedSettings
from operant.types import Action, ActionResult, Node, Size, Window

from .scripted_server import SCREEN, ScriptedServer, agent_of, seen

#: dialect -> the vendor, the model and the settings by which an agent speaks it
SPOKEN: dict[str, dict[str, Any]] = {
    "anthropic_toolset": {"vendor": "anthropic", "model": "claude-opus-5-5"},
    "anthropic": {"vendor": "anthropic", "model": "claude-sonnet-4-6"},
    "anthropic_20250124": {"vendor": "anthropic", "model": "claude-sonnet-4-5"},
    "anthropic_20241022": {
        "vendor": "anthropic",
        "model": "claude-sonnet-4-5",
        "dialect": "anthropic_20241022",
    },
    "openai": {"vendor": "openai", "model": "gpt-6-astra"},
    "gemini": {"vendor": "gemini", "model": "gemini-3.5-flash"},
    "gemini_browser": {"vendor": "gemini", "model": "gemini-2.5-computer-use-preview-10-2025"},
    **{
        name: {"vendor": "chat", "model": "m", "dialect": name} for name in ("function_tools", *TEXT_DIALECTS)
    },
}
LINE = re.compile(r"^(?:\d+ )?push button 'w(\d)' \(([\d.]+), ([\d.]+)\)", re.MULTILINE)


def widget(name: str, *box: int, role: str = "push button") -> Node:
    left, top, width, height = box
    return Node(role, name, frozenset(), (left, top, width, height))


def window(*widgets: Node, size: Size = SCREEN) -> Node:
    return Node("frame", "Window", frozenset(), (0, 0, *size), children=widgets)


def test_every_dialect_is_spoken_by_an_agent() -> None:
    assert set(SPOKEN) == set(DIALECTS)


def test_every_dialect_stands_in_the_documentation_with_its_agent() -> None:
    page = (Path(__file__).parents[3] / "docs" / "llm_agents.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \| [^|]+ \| (`[^|]+`) \|", page, re.MULTILINE))
    assert {name: f"`{SPOKEN[name]['vendor']}:`" in rows.get(name, "") for name in DIALECTS} == dict.fromkeys(
        DIALECTS, True
    )


_agents: dict[str, HostedAgent] = {}


def spoken(name: str) -> HostedAgent:
    """An agent that speaks the dialect; none of them sends a request here."""
    if name not in _agents:
        _agents[name] = make(HostedSettings.build(**SPOKEN[name]))
    return _agents[name]


@pytest.mark.parametrize("name", SPOKEN)
@settings(deadline=None, max_examples=25)
@given(st.builds(Size, st.integers(800, 3840), st.integers(600, 2160)), st.data())
def test_a_click_on_what_a_line_says_lands_inside_the_widget(
    name: str, screen: Size, data: st.DataObject
) -> None:
    boxes = []
    for _ in range(3):
        box = [st.integers(8, 40) | st.integers(8, side) for side in screen]
        width, height = (data.draw(length) for length in box)
        left = data.draw(st.integers(0, screen.width - width))
        boxes.append((left, data.draw(st.integers(0, screen.height - height)), width, height))
    dialogue = spoken(name)._dialogue
    shown = dialogue.limits.fit(screen)
    tree = window(*(widget(f"w{number}", *box) for number, box in enumerate(boxes)), size=screen)
    lines = widget_lines(widgets_in_sight(tree, screen), screen, lambda point: dialogue.locate(point, shown))
    found = LINE.findall(lines)
    assert [int(number) for number, _, _ in found] == [0, 1, 2]
    dialect = DIALECTS[name]
    for number, x, y in found:
        left, top, width, height = boxes[int(number)]
        told = dialect.grid(shown).point(float(x), float(y))
        # What the model says when it clicks there, read as the adapter reads it.
        (click,) = dialect.parse(dialect.render(Action.click(told), shown), shown)
        assert click.point is not None
        across, down = click.point.to_pixel(screen)
        assert left <= across < left + width
        assert top <= down < top + height


REPLIES: dict[str, dict[str, Any]] = {
    "anthropic": {"content": [{"type": "text", "text": "Done."}], "stop_reason": "end_turn"},
    "openai": {
        "id": "r",
        "status": "completed",
        "output": [{"type": "message", "content": [{"type": "output_text", "text": "Done."}]}],
    },
    "gemini": {"candidates": [{"content": {"parts": [{"text": "Done."}]}, "finishReason": "STOP"}]},
    "chat": {"choices": [{"message": {"content": '{"kind": "done"}'}, "finish_reason": "stop"}]},
}
MODELS = {"anthropic": "claude-opus-5-5", "openai": "gpt-6-astra", "gemini": "gemini-3.5-flash", "chat": "m"}
PNG = re.compile(r"iVBOR[\w+/=]{100,}")


@pytest.mark.parametrize("vendor", MODELS)
def test_each_observation_for_each_vendor(server: ScriptedServer, vendor: str) -> None:
    tree = window(widget("w0", 100, 200, 60, 40), widget("Quiet", 0, 0, 300, 20, role="label"))
    sent = {}
    for how in ("screenshot", "a11y_tree", "screenshot_a11y_tree", "som"):
        server.then(REPLIES[vendor])
        agent = agent_of(server, vendor, MODELS[vendor], observation=how)
        assert agent.observation_type == how
        agent.act(seen(tree=tree))
        sent[how] = str(server.asked[-1]["body"])
    assert {how: bool(PNG.search(body)) for how, body in sent.items()} == {
        "screenshot": True,
        "a11y_tree": False,
        "screenshot_a11y_tree": True,
        "som": True,
    }
    assert "push button" not in sent["screenshot"]
    for how in ("a11y_tree", "screenshot_a11y_tree"):
        assert "push button" in sent[how]
        assert "Quiet" in sent[how]
    assert "Marks on the screen" in sent["som"]
    assert "1 push button" in sent["som"]
    assert "Quiet" not in sent["som"]
    plain, with_marks = (_picture(sent[how]) for how in ("screenshot", "som"))
    assert not plain.any()
    assert with_marks[200, 100:160].any()  # the frame around the widget
    assert not with_marks[210:235, 105:155].any()  # which hides nothing of it


def _picture(body: str) -> np.ndarray:
    found = PNG.search(body)
    assert found is not None
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(found[0]))))


@pytest.mark.parametrize("how", ["a11y_tree", "som"])
def test_fewer_widgets_for_a_short_context(server: ScriptedServer, how: str) -> None:
    server.then(REPLIES["chat"])
    agent = agent_of(server, "chat", "m", observation=how, max_widgets=2)
    agent.act(seen(tree=window(*(widget(f"w{number}", 50 * number, 100, 40, 40) for number in range(5)))))
    body = str(server.asked[-1]["body"])
    assert [name for name in ("w0", "w1", "w2", "w3", "w4") if f"'{name}'" in body.replace("\\", "")] == (
        ["w0"] if how == "a11y_tree" else ["w0", "w1"]
    )
    if how == "som":
        picture = _picture(body)
        assert picture[100, 52:88].any()
        assert not picture[95:150, 100:].any()  # no mark without its line


def test_marks_are_scaled_with_the_picture(server: ScriptedServer) -> None:
    size = Size(3840, 2160)
    server.then(REPLIES["anthropic"])
    agent = agent_of(server, "anthropic", "claude-opus-5-5", observation="som")
    agent.act(seen(size=size, tree=window(widget("w0", 1920, 1080, 400, 200), size=size)))
    picture = _picture(str(server.asked[0]["body"]))
    assert picture.shape[:2] == (1125, 2000)
    assert picture[562:563, 1000:1200].any(axis=2).mean() > 0.9


def test_an_agent_that_reads_widgets_is_shown_widgets(server: ScriptedServer) -> None:
    text, visual = (
        make(HostedSettings.build(**SPOKEN[name])) for name in ("computer_rl", "computer_rl_visual")
    )
    assert (text.observation_type, visual.observation_type) == ("a11y_tree", "screenshot")


@pytest.mark.parametrize("dialect", ["computer_rl", "computer_rl_visual"])
def test_computer_rl_is_told_the_state_as_its_own_runner_tells_it(
    server: ScriptedServer, dialect: str
) -> None:
    agent = agent_of(server, "chat", "autoglm-os", dialect=dialect, history=2)
    windows = (
        Window(0x2A, "Book - Calc", "libreoffice-calc", 1, 0, 0, 9, 9, focused=True),
        Window(0x2B, "Files", "pcmanfm", 2, 0, 0, 9, 9, focused=False),
    )
    replies = [
        "<think>hm</think>\n```python\nAgent.wait()\n```",
        "I would rather talk.",
        "Agent.exit(success=True)",
    ]
    results: tuple[ActionResult, ...] = ()
    error = None
    for said in replies:
        server.then({"choices": [{"message": {"content": said}, "finish_reason": "stop"}]})
        look = replace(seen(*results, tree=window(widget("w0", 9, 9, 20, 20)), error=error), windows=windows)
        turn = agent.act(look)
        results = tuple(ActionResult(action, text="42" * 3000) for action in turn.actions)
        error = turn.error or None
    assert turn.actions == (Action.done(),)
    body = server.asked[-1]["body"]
    assert "</answer>" in body["stop"]
    first, second, third = (list(one["content"]) for one in body["messages"] if one["role"] == "user")
    kinds = ["image_url"] * (dialect == "computer_rl_visual") + ["text", "text"]
    assert [part["type"] for part in third] == [part["type"] for part in second] == kinds
    assert [part["text"] for part in first] == ["Task: Do it.", "(an earlier screen)"]
    assert second[-2]["text"] == "* Previous Action Result: " + "42" * 1000
    assert third[-2]["text"].startswith("* Previous Action Result: Invalid action: ")
    state = third[-1]["text"]
    assert "* Apps:\n0x0000002a libreoffice-calc Book - Calc\n0x0000002b pcmanfm Files" in state
    assert "* Current App: libreoffice-calc" in state
    assert ("* A11y Tree:\nframe 'Window'" in state) == (dialect == "computer_rl")


def test_only_what_is_in_sight_is_told_and_of_a_part_its_own_centre() -> None:
    tree = window(
        widget("gone", 1280, 10, 50, 50),
        widget("above", 10, -50, 50, 50),
        widget("half", 1260, 780, 100, 100),
        widget("flat", 10, 10, 0, 10),
        Node("panel", "", frozenset(), (0, 0, 10, 10)),
        Node("push button", "nowhere", frozenset(), None),
    )
    widgets = widgets_in_sight(tree, SCREEN)
    assert [one.node.name for one in widgets] == ["Window", "half"]
    assert widgets[1].centre == (1270, 790)


def test_long_trees_are_cut_and_a_place_is_marked_once() -> None:
    many = widgets_in_sight(window(*(widget("w", 10, 10, 20, 20) for _ in range(350))), SCREEN)
    lines = widget_lines(many, SCREEN, lambda point: point.to_pixel(SCREEN)).splitlines()
    assert lines[-1] == "... and 51 more"
    assert len(lines) == 300 + 2
    assert len(marked(many)) == 1
