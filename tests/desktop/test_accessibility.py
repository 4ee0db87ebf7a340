"""Trees of widgets are what the applications say of themselves, and bounded whatever they do."""

from __future__ import annotations

import contextlib
import statistics
import time
from typing import Any

import pytest

from operant.desktop.accessibility import Accessibility
from operant.desktop.accessible_widget import ACCESSIBLE, Application
from operant.desktop.atspi import role_name
from operant.desktop.bus import BusCall, BusError
from operant.desktop.sandbox import SandboxDesktop
from operant.desktop.widget_walk import walk_widgets
from operant.errors import AccessibilityError, InvalidAction
from operant.types import Action, Button, Caret, Node, Point

pytestmark = pytest.mark.x11


def application(desktop: SandboxDesktop, name: str) -> Application:
    desktop.accessibility(app=name, timeout_s=5.0)
    kept = desktop._accessibility
    assert isinstance(kept, Accessibility)
    return next(one for one in kept._applications.values() if one.name.lower() == name)


def opened(desktop: SandboxDesktop, what: str) -> str:
    """Bring an application to show many kinds of widgets; returns its name."""
    if what == "a dialog for files":
        desktop.launch("mousepad")
        desktop.perform(Action.key("ctrl", "o"))
        desktop.settle()
        return "mousepad"
    desktop.launch(what)
    return what


@pytest.mark.parametrize("what", ["mousepad", "galculator", "pcmanfm", "a dialog for files"])
def test_roles_are_those_that_the_application_names(desktop: SandboxDesktop, what: str) -> None:
    app = application(desktop, opened(desktop, what))
    deadline = time.monotonic() + 15.0
    assert desktop._accessibility is not None
    widgets = desktop._accessibility._cached(app, deadline)
    widgets += walk_widgets(
        app,
        [one.path for one in widgets if "manages descendants" in one.states],
        {w.path: w for w in widgets},
        deadline,
        300,
    )
    assert len(widgets) > 20
    to = app.destination
    asked = [
        BusCall(to, one.path, ACCESSIBLE, member, answer=kind)
        for one in widgets
        for member, kind in (("GetRole", "u"), ("GetRoleName", "s"))
    ]
    answers = app.link.call_all(asked, deadline)
    compared = 0
    for widget, number, name in zip(widgets, answers[::2], answers[1::2], strict=True):
        if isinstance(number, BusError) or isinstance(name, BusError):
            continue
        # AT-SPI's names and ATK's differ in two spaces: "statusbar", "tear off menu item".
        assert role_name(number[0]).replace(" ", "") == name[0].replace(" ", "")
        assert widget.role == role_name(number[0])
        compared += 1
    assert compared > len(widgets) // 2


@pytest.mark.parametrize("what", ["mousepad", "galculator", "pcmanfm"])
def test_siblings_are_in_the_applications_order(desktop: SandboxDesktop, what: str) -> None:
    app = application(desktop, opened(desktop, what))
    kept, deadline = desktop._accessibility, time.monotonic() + 15.0
    assert kept is not None

    def compare(node: Node, path: str) -> int:
        (children,) = app.link.call(
            BusCall(app.destination, path, ACCESSIBLE, "GetChildren", answer="a(so)"), deadline
        )
        calls = [
            BusCall(app.destination, child, ACCESSIBLE, member, answer=kind)
            for _, child in children
            for member, kind in (("GetRoleName", "s"), ("GetState", "au"))
        ]
        answers = app.link.call_all(calls, deadline)
        shown = [
            (answers[2 * index][0], child)  # type: ignore[index]
            for index, (_, child) in enumerate(children)
            if answers[2 * index + 1][0][0] >> 25 & 1  # type: ignore[index]
        ]
        assert [child.role.replace(" ", "") for child in node.children] == [
            role.replace(" ", "") for role, _ in shown
        ]
        return 1 + sum(compare(child, below) for child, (_, below) in zip(node.children, shown, strict=True))

    root = "/org/a11y/atspi/accessible/root"
    assert compare(desktop.accessibility(app=what, timeout_s=10.0), root) > 15


@pytest.mark.parametrize("what", ["mousepad", "galculator", "pcmanfm", "a dialog for files"])
def test_boxes_lie_on_the_screen_and_within_the_window(desktop: SandboxDesktop, what: str) -> None:
    tree = desktop.accessibility(app=opened(desktop, what), timeout_s=10.0)
    windows = desktop.windows()
    boxed = [node for node in tree.walk() if node.box is not None]
    assert len(boxed) > 10
    for node in boxed:
        x, y, width, height = node.box or (0, 0, 0, 0)
        assert width > 0
        assert height > 0
        if node.role in ("push button", "menu", "text", "toggle button", "frame", "dialog"):
            assert x >= 0
            assert y >= 0
            assert x + width <= 1280
            assert y + height <= 800
            assert any(
                w.x - 10 <= x
                and w.y - 40 <= y
                and x + width <= w.x + w.width + 10
                and y + height <= w.y + w.height + 10
                for w in windows
            ), (node.role, node.name, node.box)


def test_a_widget_is_where_its_box_says(desktop: SandboxDesktop) -> None:
    desktop.launch("galculator")
    tree = desktop.accessibility(timeout_s=5.0)
    for digit in "7490":
        node = tree.find(name=digit)
        assert node is not None
        assert node.box is not None
        x, y, width, height = node.box
        desktop.perform(Action.click(Point.from_pixel(x + width // 2, y + height // 2, desktop.size)))
    assert any(n.text == "7490" for n in desktop.accessibility(timeout_s=5.0).walk())


def test_an_opened_menu_appears_and_a_closed_one_does_not(editor: Any, eventually: Any) -> None:
    desktop = editor.desktop
    names = lambda: {node.name.strip() for node in desktop.accessibility(app="mousepad").walk()}  # noqa: E731
    assert "Save As..." not in names()
    file = desktop.accessibility(app="mousepad").find("menu", "File")
    x, y, width, height = file.box
    desktop.perform(Action.click(Point.from_pixel(x + width // 2, y + height // 2, desktop.size)))
    eventually(lambda: "Save As..." in names())
    desktop.perform(Action.key("esc"))
    eventually(lambda: "Save As..." not in names())


def test_text_is_read_as_it_is(editor: Any) -> None:
    editor.type("Zwölf <Boxkämpfer> 漢字 😀")
    node = editor.node()
    assert node.text == "Zwölf <Boxkämpfer> 漢字 😀"
    assert {"focused", "editable", "showing"} <= node.states


def test_scopes(desktop: SandboxDesktop) -> None:
    assert desktop.accessibility().children == ()  # nothing is focused yet
    desktop.launch("galculator")
    desktop.launch("mousepad")
    focused = desktop.accessibility()
    assert (focused.role, focused.name) == ("frame", "Untitled 1 - Mousepad")
    whole = desktop.accessibility("desktop")
    assert {child.name for child in whole.children} >= {"mousepad", "galculator"}
    assert desktop.accessibility(app="Galculator").name == "galculator"
    with pytest.raises(AccessibilityError, match="nothing-like-it") as caught:
        desktop.accessibility(app="nothing-like-it")
    assert "mousepad" in (caught.value.hint or "")
    with pytest.raises(InvalidAction):
        desktop.accessibility("everything")


@pytest.mark.parametrize("limit", [1, 5, 20])
def test_the_number_of_nodes_is_bounded(editor: Any, limit: int) -> None:
    for tree in (
        editor.desktop.accessibility(limit=limit),
        editor.desktop.accessibility("desktop", limit=limit),
    ):
        assert sum(1 for _ in tree.walk()) <= limit + 2


def test_a_folder_with_thousands_of_files_is_read_in_bounded_time(desktop: SandboxDesktop) -> None:
    desktop.run(
        ["sh", "-c", "mkdir many; cd many; i=0; while [ $i -lt 2000 ]; do : > file$i; i=$((i+1)); done"]
    )
    desktop.launch(["pcmanfm", "many"])
    began = time.monotonic()
    try:
        tree = desktop.accessibility(timeout_s=2.0, limit=500)
        assert sum(1 for _ in tree.walk()) <= 502
    except AccessibilityError:
        pass
    assert time.monotonic() - began < 3.0


def test_a_menu_that_popped_up_belongs_to_the_window_it_was_called_from(desktop: SandboxDesktop) -> None:
    desktop.launch(["pcmanfm", "/tmp"])
    (window,) = desktop.windows()
    blank = Point.from_pixel(window.x + window.width - 40, window.y + window.height - 60, desktop.size)
    assert desktop.accessibility().find("menu item", "Folder Properties") is None
    desktop.perform(Action.click(blank, button=Button.RIGHT))
    tree = desktop.accessibility()
    assert tree.name == window.title
    item = tree.find("menu item", "Folder Properties")
    assert item is not None
    assert item.box is not None


def test_an_application_that_ends_disappears(desktop: SandboxDesktop, eventually: Any) -> None:
    desktop.launch("galculator")
    desktop.launch("mousepad")
    desktop.accessibility("desktop")
    desktop.run(["sh", "-c", "kill -9 $(pidof mousepad)"])
    names = lambda: {child.name for child in desktop.accessibility("desktop").children}  # noqa: E731
    eventually(lambda: names() == {"galculator"})
    desktop.reset()
    assert desktop.accessibility("desktop").children == ()


def test_an_application_that_ends_in_the_middle_is_a_typed_error_or_none(desktop: SandboxDesktop) -> None:
    for _ in range(3):
        desktop.launch("mousepad")
        desktop.start(["sh", "-c", "sleep 0.005; kill -9 $(pidof mousepad)"])
        for _ in range(4):
            with contextlib.suppress(AccessibilityError):
                desktop.accessibility("desktop", timeout_s=1.0)
        desktop.reset()


def test_a_tree_is_quick(editor: Any) -> None:
    took = []
    for _ in range(15):
        began = time.monotonic()
        editor.desktop.accessibility()
        took.append(time.monotonic() - began)
    assert statistics.median(took) < 0.25  # the goal is 0.05; this only catches what is broken


def test_the_caret_is_where_the_next_key_goes(desktop: SandboxDesktop) -> None:
    desktop.files.write("notes.txt", "one\ntwo\n")
    desktop.launch("mousepad notes.txt")
    assert desktop.caret() == Caret("one\ntwo\n", 0)
    desktop.perform(Action.key("ctrl", "end"))
    assert desktop.caret() == Caret("one\ntwo\n", 8)
    desktop.perform(Action.key("shift", "up"))
    caret = desktop.caret()
    assert caret is not None
    assert (caret.offset, caret.selected) == (4, "two\n")
    desktop.perform(Action.key("ctrl", "shift", "s"))
    desktop.settle()
    caret = desktop.caret()
    assert caret is not None
    assert (caret.text, caret.selected) == ("notes.txt", "notes")


def test_an_empty_desktop_has_no_caret(desktop: SandboxDesktop) -> None:
    assert desktop.caret() is None
