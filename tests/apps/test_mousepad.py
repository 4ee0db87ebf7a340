"""Mousepad: what is seen of it, and edits that decide by caret, selection and text alone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from operant.apps import load_app
from operant.apps.mousepad import APP, MousepadState, document_goals, edits
from operant.apps.mousepad.text_view import SAVE_AS, end_of_line, grounded
from operant.apps.moves import Goal
from operant.apps.view import View
from operant.desktop.sandbox import SandboxDesktop
from operant.types import Action

pytestmark = pytest.mark.x11

TEXT = "alpha one\nbeta two\ngamma three\n"


@pytest.fixture
def desktop() -> Iterator[SandboxDesktop]:
    with SandboxDesktop() as desktop:
        desktop.files.write("a.txt", TEXT)
        desktop.launch(APP.argv("a.txt"))
        yield desktop


def reach(desktop: SandboxDesktop, goal: Goal, most: int = 15) -> list[Action]:
    """Every look is without the action before, as when the oracle labels a state that a learner came to."""
    done: list[Action] = []
    while not goal.done(View(desktop)):
        assert len(done) < most, done
        done.append(goal.act(View(desktop)))
        desktop.perform(done[-1])
    return done


def test_what_it_shows_is_read_from_outside(desktop: SandboxDesktop) -> None:
    assert load_app("mousepad") is APP
    assert APP.is_ready(View(desktop))
    assert APP.state(desktop) == MousepadState("a.txt", TEXT, (), None)
    desktop.perform(SAVE_AS)
    desktop.perform(Action.wait())
    assert APP.state(desktop).dialog == "Save As"


@pytest.mark.parametrize(("line", "offset"), [(0, 9), (1, 18), (3, 31)])
def test_the_end_of_a_line(line: int, offset: int) -> None:
    assert end_of_line(TEXT, line) == offset


def test_a_line_is_appended_wherever_the_caret_stands(desktop: SandboxDesktop) -> None:
    goal = edits.edited("a.txt", [edits.appended(TEXT, "delta")])
    did = reach(desktop, goal)
    assert desktop.files.read_text("a.txt") == TEXT + "delta"
    assert [action.keys for action in did] == [("ctrl", "end"), (), ("ctrl", "s")]


def test_typing_replaces_nothing_that_is_marked(desktop: SandboxDesktop) -> None:
    desktop.perform(Action.key("ctrl", "a"))
    reach(desktop, edits.edited("a.txt", [edits.appended(TEXT, "delta")]))
    assert desktop.files.read_text("a.txt") == TEXT + "delta"


def test_a_wrong_text_is_undone(desktop: SandboxDesktop) -> None:
    desktop.perform(Action.type("x"))
    reach(desktop, edits.edited("a.txt", [edits.replaced_word(TEXT, "two", "2")]))
    assert desktop.files.read_text("a.txt") == TEXT.replace("two", "2")


def test_the_search_bar_is_left_for_the_text(desktop: SandboxDesktop) -> None:
    reach(desktop, document_goals.found("gamma"))
    assert grounded(View(desktop)) == Action.key("esc")
    desktop.perform(Action.key("esc"))
    assert grounded(View(desktop)) is None


def test_a_line_that_moved_up_is_not_clicked_again(desktop: SandboxDesktop) -> None:
    once = edits.moved_up(TEXT, 2)
    steps = [
        edits.menu_on_line(TEXT, once, 2, *edits.LINE_UP),
        edits.menu_on_line(once, edits.moved_up(once, 1), 1, *edits.LINE_UP),
    ]
    did = reach(desktop, edits.edited("a.txt", steps))
    assert (
        len(did) == 8
    )  # one click into the line, twice three clicks through the menus, and the key that saves
    assert desktop.files.read_text("a.txt") == "gamma three\nalpha one\nbeta two\n"
