"""Chromium: what its moves do by the page that they see, and its state read from outside."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from operant.apps import chromium, load_app
from operant.apps.moves import SELECT_ALL, Goal
from operant.apps.view import View
from operant.desktop.sandbox import SandboxDesktop
from operant.tasks.setup import OpenPage, WriteFile
from operant.types import Action, Node, Size

ENABLED = frozenset({"enabled", "showing"})
HOST = "127.0.0.1:8000"
DONE = lambda view: False  # noqa: E731


def node(role: str, name: str = "", text: str | None = None, *states: str, y: int = 300) -> Node:
    return Node(role, name, ENABLED | set(states), (200, y, 100, 20), text)


def look(
    *widgets: Node,
    path: str = "/",
    bar: Node | None = None,
    typed: bool = False,
    loading: bool = False,
    primary: str | None = None,
    last: Action | None = None,
) -> View:
    """A browser that shows a page with these widgets."""
    page = Node(
        "document web", "", ENABLED, (100, 200, 800, 500), children=widgets, url=f"http://{HOST}{path}"
    )
    buttons = [
        node("push button", "Back", y=100),
        node("push button", "Stop" if loading else "Reload", y=100),
        *([] if typed else [node("push button", "Bookmark this tab", y=100)]),
    ]
    bar = bar or node("entry", "Address and search bar", HOST, y=100)
    tree = Node("application", "Chromium", ENABLED, None, children=(*buttons, bar, page))
    desktop = SimpleNamespace(
        size=Size(1280, 800),
        accessibility=lambda app=None: tree,
        clipboard=SimpleNamespace(get=lambda selection="clipboard": primary),
    )
    return View(cast(SandboxDesktop, desktop), last)


def test_a_field_is_focused_selected_and_typed_over() -> None:
    goal = chromium.fill("City", "Oslo")
    field = node("entry", "City", "Rome")
    assert goal.act(look(field)) == look(field).click(field)
    focused = node("entry", "City", "Rome", "focused")
    assert goal.act(look(focused)) == SELECT_ALL
    assert goal.act(look(focused, primary="Rome")) == Action.type("Oslo")
    assert goal.act(look(node("entry", "City", "", "focused"))) == Action.type("Oslo")
    assert goal.done(look(node("entry", "City", "Oslo")))


def test_of_a_password_only_the_length_is_told() -> None:
    goal = chromium.fill("Password", "abc", "password text")
    assert goal.done(look(node("password text", "Password", "\u2022\u2022\u2022")))
    assert not goal.done(look(node("password text", "Password", "\u2022")))


def test_what_is_not_in_sight_is_waited_for_and_then_scrolled_to() -> None:
    goal = chromium.button("Save")
    assert goal.act(look()) == Action.wait()
    assert goal.act(look(last=Action.wait())).dy > 0


def test_an_address_is_typed_over_the_one_that_is_shown() -> None:
    def bar(text: str) -> Node:
        return node("entry", "Address and search bar", text, "focused", y=100)

    goal = chromium.go_to(f"{HOST}/a", DONE)
    assert goal.act(look()) == Action.key("ctrl", "l")
    assert goal.act(look(bar=bar(HOST))) == Action.type(f"{HOST}/a\n")
    assert goal.act(look(bar=bar(""), typed=True)) == Action.type(f"{HOST}/a\n")
    assert goal.act(look(bar=bar(f"{HOST}/a"), typed=True)) == Action.key("enter")
    assert goal.act(look(bar=bar("xyz"), typed=True)) == Action.key("esc")
    assert goal.act(look(loading=True)) == Action.wait()


def test_a_page_that_is_to_stay_open_gets_a_tab_beside_it() -> None:
    goal = chromium.go_to(f"{HOST}/a", DONE, keep=f"http://{HOST}/first")
    assert goal.act(look(path="/first")) == Action.key("ctrl", "t")


def test_each_page_has_its_goals_and_unknown_pages_are_left() -> None:
    known = Goal(lambda view: False, lambda view: Action.type("here"))
    goal = chromium.on_pages(HOST, DONE, {"/a": [known]})
    assert goal.act(look(path="/a")) == Action.type("here")
    lost = look(path="/b")
    assert goal.act(lost) == lost.click(lost.widget("push button", "Back", app="Chromium"))
    assert goal.act(look(path="/b", loading=True)) == Action.wait()


@pytest.mark.x11
@pytest.mark.browser
def test_its_state_is_read_from_outside() -> None:
    app, url = load_app("chromium"), "file:///home/user/page.html"
    with SandboxDesktop() as desktop:
        WriteFile(path="page.html", text="<title>Notes</title>").apply(desktop)
        OpenPage(urls=(url,)).apply(desktop)
        assert app.state(desktop) == chromium.ChromiumState(url, ("Notes",))
        assert app.is_ready(View(desktop))
