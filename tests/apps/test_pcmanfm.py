"""PCManFM: what is seen of it, and moves that decide by what they see."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from operant.apps import load_app
from operant.apps.moves import Goal
from operant.apps.pcmanfm import APP, SETTINGS, PcmanfmState, file_goals, settings
from operant.apps.pcmanfm.folder_view import enter_path
from operant.apps.view import View
from operant.desktop.sandbox import SandboxDesktop
from operant.types import Action, ActionKind

pytestmark = pytest.mark.x11


@pytest.fixture
def desktop() -> Iterator[SandboxDesktop]:
    """A folder and ten files, of which the last one lies below the edge of the window."""
    with SandboxDesktop() as desktop:
        desktop.files.write(SETTINGS, settings())
        for letter in "abcdefghij":
            desktop.files.write(f"work/{letter}.txt", f"This is {letter}.\n")
        desktop.files.write("work/old/z.txt", "z")
        window = desktop.launch(APP.argv("work"))
        desktop.place_window(window, 536, 202, 668, 419)
        yield desktop


def reach(desktop: SandboxDesktop, goal: Goal, most: int = 15) -> list[Action]:
    done: list[Action] = []
    while not goal.done(View(desktop)):
        assert len(done) < most, [action.kind for action in done]
        done.append(goal.act(View(desktop)))
        desktop.perform(done[-1])
    return done


def test_what_it_shows_is_read_from_outside(desktop: SandboxDesktop) -> None:
    assert load_app("pcmanfm") is APP
    assert APP.is_ready(View(desktop))
    state = APP.state(desktop)
    assert state == PcmanfmState("/home/user/work", state.names, (), None)
    assert {"old", "a.txt", "i.txt"} <= set(state.names)


def test_a_file_out_of_sight_is_scrolled_to(desktop: SandboxDesktop) -> None:
    did = reach(desktop, file_goals.renamed("work", "j.txt", "new.txt"))
    assert desktop.files.read_text("work/new.txt") == "This is j.\n"
    assert ActionKind.SCROLL in {action.kind for action in did}


def test_a_dialog_about_another_file_is_closed(desktop: SandboxDesktop) -> None:
    """No action before is known, as when the oracle labels a state that a learner came to."""
    goal = file_goals.renamed("work", "b.txt", "new.txt")
    item = View(desktop).widget("table cell", "a.txt", app="pcmanfm")
    assert item is not None
    desktop.perform(View(desktop).click(item))
    desktop.perform(Action.wait(0.3))
    desktop.perform(Action.key("f2"))
    assert goal.act(View(desktop)) == Action.key("esc")
    reach(desktop, goal)
    assert desktop.files.exists("work/a.txt")


def test_a_path_is_typed_over_what_the_location_bar_says(desktop: SandboxDesktop) -> None:
    reach(desktop, file_goals.folder_shown("work/old", enter_path))
    assert APP.state(desktop).folder == "/home/user/work/old"
