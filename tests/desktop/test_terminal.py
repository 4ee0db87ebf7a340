"""Terminals are read off their pixels, letter by letter."""

from __future__ import annotations

import string

import numpy as np
import pytest

from operant.desktop import SandboxDesktop, terminal
from operant.desktop.terminal import Cells, read_terminal
from operant.types import Action, Window

PRINTED = "".join(one for one in string.printable[:94] if one not in "'\\")


def open_terminal(desktop: SandboxDesktop, *arguments: str) -> Window:
    desktop.reset()
    return desktop.launch(
        ["env", "SHELL=/bin/bash", "xterm", "-geometry", "60x12", "-T", "Terminal", *arguments]
    )


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("-fa", "Monospace", "-fs", "8"),
        ("-fa", "Monospace", "-fs", "11"),
        ("-fa", "Monospace", "-fs", "14"),
        ("-fa", "Monospace", "-fs", "11", "-bg", "navy", "-fg", "yellow"),
    ],
    ids=["as it comes", "small", "as in tasks", "large", "coloured"],
)
def test_every_character_is_read(desktop: SandboxDesktop, arguments: tuple[str, ...]) -> None:
    open_terminal(desktop, *arguments)
    desktop.perform(Action.type(f"clear; echo '{PRINTED}'\n"))
    desktop.settle()
    tree = desktop.accessibility(lines=True)
    assert (tree.role, tree.name) == ("terminal", "Terminal")
    assert tree.text is not None
    first, second, prompt = tree.text.split("\n")
    assert first + second == PRINTED
    assert prompt.endswith("$")
    assert [(line.text, line.value) for line in tree.children] == [(first, 1.0), (second, 2.0), (prompt, 3.0)]
    (x, y, width, height), (_, below, *_) = tree.children[0].box or (), tree.children[1].box or ()
    assert below == y + height
    assert tree.box is not None
    assert tree.box[0] < x < x + width < tree.box[0] + tree.box[2]


def test_a_terminal_is_in_the_tree_of_the_desktop_until_it_is_covered(desktop: SandboxDesktop) -> None:
    window = open_terminal(desktop)
    assert [one.name for one in desktop.accessibility("desktop").children if one.role == "terminal"] == [
        "Terminal"
    ]
    above = desktop.launch("mousepad")
    desktop.place_window(above, window.x + 40, window.y + 40, 600, 400)
    assert not [one for one in desktop.accessibility("desktop").children if one.role == "terminal"]
    assert desktop.accessibility().role == "frame"
    desktop.activate_window(window)
    assert desktop.accessibility().role == "terminal"


def test_of_a_window_beyond_the_edges_the_lines_that_fit_are_read(desktop: SandboxDesktop) -> None:
    window = open_terminal(desktop, "-fa", "Monospace", "-fs", "11")
    desktop.perform(Action.type("clear; echo abcdefgh; echo ijklmnop\n"))
    desktop.settle()
    screen, cells = desktop.frame(), Cells(9, 18, 2, 2)
    shift = 2 + 9 + 9 // 2  # one and a half columns beyond the left edge
    cut = screen[window.y + 2 + 18 :, window.x + shift :]
    beyond = Window(1, "Terminal", "XTerm", 1, -shift, -20, window.width, window.height, focused=True)
    text = read_terminal(cut, beyond, cells).text
    assert text is not None
    assert text.split("\n")[:2] == ["", "  klmnop"]


def test_what_is_no_glyph_is_blank() -> None:
    noise = np.random.default_rng(0).integers(0, 255, (40, 100, 3), dtype=np.uint8)
    window = Window(1, "Terminal", "XTerm", 1, 0, 0, 100, 40, focused=True)
    assert not (read_terminal(noise, window, Cells(9, 18, 2, 2)).text or "").strip()


def test_without_the_font_terminals_are_left_out(
    desktop: SandboxDesktop, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_terminal(desktop)
    monkeypatch.setattr(terminal, "FONT", "NoSuchFont.ttf")
    assert not desktop.accessibility().children
    assert desktop.accessibility().role != "terminal"
