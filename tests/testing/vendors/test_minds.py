"""What the oracle may say at once, and the oracle behind a real server on a fake desktop."""

from __future__ import annotations

import base64
from dataclasses import replace
from io import BytesIO
from typing import Any

import anthropic
import pytest
from PIL import Image

from operant.actions import anthropic as dialect
from operant.agents.base import Agent, Decision, TaskView
from operant.rollout.player import EpisodePlayer, Job
from operant.testing import FAKE_TEMPLATES, FakeDesktop
from operant.testing.oracle_harness import _OneDesktop
from operant.testing.vendors import AnthropicMessages, OracleBehindApi, Rehearsal, ScriptedMind, VendorServer
from operant.testing.vendors.minds import OracleMind
from operant.types import Action, ActionKind, Button, Node, Observation, Outcome, Point, Size, Window

CLICK = Action.click(Point(0.5, 0.5))
SELECT, TYPE, SAVE = Action.key("ctrl", "a"), Action.type("new"), Action.key("ctrl", "s")


def window(number: int, *, focused: bool = True) -> Window:
    return Window(number, "", "", None, 0, 0, 9, 9, focused)


def test_keyboard_actions_follow_while_the_windows_stay() -> None:
    one, two = [window(1)], [window(1, focused=False), window(2)]
    rehearsal = Rehearsal.of([CLICK, SELECT, TYPE, SAVE, CLICK, TYPE], [one, one, one, one, two, two])
    assert rehearsal.following(0, CLICK) == (SELECT, TYPE, SAVE)
    assert rehearsal.following(2, TYPE) == (SAVE,)
    assert rehearsal.following(3, SAVE) == (), "a dialog opened: what comes next needs a look"
    assert rehearsal.following(4, CLICK) == (TYPE,)
    assert rehearsal.following(0, SAVE) == (), "the live oracle went another way"
    assert rehearsal.following(9, CLICK) == ()


class Clicking:
    """An oracle that never comes to an end."""

    def act(self, view: object) -> Action:
        return CLICK


def test_an_oracle_that_goes_in_circles_gives_up() -> None:
    task = replace(FAKE_TEMPLATES[0].instance(0), oracle=Clicking())
    rehearsal = Rehearsal.of([CLICK, TYPE], [[], []])
    with FakeDesktop() as desktop:
        mind = OracleMind(desktop, task, rehearsal)
        said = [mind.next(batches=False)[0] for _ in range(rehearsal.most + 2)]
    assert [one.kind for one in said[:-1]] == [ActionKind.CLICK] * (rehearsal.most + 1)
    assert said[-1].kind is ActionKind.FAIL
    assert "2 needed" in said[-1].text


class Lists(FakeDesktop):
    """Shows a list of three rows, the same in a dialog on its right, and a text."""

    def accessibility(self, *_: object, **__: object) -> Node:
        def rows(left: int) -> list[Node]:
            return [Node("table cell", "", frozenset(), (left, 20 * row, 100, 20)) for row in range(3)]

        text = Node("text", "", frozenset(), (400, 400, 300, 200))
        dialog = Node("dialog", "Open", frozenset(), (200, 0, 100, 60), children=tuple(rows(200)))
        return Node("application", "", frozenset(), None, children=(*rows(0), dialog, text))


def at(x: int, y: int) -> Point:
    return Point.from_pixel(x, y, Size(1280, 800))


def test_keys_in_place_of_clicks_that_a_dialect_lacks() -> None:
    first, last, inside = at(50, 10), at(50, 50), at(250, 10)
    task = replace(FAKE_TEMPLATES[0].instance(0), oracle=Clicking())
    with Lists() as desktop:
        mind = OracleMind(desktop, task)
        mind.screen = Size(1280, 800)

        def keys(action: Action) -> tuple[Action, ...]:
            other = mind.by_keys(action)
            return () if other is None else other.actions

        assert keys(Action.click(first, clicks=2)) == (Action.click(first), Action.key("enter"))
        assert keys(Action.click(inside, clicks=2))[1] == Action.key("shift", "space")
        adding = Action.click(last, modifiers=("ctrl",))
        assert keys(adding) == (), "no row was clicked before"
        mind._clicked = first
        assert keys(adding) == (*[Action.key("ctrl", "down")] * 2, Action.key("ctrl", "space"))
        back = keys(Action.click(at(50, 30), modifiers=("ctrl",)))
        assert back == (Action.key("ctrl", "up"), Action.key("ctrl", "space"))
        assert keys(Action.click(at(900, 700), clicks=2)) == (), "nothing is there"
        word = keys(Action.click(at(500, 500), clicks=2))
        assert word[1:] == (Action.key("ctrl", "right"), Action.key("ctrl", "shift", "left"))
        assert keys(Action.click(first, button=Button.RIGHT)) == (), "Shift+F10 is for what is selected"


@pytest.mark.parametrize(("title", "keys"), [("Creating New Folder", True), ("Creating ...", False)])
def test_the_menu_of_the_desktop_as_keys_only_where_it_makes_a_folder(title: str, keys: bool) -> None:
    spot = at(900, 700)
    menu, entry = Action.click(spot, button=Button.RIGHT), Action.click(at(910, 710))
    dialog = Window(1, title, "Pcmanfm", None, 0, 0, 200, 100, focused=True)
    rehearsal = Rehearsal.of([menu, entry, TYPE], [[], [], [dialog], []])
    task = replace(FAKE_TEMPLATES[0].instance(0), oracle=Clicking())
    with Lists() as desktop:
        mind = OracleMind(desktop, task, rehearsal)
        mind.screen, mind.said = Size(1280, 800), 1
        other = mind.by_keys(menu)
    assert (other is not None) is keys
    if other is not None:
        assert other.actions == (Action.click(spot), Action.key("ctrl", "shift", "n"))


class SmallClient(Agent):
    """The least that speaks Anthropic's protocol: one action a turn and no history but the last call."""

    def __init__(self, url: str) -> None:
        self.client = anthropic.Anthropic(api_key="key", base_url=url, max_retries=0)

    def begin(self, task: TaskView) -> None:
        self.screen, self.messages = (
            task.screen,
            [{"role": "user", "content": [{"type": "text", "text": task.instruction}]}],
        )

    def act(self, observation: Observation) -> Action | Decision:
        data = BytesIO()
        Image.fromarray(observation.screen).save(data, "PNG")
        encoded = base64.b64encode(data.getvalue()).decode()
        picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": encoded}}
        waiting: list[dict[str, Any]] = self.messages[-1]["content"]
        if waiting[-1]["type"] == "tool_use":
            result = {"type": "tool_result", "tool_use_id": waiting[-1]["id"], "toolset_name": "computer"}
            self.messages.append({"role": "user", "content": [{**result, "content": [picture]}]})
        else:
            waiting.append(picture)
        reply = self.client.messages.create(
            model="claude-sonnet-5",
            max_tokens=1000,
            tools=[dialect.declaration(dialect.TOOLSET, self.screen)],
            messages=self.messages,
        ).to_dict()
        self.messages.append({"role": "assistant", "content": reply["content"]})
        if reply["stop_reason"] == "end_turn":
            return Action.done()
        return Decision(tuple(dialect.parse([reply["content"][-1]], self.screen)))


@pytest.mark.parametrize("template", FAKE_TEMPLATES[:3], ids=lambda one: one.id)
def test_the_oracle_behind_the_api_solves_a_task(template: Any) -> None:
    task = template.instance(0)
    with VendorServer() as server, FakeDesktop() as desktop:
        conversation = server.open(AnthropicMessages(ScriptedMind([]), key="key"))
        agent = OracleBehindApi(conversation, SmallClient(conversation.base_url))
        played = EpisodePlayer(_OneDesktop(desktop), lambda job: agent).play(Job(task))
    assert played.result.outcome is Outcome.SUCCESS, played.result.why
    assert not conversation.problems
    assert len(conversation.exchanges) == played.result.steps
