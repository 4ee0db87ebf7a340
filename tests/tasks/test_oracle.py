"""How an oracle is asked."""

from __future__ import annotations

import pytest

from operant.apps.view import View
from operant.errors import WidgetMissing
from operant.tasks.oracle import next_action
from operant.testing.fake_desktop import FakeDesktop
from operant.types import Action, ActionKind, Node


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
