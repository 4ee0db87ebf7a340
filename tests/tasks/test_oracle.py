"""How an oracle is asked."""

from __future__ import annotations

from typing import Any

import pytest

from operant.agents.oracle import OracleAgent
from operant.apps.view import View
from operant.config.desktop import DesktopConfig
from operant.errors import TaskError, WidgetMissing
from operant.tasks.criteria import FileExists
from operant.tasks.oracle import check_oracles, next_action
from operant.tasks.task import Task
from operant.testing.fake_desktop import FakeDesktop
from operant.types import Action, ActionKind, ActionMode, Difficulty, Node, Observation, Point


class Late:
    """Sees its widget at the second look."""

    def __init__(self) -> None:
        self.looks = 0

    def act(self, view: View) -> Action:
        self.looks += 1
        return view.click(
            Node("push button", "OK", frozenset(), (10, 10, 20, 20)) if self.looks > 1 else None
        )


def test_the_oracle_looks_twice_for_a_widget_that_is_drawn_late() -> None:
    with FakeDesktop() as desktop:
        late = Late()
        assert next_action(late, desktop, None).kind is ActionKind.CLICK
        assert late.looks == 2


def test_a_widget_that_is_not_there_is_told() -> None:
    class Lost:
        def act(self, view: View) -> Action:
            return view.click(None)

    with FakeDesktop() as desktop, pytest.raises(WidgetMissing, match="did not find the widget"):
        next_action(Lost(), desktop, None)


class Says:
    """Always does the same."""

    def __init__(self, action: Action) -> None:
        self.action = action

    def act(self, view: View) -> Action:
        return self.action


CLICKED = Says(Action.click(Point(0.5, 0.5)))
CALLED = Says(Action.call("files.list", {}))


def task(**more: Any) -> Task:
    return Task("own/one-v1", "Do it.", Difficulty.EASY, FileExists(path="a"), oracle=CLICKED, **more)


@pytest.mark.parametrize(
    ("actions", "shown"), [("gui", CLICKED.action), ("api", CALLED.action), ("both", CALLED.action)]
)
def test_the_oracle_does_only_what_is_allowed(actions: ActionMode, shown: Action) -> None:
    with FakeDesktop(DesktopConfig(actions=actions)) as desktop:
        agent = OracleAgent()
        agent.attach(desktop, task(api_oracle=CALLED))
        seen = Observation(desktop.frame(), "Do it.", step=0, max_steps=9, pointer=Point(0, 0))
        assert agent.act(seen) == shown


def test_without_calls_that_do_it_pointer_and_keyboard_are_used_where_both_are_allowed() -> None:
    assert task().oracle_for("both") is CLICKED
    assert task().oracle_for("api") is None
    check_oracles([task()], "play", "both")
    with pytest.raises(TaskError, match="1 of 1 tasks have no oracle by calls alone to play: own/one-v1"):
        check_oracles([task()], "play", "api")


def test_a_task_that_refuses_calls_is_shown_by_its_only_oracle() -> None:
    with FakeDesktop(DesktopConfig(actions="api")) as desktop:
        agent = OracleAgent()
        agent.attach(desktop, task(gui_only=True))
        check_oracles([task(gui_only=True)], "play", "api")
