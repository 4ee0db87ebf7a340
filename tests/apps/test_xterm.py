"""Xterm: what its moves do by the rows that it shows, and its state read from outside."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import cast

import pytest

from operant.apps import load_app, xterm
from operant.apps.moves import Goal
from operant.apps.view import View
from operant.desktop.sandbox import SandboxDesktop
from operant.types import Action, Node, Process, RunResult, Size, Window

ENTER, INTERRUPT, CLEAR_LINE = Action.key("enter"), Action.key("ctrl", "c"), Action.key("ctrl", "u")


def look(*rows: str, files: dict[str, str] | None = None, runs: str = "", last: Action | None = None) -> View:
    """A terminal with the focus that shows these rows, with one program in it."""

    def read_text(path: str) -> str:
        if path not in (files or {}):
            raise FileNotFoundError(path)
        return (files or {})[path]

    window = Window(1, "Terminal", "XTerm", 7, 100, 100, 400, 300, focused=True)
    tree = Node("terminal", "Terminal", frozenset({"focused"}), (100, 100, 400, 300), "\n".join(rows))
    processes = [Process(8, 7, "bash", ("bash",)), *([Process(9, 8, runs, (runs,))] if runs else [])]
    desktop = SimpleNamespace(
        size=Size(1280, 800),
        windows=lambda: [window],
        accessibility=lambda app=None: tree,
        files=SimpleNamespace(read_text=read_text),
        processes=lambda: processes,
        run=lambda command: RunResult(0, b"/home/user/work/list.txt\n", b""),
    )
    return View(cast(SandboxDesktop, desktop), last)


def test_a_line_is_typed_at_an_empty_prompt() -> None:
    assert xterm.enter(look("~/work $ ls", "a.txt", "~/work $"), "mkdir x") == Action.type("mkdir x\n")


def test_a_line_that_stands_there_is_only_entered_though_it_goes_on_in_the_next_row() -> None:
    assert xterm.enter(look("~/work $ mkdir", "quiet-harbor"), "mkdir quiet-harbor") == ENTER


def test_the_pointer_over_the_terminal_is_no_text() -> None:
    assert xterm.rows(look("~/work $", "", "          _")) == ["~/work $"]
    assert xterm.rows(look("~/work $        `")) == ["~/work $"]
    assert xterm.rows(look("~/work $ a b")) == ["~/work $ a b"]


def test_other_text_and_other_programs_are_dropped_first() -> None:
    assert xterm.enter(look("~/work $ mkd"), "mkdir x") == INTERRUPT
    assert xterm.enter(look("~/work $ cat", "abc"), "mkdir x") == INTERRUPT


def test_commands_go_on_after_the_last_one_whose_effect_is_there() -> None:
    def says(path: str) -> Callable[[View], bool]:
        return lambda view: view.read(path) is not None

    goal = xterm.entered([("touch a", says("a")), ("touch b", says("b")), ("touch c", says("c"))])
    assert goal.act(look("$")) == Action.type("touch a\n")
    assert goal.act(look("$", files={"b": ""})) == Action.type("touch c\n")
    assert goal.done(look("$", files={"c": ""}))


@pytest.fixture
def listed() -> Goal:
    return xterm.dialogue(
        "cat > list.txt",
        ["apples", "boots"],
        runs=xterm.running("cat", "work/list.txt"),
        taken=xterm.taken("work/list.txt", ["", "apples\n", "apples\nboots\n"]),
        end=xterm.END,
    )


def test_a_dialogue_starts_its_program_and_gives_the_next_line(listed: Goal) -> None:
    begun = "~/work $ cat > list.txt"
    assert listed.act(look("~/work $")) == Action.type("cat > list.txt\n")
    assert listed.act(look(begun, runs="cat", files={"work/list.txt": ""})) == Action.type("apples\n")
    one = {"work/list.txt": "apples\n"}
    assert listed.act(look(begun, "apples", runs="cat", files=one)) == Action.type("boots\n")
    assert listed.act(look(begun, "apples", "boots", runs="cat", files=one)) == ENTER
    assert listed.act(look(begun, "apples", "boo", runs="cat", files=one)) == CLEAR_LINE


def test_a_dialogue_with_a_wrong_line_begins_anew(listed: Goal) -> None:
    assert listed.act(look("$", "nails", runs="cat", files={"work/list.txt": "nails\n"})) == INTERRUPT


def test_a_dialogue_ends_its_program_once(listed: Goal) -> None:
    all_taken = {"work/list.txt": "apples\nboots\n"}
    assert listed.act(look("boots", runs="cat", files=all_taken)) == xterm.END
    assert listed.act(look("boots", runs="cat", files=all_taken, last=xterm.END)) == Action.wait()
    assert listed.done(look("$", files=all_taken))
    assert not listed.done(look("boots", runs="cat", files=all_taken))


@pytest.mark.x11
def test_its_state_is_read_from_outside() -> None:
    app = load_app("xterm")
    with SandboxDesktop() as desktop:
        desktop.launch(["env", "-C", "/tmp", "SHELL=/bin/bash", *app.argv("-T", "Notes")])
        desktop.perform(Action.type("clear; echo hello\n"))
        desktop.settle()
        (state,) = app.state(desktop)
        assert (state.title, state.directory, state.program) == ("Notes", "/tmp", "bash")
        assert state.text.startswith("hello\n")
        assert app.is_ready(View(desktop))
