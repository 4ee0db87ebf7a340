"""Chromium: pages, their forms and links, tabs and the address bar.

Of a page, accessibility tells what is in sight. What it does not tell: the text of the find bar, and what is selected;
the primary selection says what was selected last.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from operant.apps.base import App
from operant.apps.moves import SELECT_ALL, Goal, once
from operant.apps.view import View
from operant.types import Action, ActionKind, Node

if TYPE_CHECKING:
    from operant.desktop.protocol import Desktop

__all__ = [
    "APP",
    "COPY",
    "Chromium",
    "ChromiumState",
    "Find",
    "Holds",
    "button",
    "carried",
    "choose",
    "copied",
    "fill",
    "find_text",
    "first_of",
    "follow",
    "go_to",
    "is_loaded",
    "location",
    "named",
    "on_pages",
    "pasted",
    "press",
    "shown",
    "tab",
    "tick",
    "to_tab",
]

COPY, PASTE, FIND = Action.key("ctrl", "c"), Action.key("ctrl", "v"), Action.key("ctrl", "f")
ADDRESS_BAR, NEW_TAB, ESCAPE = Action.key("ctrl", "l"), Action.key("ctrl", "t"), Action.key("esc")

FILL = "chromium.fill"
#: Addresses of pages that no tab can bookmark: a tab shows one until its first page, or if that was stopped.
EMPTY_PAGES = ("about:", "chrome:")

Find = Callable[[View], Node | None]
Holds = Callable[[View], bool]


@dataclass(frozen=True)
class ChromiumState:
    """The window that accessibility tells of."""

    url: str | None
    """The page that is shown."""
    tabs: tuple[str, ...]
    """The titles of its tabs."""


class Chromium(App):
    name = "chromium"
    title = "web browser"
    packages = ("chromium",)
    toolkit = "chromium"
    command = (
        "chromium", "--no-sandbox", "--test-type", "--disable-gpu", "--no-first-run", "--no-default-browser-check",
        "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-quic",
        "--force-renderer-accessibility", "--user-data-dir=/home/user/.chromium", "--disable-dev-shm-usage",
        "--password-store=basic", "--disable-features=Translate,MediaRouter,BackForwardCache",
    )  # fmt: skip
    wm_class = "Chromium"
    accessible_name = "Chromium"

    def home(self) -> Mapping[str, str | bytes]:
        """It offers neither to keep passwords nor to fill in forms, and adds no remarks on memory to names of tabs."""
        preferences = {
            "credentials_enable_service": False,
            "profile": {"password_manager_enabled": False},
            "autofill": {"profile_enabled": False, "credit_card_enabled": False},
        }
        local_state = {"browser": {"hovercard": {"memory_usage_enabled": False}}}
        return {
            ".chromium/Default/Preferences": json.dumps(preferences),
            ".chromium/Local State": json.dumps(local_state),
        }

    def is_ready(self, view: View) -> bool:
        return document(view) is not None

    def state(self, desktop: Desktop) -> ChromiumState:
        view = View(desktop)
        tabs = view.widgets("page tab", app=self.accessible_name)
        return ChromiumState(location(view), tuple(node.name for node in tabs))


APP = Chromium()


# Looking.


def is_loaded(tree: Node, url: str) -> bool:
    """Whether the browser's tree has the page of that address."""
    return any(node.url == url for node in tree.walk() if node.role == "document web")


def document(view: View) -> Node | None:
    """The page that is shown; its frames and the browser's own parts are not it."""
    pages = [node for node in APP.tree(view).walk() if node.role == "document web" and node.url and node.box]
    return pages[0] if pages else None


def location(view: View) -> str | None:
    """The address of the page that is shown."""
    page = document(view)
    return page.url if page else None


def loading(view: View) -> bool:
    """Whether a page is on its way: then the button that reloads it stops it."""
    return view.widget("push button", "Reload", app=APP.accessible_name) is None


def shown(view: View, role: str | None = None, name: str | None = None) -> list[Node]:
    """Widgets of the page whose middle is in sight."""
    page = document(view)
    if page is None or page.box is None:
        return []
    left, top, width, height = page.box
    nodes = []
    for node in page.walk():
        if node.box is None or role not in (None, node.role) or name not in (None, node.name):
            continue
        x, y = node.box[0] + node.box[2] / 2, node.box[1] + node.box[3] / 2
        if left <= x < left + width and top <= y < top + height:
            nodes.append(node)
    return nodes


def named(role: str, name: str) -> Find:
    """Finds a widget of the page by its role and name."""
    return lambda view: next(iter(shown(view, role, name)), None)


def tab(view: View, title: str) -> Node | None:
    """The tab of the page with that title; the browser may add remarks of its own."""
    tabs = view.widgets("page tab", app=APP.accessible_name)
    return next((node for node in tabs if node.name.startswith(title)), None)


def _selected(view: View) -> str:
    """What was selected last."""
    return (view.desktop.clipboard.get("primary") or "").strip()


# Moves on a page.


def press(find: Find, done: Holds = lambda view: False) -> Goal:
    """Click a widget of the page; scroll down if it is not in sight."""

    def act(view: View) -> Action:
        widget = find(view)
        return once(view, view.click(widget)) if widget else _look_further(view)

    return Goal(done, act)


def button(name: str) -> Goal:
    return _clicked(press(named("push button", name)), name, "button")


def _clicked(goal: Goal, name: str, role: str) -> Goal:
    click = Action.call("chromium.click", {"name": name, "role": role})
    return replace(goal, called=Goal(goal.done, lambda view: click))


def _filled(goal: Goal, field: str, value: str) -> Goal:
    """With the call that fills a field in. It is done again until the form is sent: fields may be out of sight."""
    fill_in = Action.call(FILL, {"field": field, "value": value})
    return replace(goal, called=Goal(lambda view: False, lambda view: fill_in))


def follow(name: str, done: Holds = lambda view: False) -> Goal:
    """Click a link."""
    return _clicked(press(named("link", name), done), name, "link")


def _look_further(view: View) -> Action:
    """Wait for something to appear; where that did not help, scroll down."""
    page = document(view)
    # What is out of sight is not in the tree, and so cannot be told from what is still on its way.
    if page is None or view.last is None or view.last.kind not in (ActionKind.WAIT, ActionKind.SCROLL):
        return Action.wait()
    return Action.scroll(view.centre(page), dy=5)


def fill(label: str, text: str, role: str = "entry") -> Goal:
    """Make a field say exactly this."""
    find, hidden = named(role, label), role == "password text"

    def act(view: View) -> Action:
        widget = find(view)
        if widget is None:
            return _look_further(view)
        if "focused" not in widget.states:
            return once(view, view.click(widget))
        # A password never becomes the primary selection.
        selected = view.last == SELECT_ALL if hidden else _selected(view) == (widget.text or "").strip()
        return once(view, Action.type(text)) if selected or not widget.text else SELECT_ALL

    def done(view: View) -> bool:
        widget = find(view)
        # Of a password, only its length is told.
        said = "\u2022" * len(text) if hidden else text.strip()
        return widget is not None and (widget.text or "").strip() == said

    return _filled(Goal(done, act), label, text)


def tick(name: str, wanted: bool = True, role: str = "check box") -> Goal:
    """Tick a box or a radio button, or take a tick away."""
    find = named(role, name)

    def done(view: View) -> bool:
        widget = find(view)
        return widget is not None and ("checked" in widget.states) == wanted

    return _filled(press(find, done), name, str(wanted).lower())


def choose(label: str, option: str) -> Goal:
    """Choose from a drop-down list."""

    def act(view: View) -> Action:
        lists = [node for node in shown(view, "combo box") if node.name.startswith(f"{label}: ")]
        if not lists:
            return _look_further(view)
        if "expanded" not in lists[0].states:
            return once(view, view.click(lists[0]))
        items = view.widgets("menu item", option, app=APP.accessible_name)
        return once(view, view.click(items[0])) if items else Action.wait()

    goal = Goal(lambda view: bool(shown(view, "combo box", f"{label}: {option}")), act)
    return _filled(goal, label, option)


def copied(text: str) -> Goal:
    """Select a word of the page by a double click and copy it."""
    find = named("static", text)

    def act(view: View) -> Action:
        widget = find(view)
        if widget is None:
            return _look_further(view)
        # What was selected last may be selected no longer: then copying it has no effect.
        return COPY if _selected(view) == text and view.last != COPY else view.click(widget, clicks=2)

    return Goal(lambda view: (view.clipboard() or "").strip() == text, act)


def pasted(label: str, text: str) -> Goal:
    """Paste into a field, over what it says."""
    typed = fill(label, text)

    def act(view: View) -> Action:
        action = typed.act(view)
        return once(view, PASTE) if action.kind is ActionKind.TYPE else action

    return _filled(Goal(typed.done, act), label, text)


def carried(label: str, text: str) -> Goal:
    """Copy a word of the page into a field of the same page."""
    copy, paste = copied(text), pasted(label, text)
    goal = Goal(paste.done, lambda view: (paste if copy.done(view) else copy).act(view))
    return _filled(goal, label, text)


def first_of(*goals: Goal) -> Callable[[View], Action]:
    """Work on the first goal that is not reached."""

    def act(view: View) -> Action:
        return next((goal.act(view) for goal in goals if not goal.done(view)), Action.wait())

    return act


def find_text(text: str) -> Goal:
    """Bring a text of a long page into sight by searching for it."""

    def act(view: View) -> Action:
        # Accessibility does not tell what the find bar says. Asked for again, it selects what it says.
        if view.last == FIND:
            return Action.type(text)
        return Action.wait() if view.last == Action.type(text) else FIND

    return Goal(lambda view: any(text in node.name for node in shown(view, "static")), act)


# Moves between pages.


def to_tab(view: View, title: str) -> Action:
    widget = tab(view, title)
    return once(view, view.click(widget)) if widget else Action.wait()


def go_to(address: str, done: Holds, keep: str | None = None) -> Goal:
    """Type an address into the address bar, in a new tab if the page of the address ``keep`` is to stay open."""

    def act(view: View) -> Action:
        if keep is not None and location(view) == keep:
            return once(view, NEW_TAB)
        bar = view.widget("entry", "Address and search bar", app=APP.accessible_name)
        if loading(view) or bar is None:
            return Action.wait()
        if "focused" not in bar.states:
            return ADDRESS_BAR
        # While it says something else than the page that is shown, that page cannot be bookmarked.
        bookmark = view.widget("push button", "Bookmark this tab", app=APP.accessible_name)
        if bookmark is not None or not bar.text or bar.text.startswith(EMPTY_PAGES):
            return Action.type(f"{address}\n")
        return Action.key("enter") if bar.text == address else ESCAPE

    call = Action.call("chromium.navigate" if keep is None else "chromium.open_tab", {"url": address})
    return Goal(done, act, Goal(done, lambda view: call))


def on_pages(host: str, done: Holds, pages: Mapping[str, Sequence[Goal]]) -> Goal:
    """Work through the goals of whichever page of a site is shown, by its path; go back from an unknown one."""

    def shown_page(view: View) -> str:
        parts = urlsplit(location(view) or "")
        return (parts.path or "/") if parts.netloc == host else ""

    def act(view: View) -> Action:
        path = shown_page(view)
        return first_of(*pages[path])(view) if path in pages else _go_back(view)

    by_calls = {path: [goal.called for goal in goals if goal.called] for path, goals in pages.items()}

    def call(view: View) -> Action:
        path = shown_page(view)
        return _at_once(by_calls[path], view) if path in by_calls else Action.call("chromium.back")

    callable_ = all(len(by_calls[path]) == len(goals) for path, goals in pages.items())
    return Goal(done, act, Goal(done, call) if callable_ else None)


def _at_once(goals: Sequence[Goal], view: View) -> Action:
    """The first of these calls; fields that follow one another are filled in by one, with the button after them."""
    calls = [goal.act(view) for goal in goals if not goal.done(view)]
    if not calls or calls[0].function != FILL:
        return calls[0] if calls else Action.wait()
    values: dict[str, str] = {}
    submit = ""
    for one in calls:
        given = dict(one.kwargs)
        if one.function != FILL:
            submit = str(given["name"]) if given.get("role") == "button" else ""
            break
        values[str(given["field"])] = str(given["value"])
    return Action.call("chromium.fill_form", {"values": values, "submit": submit})


def _go_back(view: View) -> Action:
    back = view.widget("push button", "Back", app=APP.accessible_name, state="enabled")
    return view.click(back) if back and not loading(view) else Action.wait()
