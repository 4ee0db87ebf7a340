"""Atril, the PDF viewer: go to pages, search, read, copy, save, and set up how documents are shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from operant.apps.moves import SELECT_ALL, Milestone, Milestones
from operant.apps.view import View
from operant.tasks.criteria import (
    Accessible,
    AllOf,
    Answer,
    Criterion,
    FileEquals,
    Not,
    Setting,
    WindowAbsent,
)
from operant.tasks.draw import Draw
from operant.tasks.oracle import Oracle
from operant.tasks.setup import Launch, SetupStep
from operant.tasks.suites.core import editor_desk as editor
from operant.tasks.suites.core.documents_desk import (
    CORNERS,
    PROGRAM,
    SAVE_DEFAULTS,
    VIEWS,
    Viewer,
    choose,
    default,
    entry_of,
    grounded,
    on_page,
    open_menu,
    opened,
    pdf,
    price_list,
    search_entry,
    to_page,
    to_word,
    uncovered,
    viewer_starting,
    with_word,
)
from operant.tasks.template import Params, Template
from operant.types import Action, ActionKind, Difficulty

__all__ = ["TEMPLATES"]


class GoToPage(Viewer):
    id = "core/documents-go-to-page-v1"
    skill = "navigate"
    family = "pages"
    difficulty = Difficulty.EASY
    instructions = ("Go to page {page} of {file}.", "Show me page {page} of the document {file}.")

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        file, other = editor.file_names(draw, 2, "pdf")
        count = draw.choice(range(8, 15))
        page = draw.choice(range(3, count + 1))
        files = {file: price_list(draw, count)[0], other: price_list(draw, 3)[0]}
        return {"file": file, "page": page, "count": count, "files": files, **opened(draw, file)}

    def success(self, p: Params) -> Criterion:
        return on_page(p.page, p.count)

    def oracle(self, p: Params) -> Oracle:
        return Milestones([to_page(p.page, p.count)])


class FindWord(Viewer):
    id = "core/documents-find-word-v1"
    skill = "search"
    family = "pages"
    difficulty = Difficulty.EASY
    instructions = (
        "Find the page of {file} that mentions {word} and show it.",
        "Search {file} for the word {word}, and stay on the page where it is.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        return with_word(draw)

    def success(self, p: Params) -> Criterion:
        return on_page(p.page, p.count)

    def oracle(self, p: Params) -> Oracle:
        return Milestones([to_word(p.word, p.page, p.count)])


class ReadPrice(Viewer):
    id = "core/documents-read-price-v1"
    skill = "read"
    family = "pages"
    difficulty = Difficulty.EASY
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

    def success(self, p: Params) -> Criterion:
        return Answer(text=str(p.price), numeric=True)

    def oracle(self, p: Params) -> Oracle:
        answer = Action(ActionKind.ANSWER, text=str(p.price))
        return Milestones([to_page(p.page, p.count)], finish=answer)


class SaveCopy(Viewer):
    id = "core/documents-save-copy-v1"
    skill = "dialog"
    family = "files"
    difficulty = Difficulty.EASY
    instructions = ("Save a copy of {file} as {copy}.", "{file} is open. Save it under the name {copy}, too.")

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        file, copy, other = editor.file_names(draw, 3, "pdf")
        files = {file: price_list(draw, 4)[0], other: price_list(draw, 3)[0]}
        return {"file": file, "copy": copy, "files": files, **opened(draw, file)}

    def success(self, p: Params) -> Criterion:
        return editor.files_say(p.files, {p.copy: p.files[p.file]})

    def oracle(self, p: Params) -> Oracle:
        return SavingCopy(p.copy, p.files[p.file])


class Prepare(Viewer):
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

    def success(self, p: Params) -> Criterion:
        wide = Accessible(app=PROGRAM, role="combo box", name="Fit Width")
        pane = Accessible(app=PROGRAM, role="toggle button", name="Thumbnails")
        searching = Accessible(app=PROGRAM, role="label", name="Find:")
        return AllOf(of=(on_page(p.page, p.count), wide, pane, Not(of=searching)))

    def oracle(self, p: Params) -> Oracle:
        return Preparing(to_word(p.word, p.page, p.count))


class ViewDefaults(Viewer):
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
        a, b, c = draw.sample(sorted(VIEWS), 3)
        files = {file: price_list(draw, 6)[0], other: price_list(draw, 3)[0]}
        return {"file": file, "a": a, "b": b, "c": c, "files": files, **opened(draw, file)}

    def success(self, p: Params) -> Criterion:
        wanted = (p.a, p.b, p.c)
        return AllOf(
            of=tuple(
                Setting(schema="org.mate.Atril.Default", key=key, equals=entry in wanted)
                for entry, key in VIEWS.items()
            )
        )

    def oracle(self, p: Params) -> Oracle:
        return SettingDefaults((p.a, p.b, p.c))


class OpenAnother(Viewer):
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

    def success(self, p: Params) -> Criterion:
        return AllOf(of=(WindowAbsent(title=p.shown), on_page(p.page, p.count, p.file)))

    def oracle(self, p: Params) -> Oracle:
        return Swapping(p.shown, p.folder, p.file, to_page(p.page, p.count))


class CollectTexts(Viewer):
    id = "core/documents-collect-texts-v1"
    apps: ClassVar[tuple[str, ...]] = (PROGRAM, editor.PROGRAM)
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
            Launch(command=[PROGRAM, name], place=corner)
            for name, corner in zip(p.files, corners, strict=True)
        ]
        return [*self.prepared(p), *viewers, Launch(command=[editor.PROGRAM], place=last)]

    def success(self, p: Params) -> Criterion:
        return FileEquals(path=p.note, text="\n".join(p.texts.values()))

    def oracle(self, p: Params) -> Oracle:
        return Collecting(p.texts, p.note)


# Oracles.


@dataclass(frozen=True)
class SavingCopy:
    copy: str
    content: str

    def act(self, view: View) -> Action:
        if view.window("Save As") is None:
            if view.read(self.copy) == self.content:
                return Action.done()
            return Action.wait() if view.last == editor.SAVE else (grounded(view) or editor.SAVE)
        if view.focused is None or not view.focused.title.startswith("Save As"):
            return Action.wait()  # it is there, but does not listen yet
        return editor.enter_name(view, self.copy, editor.SAVE)


@dataclass(frozen=True)
class Preparing:
    """Go to the word's page, close the search bar, and set up the looks."""

    search: Milestone

    def act(self, view: View) -> Action:
        if not self.search.reached(view):
            return self.search.act(view)
        if search_entry(view) is not None:
            return editor.ESCAPE
        if view.widget("combo box", "Fit Width") is None:
            return choose(view, "View", "Fit Width")
        if view.widget("toggle button", "Thumbnails") is None:
            return choose(view, "View", "Side Pane")
        return grounded(view) or Action.done()


@dataclass(frozen=True)
class SettingDefaults:
    """Make the View menu's checks right, then save them; only the open menu tells how they are."""

    wanted: Sequence[str]

    def act(self, view: View) -> Action:
        if all(default(view, key) == (entry in self.wanted) for entry, key in VIEWS.items()):
            return editor.ESCAPE if open_menu(view) else Action.done()
        if open_menu(view) == "Edit":
            return choose(view, "Edit", SAVE_DEFAULTS)
        if open_menu(view) != "View":
            return view.click(view.widget("menu", "View"))
        for entry in VIEWS:
            found = entry_of(view, entry)
            if found is not None and ("checked" in found.states) != (entry in self.wanted):
                return view.click(found)
        return view.click(view.widget("menu", "Edit"))


@dataclass(frozen=True)
class Swapping:
    """Open another document, go to a page of it, and close the first one."""

    shown: str
    folder: str
    file: str
    page: Milestone

    def act(self, view: View) -> Action:
        focused = view.focused
        if view.window("Open Document") is not None:
            return self._pick(view)
        if (new := view.window(self.file)) is None:
            if view.last is not None and view.last.clicks == 2:
                return Action.wait()
            if view.last is not None and view.last.kind is ActionKind.WAIT and open_menu(view) is None:
                return Action.wait() if viewer_starting(view) else Action.key("ctrl", "o")
            return grounded(view) or Action.key("ctrl", "o")
        if focused is not None and focused.id == new.id:
            if not self.page.reached(view):
                return self.page.act(view)
            old = view.window(self.shown)
            return Action.done() if old is None else Action.click(uncovered(view, old))
        if focused is not None and focused.title == self.shown:
            return grounded(view) or Action.key("ctrl", "w")
        return Action.click(uncovered(view, new))

    def _pick(self, view: View) -> Action:
        for name in (self.file, self.folder):
            cell = view.widget("table cell", name)
            if cell is not None and cell.box is not None:
                x, y, _width, height = cell.box
                pick = Action.click(view.point(x + 20, y + height / 2), clicks=2)
                return Action.wait() if view.last == pick else pick
        return Action.wait()


@dataclass(frozen=True)
class Collecting:
    """Copy the texts of documents into the editor, one after another, and save that."""

    texts: Mapping[str, str]
    note: str

    def act(self, view: View) -> Action:
        written, everything = editor.text_of(view) or "", "\n".join(self.texts.values())
        if editor.dialog(view) is None and view.read(self.note) == everything:
            return Action.done()
        if written == everything:
            return editor.save_as(view, self.note, editor.SAVE)
        done = ""
        for name, text in self.texts.items():
            if written == done:
                return self._carry(view, name, text)
            done += text
            if written == done:
                return self._in_editor(view) or (
                    Action.key("enter") if view.last in (editor.PASTE, editor.BOTTOM) else editor.BOTTOM
                )
            done += "\n"
        return self._in_editor(view) or editor.UNDO

    def _carry(self, view: View, name: str, text: str) -> Action:
        if view.clipboard() == text:
            ready = view.last in (editor.BOTTOM, Action.key("enter"))
            return self._in_editor(view) or (editor.PASTE if ready else editor.BOTTOM)
        window, focused = view.window(name), view.focused
        if window is None:
            return Action.wait()
        if focused is None or focused.id != window.id:
            return Action.click(view.point(window.x + window.width / 2, window.y + window.height * 0.7))
        if view.last == SELECT_ALL:
            return editor.COPY
        return Action.wait() if view.last == editor.COPY else SELECT_ALL

    def _in_editor(self, view: View) -> Action | None:
        return editor.grounded(view)


TEMPLATES: tuple[type[Template], ...] = (
    GoToPage,
    FindWord,
    ReadPrice,
    SaveCopy,
    Prepare,
    ViewDefaults,
    OpenAnother,
    CollectTexts,
)
