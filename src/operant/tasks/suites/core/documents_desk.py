"""What the tasks of the PDF viewer share: documents, the set-up, and what an oracle sees and does.

Every document has a viewer process of its own, and of several processes of one name accessibility reads the
first only; so criteria ask about the viewer only where a single one is open in the end.
"""

from __future__ import annotations

import configparser
from collections.abc import Sequence
from typing import Any, ClassVar

from operant.apps.moves import SELECT_ALL, Milestone
from operant.apps.view import View
from operant.tasks.criteria import (
    Accessible,
    Criterion,
)
from operant.tasks.draw import Draw
from operant.tasks.setup import Launch, SetupStep, WriteFile
from operant.tasks.suites.core import editor_desk as editor
from operant.tasks.template import Params, Template
from operant.types import Action, Node, Point, Window

PROGRAM = "atril"
WINDOW = (740, 600)
FIND = Action.key("ctrl", "f")
GO_TO_PAGE = Action.key("ctrl", "l")
#: Four windows side by side: x, y, width, height.
CORNERS = ((8, 30, 620, 340), (644, 30, 620, 340), (8, 424, 620, 340), (644, 424, 620, 340))
#: Entry of the View menu -> key of the setting.
VIEWS = {
    "Dual": "dual-page",
    "Inverted Colors": "inverted-colors",
    "Continuous": "continuous",
    "Side Pane": "show-sidebar",
}
SAVE_DEFAULTS = "Save Current Settings as Default"


def pdf(pages: Sequence[Sequence[str]]) -> str:
    """A small PDF: each page some lines of large text."""
    kids = " ".join(f"{4 + 2 * index} 0 R" for index in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for index, lines in enumerate(pages):
        drawn = " ".join(f"({line}) Tj T*" for line in lines)
        content = f"BT /F1 20 Tf 30 TL 50 520 Td {drawn} ET"
        objects.append(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 420 595] "
            f"/Resources << /Font << /F1 3 0 R >> >> /Contents {5 + 2 * index} 0 R >>"
        )
        objects.append(f"<< /Length {len(content)} >>\nstream\n{content}\nendstream")
    return _file_of(objects)


def _file_of(objects: Sequence[str]) -> str:
    """The objects with the table that says where each begins."""
    text, places = "%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        places.append(len(text))
        text += f"{number} 0 obj\n{content}\nendobj\n"
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    size = len(objects) + 1
    return (
        f"{text}xref\n0 {size}\n0000000000 65535 f \n{table}"
        f"trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{len(text)}\n%%EOF\n"
    )


class Viewer(Template):
    """The viewer shows ``p.open``, a whole page at a time; ``p.files`` lie in HOME."""

    apps: ClassVar[tuple[str, ...]] = (PROGRAM,)
    sizing: ClassVar[str] = "fit-page"

    def setup(self, p: Params) -> Sequence[SetupStep]:
        return [*self.prepared(p), Launch(command=[PROGRAM, p.open], place=p.place)]

    def prepared(self, p: Params) -> list[SetupStep]:
        shown = (
            f"[org/mate/atril/default]\nsizing-mode='{self.sizing}'\ncontinuous=false\nshow-sidebar=false\n"
        )
        written = [WriteFile(path=path, text=text) for path, text in p.files.items()]
        return [*written, WriteFile(path=editor.KEYFILE, text=shown)]


def price_list(draw: Draw, count: int) -> tuple[str, list[int]]:
    """A document with one offer a page, and the prices."""
    prices = draw.numbers(count, 100, 999)
    nouns = draw.words(3, "products")
    pages = [
        [
            f"Offer for {draw.word('names')}",
            draw.choice(nouns),
            f"Price: {price}",
            f"Delivery: {draw.word('cities')}",
        ]
        for price in prices
    ]
    return pdf(pages), prices


def with_word(draw: Draw) -> dict[str, Any]:
    """A document one page of which mentions a word."""
    word, *others = draw.words(6, "nouns")
    file = f"{draw.word('adjectives')}-{draw.word('topics')}.pdf"
    count = draw.choice(range(8, 15))
    page = draw.choice(range(3, count + 1))
    pages = [
        [f"Part {number}", f"The {draw.choice(others)} of {draw.word('names')}", f"in {draw.word('cities')}"]
        for number in range(1, count + 1)
    ]
    pages[page - 1][1] = f"The {word} of {draw.word('names')}"
    which = {"file": file, "word": word, "page": page, "count": count}
    return {**which, "files": {file: pdf(pages)}, **opened(draw, file)}


def opened(draw: Draw, file: str) -> dict[str, Any]:
    return {"open": file, "place": draw.place(*WINDOW)}


def on_page(page: int, count: int, window: str | None = None) -> Criterion:
    """The label beside the page's number says what is shown, the entry only what was typed."""
    return Accessible(app=PROGRAM, role="label", name=f"({page} of {count})", window=window)


def shows_page(view: View, page: int, count: int) -> bool:
    return view.widget("label", f"({page} of {count})") is not None


def page_entry(view: View) -> Node | None:
    return view.widget("text", "page-label-entry")


def search_entry(view: View) -> Node | None:
    return next((entry for entry in view.widgets("text") if entry.name != "page-label-entry"), None)


def open_menu(view: View) -> str | None:
    return next((menu.name for menu in view.widgets("menu") if "selected" in menu.states), None)


def entry_of(view: View, name: str) -> Node | None:
    return view.widget("check menu item", name) or view.widget("menu item", name)


def choose(view: View, menu: str, entry: str) -> Action:
    """The next click on the way to an entry of a menu."""
    found = entry_of(view, entry) if open_menu(view) == menu else None
    return view.click(found or view.widget("menu", menu))


def default(view: View, key: str) -> bool:
    """What is stored of the settings that new documents get."""
    parser = configparser.ConfigParser(interpolation=None)
    parser.read_string(view.read(editor.KEYFILE) or "")
    return parser.get("org/mate/atril/default", key, fallback="false") == "true"


def grounded(view: View) -> Action | None:
    """Out of menus and dialogs; None when the focused window is a document's."""
    if page_entry(view) is None:
        # A window that has just come up says nothing yet.
        return Action.wait() if view.last != Action.wait() else editor.ESCAPE
    return editor.ESCAPE if open_menu(view) else None


def to_page(page: int, count: int) -> Milestone:
    """Type the page's number into its entry."""

    def act(view: View) -> Action:
        if (there := grounded(view)) is not None:
            return there
        entry = page_entry(view)
        if entry is None or "focused" not in entry.states or view.last not in (GO_TO_PAGE, SELECT_ALL):
            return GO_TO_PAGE
        return Action.type(f"{page}\n")

    return Milestone("page", lambda view: shows_page(view, page, count), act)


def to_word(word: str, page: int, count: int) -> Milestone:
    """Search for a word."""

    def act(view: View) -> Action:
        if (there := grounded(view)) is not None:
            return there
        entry = search_entry(view)
        if entry is None or "focused" not in entry.states:
            return FIND
        if entry.text == word:
            return Action.wait() if view.last == Action.type(word + "\n") else Action.key("enter")
        return SELECT_ALL if entry.text and view.last != SELECT_ALL else Action.type(word + "\n")

    return Milestone("word", lambda view: shows_page(view, page, count), act)


def viewer_starting(view: View) -> bool:
    """Whether a second viewer has been started whose window is not there yet."""
    return sum(process.name == PROGRAM for process in view.desktop.processes()) > 1


def uncovered(view: View, window: Window) -> Point:
    """A point of a window that no other one covers, preferably in its title bar."""
    above = view.windows[[one.id for one in view.windows].index(window.id) + 1 :]
    rows = [window.y - 10, *range(window.y + window.height - 20, window.y, -20)]
    for y in rows:
        for x in range(window.x + 40, window.x + window.width - 80, 20):
            if not any(_holds(other, x, y) for other in above):
                return view.point(x, y)
    return view.point(window.x + 40, window.y - 10)


def _holds(window: Window, x: int, y: int) -> bool:
    return (
        window.x - 4 <= x <= window.x + window.width + 4
        and window.y - 24 <= y <= window.y + window.height + 4
    )
