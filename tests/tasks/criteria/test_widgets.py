"""Widgets and web pages: what an application shows, and who else would like to show it."""

from __future__ import annotations

import pytest

from operant.errors import AccessibilityError, TaskError
from operant.tasks.criteria import Accessible, Not, Url
from operant.types import Action, Node, Process, Window

SHOWN = frozenset({"showing", "visible"})


# accessible


@pytest.mark.x11
def test_the_display_of_the_calculator(desktop, ask, eventually):
    assert not ask(Accessible(app="galculator", role="text", text="36"))
    desktop.launch("galculator")
    assert not ask(Accessible(app="galculator", role="text", text="36"))
    desktop.perform(Action.type("12*3="))
    eventually(lambda: ask(Accessible(app="galculator", role="text", text="36")))
    verdict = ask(Accessible(app="galculator", role="text", text="37"))
    assert not verdict
    assert "'36'" in verdict.why
    assert ask(Accessible(app="galculator", text="36", window="galculator"))
    assert not ask(Accessible(app="galculator", text="36", window="Preferences"))
    assert not ask(Accessible(app="galculator", role="push button", text="36"))


@pytest.mark.x11
def test_the_same_text_in_another_application(desktop, ask):
    desktop.launch("galculator")
    desktop.launch("mousepad")
    desktop.perform(Action.type("36"))
    assert ask(Accessible(app="mousepad", role="text", text="36"))
    assert not ask(Accessible(app="galculator", role="text", text="36"))


@pytest.mark.x11
@pytest.mark.parametrize("with_the_real_one", [False, True])
def test_another_application_under_the_name_of_the_first(desktop, ask, with_the_real_one):
    desktop.launch(["bash", "-c", "exec -a galculator mousepad --class=Galculator --name=galculator"])
    desktop.perform(Action.type("36"))
    tree = desktop.accessibility(app="galculator")
    assert any(node.text == "36" for node in tree.walk()), "the impostor is on the bus under that name"
    if with_the_real_one:
        desktop.perform(Action.key("alt", "F10"))
        desktop.launch("galculator")
    assert not ask(Accessible(app="galculator", role="text", text="36"))


@pytest.mark.x11
def test_a_menu_that_is_not_open_is_not_shown(desktop, ask, eventually):
    desktop.launch("mousepad")
    assert not ask(Accessible(app="mousepad", role="menu item", name="Save As..."))
    desktop.perform(Action.key("alt", "f"))
    eventually(lambda: ask(Accessible(app="mousepad", role="menu item", name="Save As...")))


@pytest.mark.x11
def test_states_of_widgets(desktop, ask, eventually):
    desktop.launch("mousepad")
    assert ask(Accessible(app="mousepad", role="text", state="focused"))
    assert not ask(Accessible(app="mousepad", role="text", without_state="focused"))
    desktop.launch("galculator")
    eventually(lambda: ask(Accessible(app="mousepad", role="text", without_state="focused")))


@pytest.mark.x11
def test_an_application_that_hangs_holds_nobody_up(desktop, ask, shell, monkeypatch):
    monkeypatch.setattr("operant.tasks.criteria.widgets.READ_S", 0.3)
    desktop.launch("mousepad")
    desktop.perform(Action.type("36"))
    shell("kill -STOP $(pidof mousepad)")
    assert not ask(Accessible(app="mousepad", role="text", text="36"))
    assert not ask(Not(of=Accessible(app="mousepad", role="text", text="99")))


def calculator(*widgets: Node, x: int = 100, title: str = "galculator") -> tuple[Window, Node]:
    frame = Node("frame", title, SHOWN, (x - 1, 80, 302, 221), children=widgets)
    window = Window(1, title, "Galculator", 7, x, 100, 300, 200, True)
    return window, Node("application", "galculator", frozenset(), None, children=(frame,))


def test_a_widget_without_a_place_on_the_screen_is_not_shown(made_up):
    for box in (None, (2000, 0, 10, 10), (-50, 0, 20, 20)):
        window, tree = calculator(Node("text", "", SHOWN, box, text="36"))
        made_up.shown.clear()
        made_up.show(window, "galculator", tree)
        assert not made_up.ask(Accessible(app="galculator", text="36")), box


def test_values_of_widgets(made_up):
    window, tree = calculator(Node("slider", "Volume", SHOWN, (110, 110, 100, 20), value=40.0))
    made_up.show(window, "galculator", tree)
    assert made_up.ask(Accessible(app="galculator", role="slider", value=40))
    assert not made_up.ask(Accessible(app="galculator", role="slider", value=41))
    assert not made_up.ask(Accessible(app="galculator", role="slider", name="Brightness", value=40))


def test_a_tree_that_describes_no_window_of_the_program(made_up):
    window, tree = calculator(Node("text", "", SHOWN, (110, 110, 100, 20), text="36"))
    made_up.show(window, "python3.11", tree, app="galculator")
    assert not made_up.ask(Accessible(app="galculator", text="36")), "a script shows it"
    made_up.running.append(Process(8, 1, "galculator", ("galculator",)))
    assert not made_up.ask(Accessible(app="galculator", text="36")), (
        "the program runs, but shows something else"
    )
    window, _ = calculator(x=700)
    made_up.shown.append(Window(2, "galculator", "Galculator", 8, 700, 100, 300, 200, False))
    assert not made_up.ask(Accessible(app="galculator", text="36")), "its window is elsewhere"


def test_an_accessible_asks_something():
    with pytest.raises(TaskError):
        Accessible(app="galculator", state="focused")


# url


def browser(*pages: Node, typed: str = "", title: str = "Chromium") -> tuple[Window, Node]:
    bar = Node("entry", "Address and search bar", SHOWN, (10, 50, 500, 20), text=typed)
    frame = Node("frame", title, SHOWN, (10, 10, 1000, 700), children=(bar, *pages))
    window = Window(1, title, "Chromium", 7, 10, 10, 1000, 700, True)
    return window, Node("application", "Chromium", frozenset(), None, children=(frame,))


def page(url: str | None, *children: Node, name: str = "") -> Node:
    return Node("document web", name, SHOWN, (10, 100, 900, 500), url=url, children=children)


SITE = "http://127.0.0.1:8000/orders/new.html"


@pytest.mark.parametrize(
    ("wanted", "shown", "holds"),
    [
        (SITE, SITE, True),
        (SITE, SITE + "?from=start#top", True),
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000/", True),
        (SITE + "?id=7", SITE + "?id=7", True),
        (SITE + "?id=7", SITE, False),
        (SITE + "#end", SITE + "#top", False),
        (SITE, "http://127.0.0.1:8000/orders/", False),
        (SITE, SITE + "l", False),
        (SITE, "https://127.0.0.1:8000/orders/new.html", False),
        (SITE, "http://evil.test/?" + SITE, False),
        (SITE, "http://127.0.0.1:8000@evil.test/orders/new.html", False),
        (SITE, "data:text/html," + SITE, False),
        (SITE, "file:///home/user/orders/new.html", False),
        (SITE, "chrome-error://chromewebdata/", False),
        (SITE, "http://[broken", False),
    ],
)
def test_the_address_of_the_page(made_up, wanted, shown, holds):
    made_up.show(*_in_chromium(browser(page(shown))))
    assert made_up.ask(Url(url=wanted)).holds == holds


def _in_chromium(shown: tuple[Window, Node]) -> tuple[Window, str, Node, str]:
    return shown[0], "chromium", shown[1], "Chromium"


def test_an_exact_address(made_up):
    made_up.show(*_in_chromium(browser(page(SITE + "?a=1"))))
    assert not made_up.ask(Url(url=SITE, exact=True))
    assert made_up.ask(Url(url=SITE + "?a=1", exact=True))


@pytest.mark.parametrize(
    "shown",
    [
        browser(page("http://127.0.0.1:8000/"), typed=SITE),
        browser(
            page("data:text/html,<iframe>", Node("internal frame", "", SHOWN, None, children=(page(SITE),)))
        ),
        browser(Node("link", "x", SHOWN, (1, 1, 1, 1), url=SITE), page("http://127.0.0.1:8000/", name=SITE)),
        browser(page(SITE), title="view-source:127.0.0.1:8000/orders/new.html - Chromium"),
    ],
    ids=["typed but not loaded", "in a frame", "linked", "source"],
)
def test_an_address_that_is_not_that_of_the_shown_page(made_up, shown, monkeypatch):
    monkeypatch.setattr("operant.tasks.criteria.widgets.PAGE_S", 0.0)
    made_up.show(*_in_chromium(shown))
    assert not made_up.ask(Url(url=SITE))


def test_no_browser_no_page(made_up):
    assert not made_up.ask(Url(url=SITE))
    window, tree = browser(page(SITE))
    made_up.show(window, "python3.11", tree, app="Chromium")
    assert not made_up.ask(Url(url=SITE)), "a script that calls itself Chromium"


def test_a_browser_that_does_not_answer_is_neither_here_nor_there(made_up):
    def hang(**_: object) -> Node:
        raise AccessibilityError("Chromium did not answer in time")

    made_up.accessibility = hang
    assert not made_up.ask(Url(url=SITE))
    assert not made_up.ask(Not(of=Url(url=SITE)))


@pytest.mark.x11
def test_pages_of_a_real_browser(desktop, ask, eventually):
    desktop.files.write(
        "site/start.html", "<title>Start</title><a href=next.html>next</a><iframe src=inner.html>"
    )
    desktop.files.write("site/next.html", "<title>Next</title><p>next")
    desktop.files.write("site/inner.html", "<p>inner")
    base = "file:///home/user/site/"
    command = [
        "chromium",
        "--no-sandbox",
        "--no-first-run",
        "--force-renderer-accessibility",
        base + "start.html",
    ]
    desktop.launch(command, timeout_s=60)
    eventually(lambda: desktop.accessibility(app="Chromium", timeout_s=10).find("document web", "Start"))
    assert ask(Url(url=base + "start.html"))
    assert not ask(Url(url=base + "inner.html"))
    desktop.perform(Action.key("ctrl", "l"))
    desktop.perform(Action.type(base + "next.html"))
    assert not ask(Url(url=base + "next.html")), "typed but not loaded"
    desktop.perform(Action.key("enter"))
    eventually(lambda: ask(Url(url=base + "next.html")))
    assert not ask(Url(url=base + "start.html"))
