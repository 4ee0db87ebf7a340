"""What the browser tasks share: a site in the desktop, a browser on it, and oracles that go by its pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from operant.apps.moves import SELECT_ALL, Milestone
from operant.apps.view import View
from operant.tasks.criteria import FileEquals
from operant.tasks.draw import Draw
from operant.tasks.setup import OpenPage, Run, SetupStep, WriteFile
from operant.tasks.suites.core.browser_pages import listed, stored
from operant.tasks.template import Params, Template
from operant.types import Action, ActionKind, Button, Node

__all__ = [
    "APP",
    "COPY",
    "HOST",
    "ORIGIN",
    "SITE",
    "BrowserTask",
    "Holds",
    "Pages",
    "choose",
    "copied",
    "fill",
    "found",
    "kept_form",
    "kept_list",
    "named",
    "once",
    "pasted",
    "path_of",
    "press",
    "shown",
    "tab",
    "tick",
    "visited",
]

APP = "Chromium"
HOST = "127.0.0.1:8000"
ORIGIN = f"http://{HOST}"
SITE = "/tmp/site"
SIZE = (1000, 660)
COPY, PASTE = Action.key("ctrl", "c"), Action.key("ctrl", "v")
DONE = Action.done()

Find = Callable[[View], Node | None]
Holds = Callable[[View], bool]


# Set-up and success.


class BrowserTask(Template):
    """A site of ``pages(p)`` runs in the desktop, and the browser shows ``start(p)``."""

    apps = ("chromium",)

    def place(self, draw: Draw) -> tuple[int, int, int, int]:
        return draw.place(*SIZE)

    def pages(self, p: Params) -> Mapping[str, str]:
        """path -> page, the first page at ``index``."""
        raise NotImplementedError

    def kept(self, p: Params) -> Mapping[str, str]:
        """More files of the site, which it does not show."""
        return {}

    def start(self, p: Params) -> tuple[str, ...]:
        """Paths of the pages that are open, each in a tab; the first one is shown."""
        return ("/",)

    def setup(self, p: Params) -> Sequence[SetupStep]:
        files = {f"pages/{path}.html": text for path, text in self.pages(p).items()} | dict(self.kept(p))
        program = Path(__file__).with_name("browser_site.py").read_text()
        return [
            WriteFile(path=f"{SITE}/site.py", text=program),
            *(WriteFile(path=f"{SITE}/{path}", text=text) for path, text in files.items()),
            Run(command=["python3", f"{SITE}/site.py", SITE]),
            OpenPage(urls=tuple(ORIGIN + path for path in self.start(p)), place=p.place),
        ]


def kept_form(name: str, fields: Mapping[str, str]) -> FileEquals:
    """That form was submitted, at last with exactly these values."""
    return FileEquals(path=f"{SITE}/forms/{name}.json", text=stored(fields))


def kept_list(name: str, rows: Sequence[Mapping[str, str]]) -> FileEquals:
    """That list of the site has exactly these entries."""
    return FileEquals(path=f"{SITE}/lists/{name}.jsonl", text=listed(rows))


def visited(view: View, path: str) -> bool:
    return path in (view.read(f"{SITE}/visits.txt") or "").split()


def found(criterion: FileEquals) -> Holds:
    """Whether the site has written down what a criterion asks for."""
    return lambda view: view.read(criterion.path) == criterion.text


# Looking at pages.


def document(view: View) -> Node | None:
    """The page that is shown; its frames and the browser's own parts are not it."""
    pages = [node for node in view.tree(APP).walk() if node.role == "document web" and node.url and node.box]
    return pages[0] if pages else None


def path_of(view: View) -> str | None:
    """Path of the page that is shown, if it is one of the site."""
    page = document(view)
    parts = urlsplit(page.url or "") if page else None
    return (parts.path or "/") if parts and parts.netloc == HOST else None


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

    def find(view: View) -> Node | None:
        nodes = shown(view, role, name)
        return nodes[0] if nodes else None

    return find


def tab(view: View, title: str) -> Node | None:
    """The tab of the page with that title; the browser may add remarks of its own."""
    return next((node for node in view.widgets("page tab", app=APP) if node.name.startswith(title)), None)


# Moves.


def once(view: View, action: Action) -> Action:
    """Do it, but give the browser time before doing the very same again."""
    return Action.wait() if view.last == action else action


def press(find: Find, reached: Holds = lambda view: False, name: str = "pressed") -> Milestone:
    """Click a widget of the page; scroll down if it is not in sight."""

    def act(view: View) -> Action:
        widget = find(view)
        return once(view, view.click(widget)) if widget else look_further(view)

    return Milestone(name, reached, act)


def look_further(view: View) -> Action:
    """Wait for something to appear; where that did not help, scroll down."""
    page = document(view)
    if page is None or view.last is None or view.last.kind not in (ActionKind.WAIT, ActionKind.SCROLL):
        return Action.wait()
    return Action.scroll(view.centre(page), dy=5)


def fill(label: str, text: str, role: str = "entry") -> Milestone:
    """Make a field say exactly this."""
    find = named(role, label)

    def act(view: View) -> Action:
        widget = find(view)
        if widget is None:
            return look_further(view)
        if "focused" not in widget.states:
            return once(view, view.click(widget))
        if view.last == Action.type(text):
            return Action.wait()
        return SELECT_ALL if widget.text and view.last != SELECT_ALL else Action.type(text)

    def says(view: View) -> bool:
        widget = find(view)
        return widget is not None and _plain(widget.text or "") == _plain(
            text, hidden=role == "password text"
        )

    return Milestone(f"{label} says {text}", says, act)


def _plain(text: str, hidden: bool = False) -> str:
    """What a field tells of its text: of a password, only how long it is."""
    return "\u2022" * len(text) if hidden else text.strip()


def tick(name: str, wanted: bool = True, role: str = "check box") -> Milestone:
    """Tick a box or a radio button, or take a tick away."""
    find = named(role, name)

    def is_so(view: View) -> bool:
        widget = find(view)
        return widget is not None and ("checked" in widget.states) == wanted

    return press(find, is_so, f"{name} is {'on' if wanted else 'off'}")


def choose(label: str, option: str) -> Milestone:
    """Choose from a drop-down list."""

    def act(view: View) -> Action:
        lists = [node for node in shown(view, "combo box") if node.name.startswith(f"{label}: ")]
        if not lists:
            return look_further(view)
        if "expanded" not in lists[0].states:
            return once(view, view.click(lists[0]))
        items = view.widgets("menu item", option, app=APP)
        return once(view, view.click(items[0])) if items else Action.wait()

    return Milestone(option, lambda view: bool(shown(view, "combo box", f"{label}: {option}")), act)


def copied(text: str, find: Find) -> Milestone:
    """Select a word of the page by a double click and copy it."""

    def act(view: View) -> Action:
        widget = find(view)
        if widget is None:
            return look_further(view)
        select = view.click(widget, clicks=2)
        return COPY if view.last == select else Action.wait() if view.last == COPY else select

    return Milestone(f"{text} is copied", lambda view: (view.clipboard() or "").strip() == text, act)


def pasted(label: str, text: str) -> Milestone:
    """Paste into a field, over what it says."""
    typed = fill(label, text)

    def act(view: View) -> Action:
        action = typed.act(view)
        if action.kind is ActionKind.TYPE:
            return once(view, PASTE)
        return Action.wait() if view.last == PASTE and action == SELECT_ALL else action

    return Milestone(f"{label} says {text}", typed.reached, act)


# Oracles.


@dataclass(frozen=True)
class Pages:
    """Knows for each page what is to be reached there, and heads for the first thing that is not.

    On a page that it does not know it goes back.
    """

    done: Holds
    pages: Mapping[str, Sequence[Milestone]]
    finish: Action = DONE

    def act(self, view: View) -> Action:
        if self.done(view):
            return self.finish
        path = path_of(view)
        if path is None or path not in self.pages:
            return go_back(view)
        for milestone in self.pages[path]:
            if not milestone.reached(view):
                return milestone.act(view)
        return Action.wait()


def go_back(view: View) -> Action:
    """Wait in case a page is being loaded, then press Back."""
    if view.last is None or view.last.kind is not ActionKind.WAIT:
        return Action.wait()
    button = view.widget("push button", "Back", app=APP, state="enabled")
    return view.click(button, button=Button.LEFT) if button else Action.wait()
