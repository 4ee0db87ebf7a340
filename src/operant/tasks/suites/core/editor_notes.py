"""Mousepad, documents: write notes, save them under names, open others, make new ones of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from operant.apps.mousepad import document_goals, edits
from operant.apps.mousepad.edits import appended, filled_in, typed
from operant.apps.mousepad.text_view import SAVE, SAVE_AS, TOP
from operant.tasks.changes import Change, Disk
from operant.tasks.draw import Draw
from operant.tasks.suites.core.editor_changes import (
    Editor,
    bystanders,
    edited,
    errands,
    file_names,
    joined,
    saved_as,
    surroundings,
)
from operant.tasks.template import Params, Template
from operant.types import Difficulty

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

    def changes(self, p: Params) -> Sequence[Change]:
        return [saved_as(p.file, [appended("", p.note)], SAVE)]


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

    def changes(self, p: Params) -> Sequence[Change]:
        text = p.files[p.file]
        goal = edits.saved_as(p.copy, [], SAVE_AS, text)
        return [Change(goal, lambda disk: disk.write(p.copy, text))]


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

    def changes(self, p: Params) -> Sequence[Change]:
        items = [p.a, p.b, p.c, p.d, p.e]
        steps = [appended(joined(items[:index]), f"{item}\n") for index, item in enumerate(items)]
        return [saved_as(p.file, steps, SAVE)]


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

    def changes(self, p: Params) -> Sequence[Change]:
        title = typed(p.files[p.path], 0, p.title + "\n", TOP)
        opened = Change(document_goals.file_opened(p.folder, p.file))
        return [opened, edited(p.path, [title, appended(title.after, p.end)])]


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

    def changes(self, p: Params) -> Sequence[Change]:
        lines = p.files[p.file].splitlines()
        rest, block = joined(lines[: p.begin] + lines[p.end :]), joined(lines[p.begin : p.end])

        def effect(disk: Disk) -> None:
            disk.write(p.file, rest)
            disk.write(p.part, block)

        return [Change(document_goals.split_off(p.file, p.part, p.files[p.file], block), effect)]


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

    def changes(self, p: Params) -> Sequence[Change]:
        one, two = (p.name1, p.item1, p.city1), (p.name2, p.item2, p.city2)
        first = filled_in(FORM, list(zip(("NAME", "ITEM", "CITY"), one, strict=True)))
        second = filled_in(first[-1].after, list(zip(one, two, strict=True)))
        return [saved_as(p.one, first), saved_as(p.two, [*first, *second])]


TEMPLATES: tuple[type[Template], ...] = (
    NewNote,
    SaveCopy,
    WriteList,
    OpenAndFrame,
    SplitOff,
    TwoLetters,
)
