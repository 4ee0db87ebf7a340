"""Mousepad, documents: write notes, save them under names, open others, make new ones of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from operant.apps.view import View
from operant.tasks.criteria import Criterion
from operant.tasks.draw import Draw
from operant.tasks.oracle import Oracle
from operant.tasks.suites.core.editor_desk import (
    BOTTOM,
    CUT,
    NEW,
    PASTE,
    SAVE,
    TOP,
    UNDO,
    UNTITLED,
    Act,
    Chapter,
    Edit,
    Editing,
    Editor,
    bystanders,
    dialog,
    document,
    edit_and_save,
    errands,
    file_names,
    files_say,
    grounded,
    joined,
    kept_as,
    kept_in,
    replaced_word,
    save_as,
    selection,
    show_tab,
    spot,
    surroundings,
    tab,
    text_of,
    typed,
)
from operant.tasks.template import Params, Template
from operant.types import Action, Difficulty, Node

__all__ = ["TEMPLATES"]

FORM = "Dear NAME,\n\nyour ITEM are ready. Please come to\nCITY and pick them up.\n\nBest wishes\n"


class NewNote(Editor):
    id = "core/editor-new-note-v1"
    skill = "type"
    family = "notes"
    difficulty = Difficulty.EASY
    instructions = (
        'Write the note "{note}" in the text editor and save it as {file}.',
        'Type "{note}" into the empty document and save that under the name {file}.',
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        file, *others = file_names(draw, 3)
        note = f"{errands(draw, 1)[0]} in {draw.word('cities')}"
        files = bystanders(draw, others)
        return {"file": file, "note": note, "files": files, "open": [], **surroundings(draw)}

    def success(self, p: Params) -> Criterion:
        return files_say(p.files, {p.file: p.note})

    def oracle(self, p: Params) -> Oracle:
        write = Edit("", p.note, lambda view: Action.type(p.note))
        return Editing([Chapter([write], kept_as(p.file, p.note, SAVE))])


class SaveCopy(Editor):
    id = "core/editor-save-copy-v1"
    skill = "dialog"
    family = "notes"
    difficulty = Difficulty.EASY
    instructions = (
        "Save a copy of {file} as {copy}.",
        "{file} is open. Save it under the name {copy}, too.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        file, copy, other = file_names(draw, 3)
        files = {file: joined(errands(draw, 5)), **bystanders(draw, [other])}
        return {"file": file, "copy": copy, "files": files, "open": [file], **surroundings(draw)}

    def success(self, p: Params) -> Criterion:
        return files_say(p.files, {p.copy: p.files[p.file]})

    def oracle(self, p: Params) -> Oracle:
        return SavingCopy(p.files[p.file], p.copy)


class WriteList(Editor):
    id = "core/editor-write-list-v1"
    skill = "type"
    family = "notes"
    difficulty = Difficulty.MEDIUM
    instructions = (
        "Write a list of {a}, {b}, {c}, {d} and {e}, each on a line of its own, and save it as {file}.",
        "Make a list in the empty document: {a}, {b}, {c}, {d}, {e}. One word a line. Save it as {file}.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        file, *others = file_names(draw, 3)
        items = dict(zip("abcde", draw.words(5, "products"), strict=True))
        files = bystanders(draw, others)
        return {"file": file, **items, "files": files, "open": [], **surroundings(draw)}

    def success(self, p: Params) -> Criterion:
        return files_say(p.files, {p.file: joined(self._items(p))})

    def oracle(self, p: Params) -> Oracle:
        items = self._items(p)
        # The caret is where the text ends as long as the list only grows.
        edits = [
            Edit(joined(items[:index]), joined(items[: index + 1]), _typing(item))
            for index, item in enumerate(items)
        ]
        return Editing([Chapter(edits, kept_as(p.file, joined(items), SAVE))])

    def _items(self, p: Params) -> list[str]:
        return [p.a, p.b, p.c, p.d, p.e]


class OpenAndFrame(Editor):
    id = "core/editor-open-edit-v1"
    skill = "dialog"
    family = "notes"
    difficulty = Difficulty.MEDIUM
    instructions = (
        'Open {file} from the folder {folder}, put the line "{title}" at the top and "{end}" at the end, and '
        "save it.",
        'In the folder {folder} is {file}. Open it in the editor, make "{title}" its first line, add "{end}" '
        "below its last line, and save.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        shown, file, *others = file_names(draw, 4)
        folder = draw.word("topics")
        path = f"{folder}/{file}"
        files = {
            path: joined(errands(draw, 4)),
            **bystanders(draw, [shown, others[0], f"{folder}/{others[1]}"]),
        }
        title = f"{draw.word('topics')} in {draw.word('cities')}"
        end = f"signed {draw.word('names')} {draw.word('surnames')}"
        which = {"file": file, "folder": folder, "path": path, "title": title, "end": end}
        return {**which, "files": files, "open": [shown], **surroundings(draw)}

    def success(self, p: Params) -> Criterion:
        return files_say(p.files, {p.path: self._edits(p)[-1].after})

    def oracle(self, p: Params) -> Oracle:
        return OpenThen(p.folder, p.file, edit_and_save(p.path, self._edits(p)))

    def _edits(self, p: Params) -> list[Edit]:
        text = p.files[p.path]
        titled = f"{p.title}\n{text}"
        return [typed(text, titled, TOP, p.title + "\n"), typed(titled, titled + p.end, BOTTOM, p.end)]


class SplitOff(Editor):
    id = "core/editor-split-off-v1"
    skill = "drag"
    family = "notes"
    difficulty = Difficulty.MEDIUM
    instructions = (
        "Cut the lines from {first} to {last} out of {file} and save it, then paste them into a new document "
        "and save that as {part}.",
        "Move the lines about {first} up to those about {last} from {file} to a new file {part}. Save both.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        file, part, other = file_names(draw, 3)
        lines = errands(draw, 7)
        begin = draw.choice((1, 2, 3))
        end = begin + draw.choice((2, 3))
        files = {file: joined(lines), **bystanders(draw, [other])}
        which = {
            "first": lines[begin].split()[2],
            "last": lines[end - 1].split()[2],
            "begin": begin,
            "end": end,
        }
        return {"file": file, "part": part, **which, "files": files, "open": [file], **surroundings(draw)}

    def success(self, p: Params) -> Criterion:
        lines = p.files[p.file].splitlines()
        rest, block = joined(lines[: p.begin] + lines[p.end :]), joined(lines[p.begin : p.end])
        return files_say(p.files, {p.file: rest, p.part: block})

    def oracle(self, p: Params) -> Oracle:
        return Splitting(p.file, p.part, p.files[p.file], p.begin, p.end)


class TwoLetters(Editor):
    id = "core/editor-two-letters-v1"
    skill = "form"
    family = "letters"
    difficulty = Difficulty.HARD
    instructions = (
        "Make two letters out of {form}, which stays as it is. {one}: NAME is {name1}, ITEM is {item1}, CITY "
        "is {city1}. {two}: NAME is {name2}, ITEM is {item2}, CITY is {city2}. Save them under these names.",
        "Fill in {form} with {name1} for NAME, {item1} for ITEM and {city1} for CITY and save it as {one}. "
        "Then do the same with {name2}, {item2} and {city2} and save it as {two}. Do not change {form}.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        form, one, two = file_names(draw, 3)
        names, items, cities = draw.words(2, "names"), draw.words(2, "products"), draw.words(2, "cities")
        values: dict[str, Any] = {}
        for index, (name, item, city) in enumerate(zip(names, items, cities, strict=True), 1):
            values |= {f"name{index}": name, f"item{index}": item, f"city{index}": city}
        letters = {"form": form, "one": one, "two": two}
        return {**letters, **values, "files": {form: FORM}, "open": [form], **surroundings(draw)}

    def success(self, p: Params) -> Criterion:
        first, second = self._letters(p)
        return files_say(p.files, {p.one: first[-1].after, p.two: second[-1].after})

    def oracle(self, p: Params) -> Oracle:
        first, second = self._letters(p)
        return Editing(
            [
                Chapter(first, kept_as(p.one, first[-1].after)),
                Chapter(second, kept_as(p.two, second[-1].after)),
            ]
        )

    def _letters(self, p: Params) -> tuple[list[Edit], list[Edit]]:
        one, two = (p.name1, p.item1, p.city1), (p.name2, p.item2, p.city2)
        first = _replacements(FORM, ("NAME", "ITEM", "CITY"), one)
        return first, _replacements(first[-1].after, one, two)


def _typing(item: str) -> Act:
    return lambda view: Action.type(item + "\n")


def _replacements(text: str, old: Sequence[str], new: Sequence[str]) -> list[Edit]:
    edits: list[Edit] = []
    for before, after in zip(old, new, strict=True):
        edits.append(replaced_word(text, before, after))
        text = edits[-1].after
    return edits


# Oracles.


@dataclass(frozen=True)
class SavingCopy:
    text: str
    copy: str

    def act(self, view: View) -> Action:
        if text_of(view) not in (self.text, None):
            return grounded(view) or UNDO
        return kept_as(self.copy, self.text)(view) or Action.done()


@dataclass(frozen=True)
class OpenThen:
    """Open a file of a folder through the dialog, then go on with it."""

    folder: str
    file: str
    then: Oracle

    def act(self, view: View) -> Action:
        if document(view) == f"{self.folder}/{self.file}" and dialog(view) != "Open File":
            return self.then.act(view)
        if dialog(view) != "Open File":
            already = tab(view, self.file)
            return grounded(view) or (view.click(already) if already else Action.key("ctrl", "o"))
        for name in (self.file, self.folder):
            cell = view.widget("table cell", name)
            if cell is not None:
                return Action.wait() if view.last == _double(view, cell) else _double(view, cell)
        return Action.wait()


def _double(view: View, cell: Node) -> Action:
    x, y, _width, height = cell.box or (0, 0, 0, 0)
    return Action.click(view.point(x + 20, y + height / 2), clicks=2)


@dataclass(frozen=True)
class Splitting:
    """Cut a block of lines out of one document and make another one of it."""

    file: str
    part: str
    text: str
    begin: int
    end: int

    def act(self, view: View) -> Action:
        lines = self.text.splitlines()
        rest, block = joined(lines[: self.begin] + lines[self.end :]), joined(lines[self.begin : self.end])
        name, text = document(view), text_of(view)
        if dialog(view) is None and view.read(self.part) == block and view.read(self.file) == rest:
            return Action.done()
        if name == self.file:
            return self._at_source(view, text, rest, block)
        if text == block:
            return save_as(view, self.part, SAVE)
        if text == "":
            stocked = view.clipboard() == block and view.read(self.file) == rest
            return grounded(view) or (PASTE if stocked else show_tab(view, self.file))
        return grounded(view) or UNDO

    def _at_source(self, view: View, text: str | None, rest: str, block: str) -> Action:
        if (there := grounded(view)) is not None:
            return there
        if text == self.text:
            return self._cut(view, block)
        if text != rest or view.clipboard() != block:
            return UNDO
        if view.read(self.file) != rest:
            return kept_in(self.file, rest)(view) or SAVE
        return show_tab(view, UNTITLED) if tab(view, UNTITLED) else NEW

    def _cut(self, view: View, block: str) -> Action:
        marked = selection(view)
        if marked == block:
            return CUT
        start = self.text.index(block)
        ends = spot(view, self.text, start), spot(view, self.text, start + len(block))
        # A drag that begins on something marked would carry it away.
        return Action.click(spot(view, self.text, len(self.text))) if marked else Action.drag(*ends)


TEMPLATES: tuple[type[Template], ...] = (
    NewNote,
    SaveCopy,
    WriteList,
    OpenAndFrame,
    SplitOff,
    TwoLetters,
)
