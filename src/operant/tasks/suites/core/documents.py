"""Atril, the PDF viewer: go to pages, search, read, copy, save, and set up how documents are shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from operant.apps import atril
from operant.apps.mousepad import note_windows
from operant.tasks.changes import Change, Scope, answered
from operant.tasks.criteria import Accessible, Criterion, FileEquals, Not, Setting, WindowAbsent
from operant.tasks.draw import Draw
from operant.tasks.pdf import pdf
from operant.tasks.setup import Launch, SetupStep, WriteFile
from operant.tasks.suites.core import editor_changes as editor
from operant.tasks.suites.core.notes import pasted
from operant.tasks.template import Params, Template
from operant.types import Difficulty

__all__ = ["TEMPLATES"]

WINDOW = (740, 600)
#: Four windows side by side: x, y, width, height.
CORNERS = ((8, 30, 620, 340), (644, 30, 620, 340), (8, 424, 620, 340), (644, 424, 620, 340))


class DocumentViewer(Template):
    """The viewer shows ``p.open``, a whole page at a time; ``p.files`` lie in HOME."""

    apps: ClassVar[tuple[str, ...]] = ("atril",)
    family = "pages"
    difficulty = Difficulty.EASY
    sizing: ClassVar[str] = "fit-page"

    def setup(self, p: Params) -> Sequence[SetupStep]:
        return [*self.prepared(p), Launch(command=["atril", p.open], place=p.place)]

    def prepared(self, p: Params) -> list[SetupStep]:
        shown = (
            f"[org/mate/atril/default]\nsizing-mode='{self.sizing}'\ncontinuous=false\nshow-sidebar=false\n"
        )
        written = [WriteFile(path=path, text=text) for path, text in p.files.items()]
        return [*written, WriteFile(path=atril.KEYFILE, text=shown)]


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
    return Accessible(app="atril", role="label", name=f"({page} of {count})", window=window)


class GoToPage(DocumentViewer):
    id = "core/documents-go-to-page-v1"
    skill = "navigate"
    instructions = ("Go to page {page} of {file}.", "Show me page {page} of the document {file}.")

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        file, other = editor.file_names(draw, 2, "pdf")
        count = draw.choice(range(8, 15))
        page = draw.choice(range(3, count + 1))
        files = {file: price_list(draw, count)[0], other: price_list(draw, 3)[0]}
        return {"file": file, "page": page, "count": count, "files": files, **opened(draw, file)}

    def changes(self, p: Params) -> Sequence[Change]:
        return [Change(atril.page_shown(p.page, p.count), holds=[on_page(p.page, p.count)])]


class FindWord(DocumentViewer):
    id = "core/documents-find-word-v1"
    skill = "search"
    instructions = (
        "Find the page of {file} that mentions {word} and show it.",
        "Search {file} for the word {word}, and stay on the page where it is.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        return with_word(draw)

    def changes(self, p: Params) -> Sequence[Change]:
        return [Change(atril.word_found(p.word, p.page, p.count), holds=[on_page(p.page, p.count)])]


class ReadPriceInDocument(DocumentViewer):
    id = "core/documents-read-price-v1"
    skill = "read"
    unseen = True
    instructions = (
        "Which price is on page {page} of {file}? Answer with the number.",
        "Look at page {page} of {file} and report the price that it gives.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        (file,) = editor.file_names(draw, 1, "pdf")
        count = draw.choice(range(8, 15))
        page = draw.choice(range(3, count + 1))
        text, prices = price_list(draw, count)
        which = {"file": file, "page": page, "count": count, "price": prices[page - 1]}
        return {**which, "files": {file: text}, **opened(draw, file)}

    def changes(self, p: Params) -> Sequence[Change]:
        return [Change(atril.page_shown(p.page, p.count)), answered(str(p.price), numeric=True)]


class SaveDocumentCopy(DocumentViewer):
    id = "core/documents-save-copy-v1"
    skill = "dialog"
    family = "files"
    scope: ClassVar[Scope] = "files"
    instructions = ("Save a copy of {file} as {copy}.", "{file} is open. Save it under the name {copy}, too.")

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        file, copy, other = editor.file_names(draw, 3, "pdf")
        files = {file: price_list(draw, 4)[0], other: price_list(draw, 3)[0]}
        return {"file": file, "copy": copy, "files": files, **opened(draw, file)}

    def changes(self, p: Params) -> Sequence[Change]:
        content = p.files[p.file]
        goal = atril.copied_to(p.copy, content)
        return [Change(goal, effect=lambda disk: disk.write(p.copy, content))]


class Prepare(DocumentViewer):
    id = "core/documents-prepare-v1"
    skill = "menu"
    family = "looks"
    difficulty = Difficulty.MEDIUM
    instructions = (
        "Search {file} for {word}, close the search bar again on its page, fit the page to the width of the "
        "window, and show the side pane.",
        "Prepare {file} for reading: find the page with {word} and close the search bar, then turn on Fit "
        "Width and the side pane.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        return with_word(draw)

    def changes(self, p: Params) -> Sequence[Change]:
        searching = Accessible(app="atril", role="label", name="Find:")
        return [
            Change(atril.word_found(p.word, p.page, p.count), holds=[on_page(p.page, p.count)]),
            Change(atril.search_closed(), holds=[Not(of=searching)]),
            in_menu("Fit Width", "combo box", "Fit Width"),
            in_menu("Side Pane", "toggle button", "Thumbnails"),
            Change(atril.menus_closed()),
        ]


def in_menu(entry: str, role: str, name: str) -> Change:
    """An entry of the View menu is chosen; a widget shows it."""
    shown = Accessible(app="atril", role=role, name=name)
    return Change(atril.chosen("View", entry, role, name), holds=[shown])


class ViewDefaults(DocumentViewer):
    id = "core/documents-view-defaults-v1"
    skill = "menu"
    family = "looks"
    difficulty = Difficulty.MEDIUM
    unseen = True
    instructions = (
        "In the viewer that shows {file}, turn on {a}, {b} and {c} in the View menu, and save the current "
        "settings as default (Edit menu).",
        "I want documents such as {file} always with {a}, {b} and {c}: switch these on under View, then save "
        "the current settings as default under Edit.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        file, other = editor.file_names(draw, 2, "pdf")
        a, b, c = draw.sample(sorted(atril.VIEWS), 3)
        files = {file: price_list(draw, 6)[0], other: price_list(draw, 3)[0]}
        return {"file": file, "a": a, "b": b, "c": c, "files": files, **opened(draw, file)}

    def changes(self, p: Params) -> Sequence[Change]:
        wanted = (p.a, p.b, p.c)
        settings = [
            Setting(schema="org.mate.Atril.Default", key=key, equals=entry in wanted)
            for entry, key in atril.VIEWS.items()
        ]
        return [Change(atril.defaults_saved(wanted), holds=settings)]


class OpenAnother(DocumentViewer):
    id = "core/documents-open-another-v1"
    skill = "dialog"
    family = "files"
    difficulty = Difficulty.MEDIUM
    instructions = (
        "Open {file} from the folder {folder}, go to its page {page}, and close {shown}.",
        "Instead of {shown} I need page {page} of {file}, which is in the folder {folder}. Open it in the "
        "viewer, go to that page, and close the other document.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        shown, file, other = editor.file_names(draw, 3, "pdf")
        folder = draw.word("topics")
        count = draw.choice(range(6, 12))
        page = draw.choice(range(3, count + 1))
        files = {
            shown: price_list(draw, count)[0],
            f"{folder}/{file}": price_list(draw, count)[0],
            f"{folder}/{other}": price_list(draw, 4)[0],
        }
        which = {"shown": shown, "file": file, "folder": folder, "page": page, "count": count}
        return {**which, "files": files, **opened(draw, shown)}

    def changes(self, p: Params) -> Sequence[Change]:
        swapped = atril.swapped(p.shown, p.file, atril.page_shown(p.page, p.count))
        holds = [WindowAbsent(title=p.shown), on_page(p.page, p.count, p.file)]
        return [Change(atril.document_opened(p.folder, p.file)), Change(swapped, holds=holds)]


class CollectTexts(DocumentViewer):
    id = "core/documents-collect-texts-v1"
    apps = ("atril", "mousepad")
    skill = "copy"
    family = "files"
    difficulty = Difficulty.HARD
    sizing = "fit-width"
    instructions = (
        "Copy all of the text of {a}, then of {b}, then of {c} into the empty document of the text editor, "
        "each beginning on a new line, and save that as {note}.",
        "Bring the texts of three PDF documents together in a note: first {a}, then {b}, then {c}, without "
        "empty lines between them. Save it as {note}.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        a, b, c = editor.file_names(draw, 3, "pdf")
        note = f"{draw.word('names').lower()}.txt"
        errands = editor.errands(draw, 7)
        texts = {a: errands[:2], b: errands[2:4], c: errands[4:7]}
        names = {"a": a, "b": b, "c": c, "note": note, "texts": {k: "\n".join(v) for k, v in texts.items()}}
        files = {name: pdf([lines]) for name, lines in texts.items()}
        return {**names, "files": files, "corners": draw.sample(CORNERS, 4)}

    def setup(self, p: Params) -> Sequence[SetupStep]:
        *corners, last = p.corners
        viewers = [
            Launch(command=["atril", name], place=corner)
            for name, corner in zip(p.files, corners, strict=True)
        ]
        return [*self.prepared(p), *viewers, Launch(command=["mousepad"], place=last)]

    def changes(self, p: Params) -> Sequence[Change]:
        made, text = [], ""
        for name, piece in p.texts.items():
            made.append(pasted("Untitled", text, piece, atril.copy_all(name)))
            text += piece + "\n"
        whole = text.removesuffix("\n")
        goal = note_windows.saved_as("Untitled", p.note, whole)
        return [*made, Change(goal, holds=[FileEquals(path=p.note, text=whole)])]


TEMPLATES: tuple[type[Template], ...] = (
    GoToPage,
    FindWord,
    ReadPriceInDocument,
    SaveDocumentCopy,
    Prepare,
    ViewDefaults,
    OpenAnother,
    CollectTexts,
)
