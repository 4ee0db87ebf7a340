"""Mousepad, lines: append, delete, copy, find, move, indent and sort them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from operant.apps.mousepad import document_goals
from operant.apps.mousepad.edits import (
    LINE_UP,
    TextEdit,
    appended,
    line_replaced,
    menu_on_line,
    menu_on_selection,
    moved_up,
    on_line,
    replaced_word,
    whole_line,
    without_line,
)
from operant.apps.mousepad.text_view import end_of_line
from operant.tasks.changes import Change, answered
from operant.tasks.criteria import ClipboardEquals
from operant.tasks.draw import Draw
from operant.tasks.suites.core.editor_changes import (
    Editor,
    bystanders,
    edited,
    errands,
    file_names,
    joined,
    surroundings,
)
from operant.tasks.template import Params, Template
from operant.types import Action, Difficulty

__all__ = ["TEMPLATES"]


class AppendLine(Editor):
    id = "core/editor-append-line-v1"
    skill = "type"
    family = "lines"
    difficulty = Difficulty.EASY
    instructions = (
        'Add the line "{line}" at the end of {file} and save it.',
        '{file} is open. Write "{line}" below the last line, and save the file.',
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        file, other = file_names(draw, 2)
        *lines, line = errands(draw, draw.choice((4, 5, 6, 7)))
        files = {file: joined(lines), **bystanders(draw, [other])}
        return {"file": file, "line": line, "files": files, "open": [file], **surroundings(draw)}

    def changes(self, p: Params) -> Sequence[Change]:
        return [edited(p.file, [appended(p.files[p.file], p.line)])]


class DeleteLine(Editor):
    id = "core/editor-delete-line-v1"
    skill = "menu"
    family = "lines"
    difficulty = Difficulty.EASY
    instructions = (
        "The {product} are done: delete their line from {file} and save it.",
        "Remove the whole line about {product} from {file}, then save the file.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        file, other = file_names(draw, 2)
        lines = errands(draw, draw.choice((5, 6, 7)))
        index = draw.choice(range(len(lines)))
        files = {file: joined(lines), **bystanders(draw, [other])}
        which = {"index": index, "product": lines[index].split()[2]}
        return {"file": file, **which, "files": files, "open": [file], **surroundings(draw)}

    def changes(self, p: Params) -> Sequence[Change]:
        text = p.files[p.file]
        delete = menu_on_line(text, without_line(text, p.index), p.index, "Edit", "Delete Line")
        return [edited(p.file, [delete])]


class CopyLine(Editor):
    id = "core/editor-copy-line-v1"
    skill = "copy"
    family = "lines"
    difficulty = Difficulty.EASY
    unseen = True
    instructions = (
        "Copy the line about {name} in {file} to the clipboard, just that line.",
        "Put the whole line of {file} that mentions {name} on the clipboard.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        file, other = file_names(draw, 2)
        lines = errands(draw, draw.choice((6, 7, 8)))
        line = draw.choice(lines)
        files = {file: joined(lines), **bystanders(draw, [other])}
        which = {"line": line, "name": line.split()[-1]}
        return {"file": file, **which, "files": files, "open": [file], **surroundings(draw)}

    def changes(self, p: Params) -> Sequence[Change]:
        goal = document_goals.line_copied(p.files[p.file], p.line)
        return [Change(goal, holds=[ClipboardEquals(text=p.line)])]


class FindLine(Editor):
    id = "core/editor-find-line-v1"
    skill = "search"
    family = "reading"
    difficulty = Difficulty.EASY
    instructions = (
        "On which line of {file} is the word {word}? Answer with the line number.",
        "Find the word {word} in {file} and report the number of its line.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        word, *others = draw.words(12, "nouns")
        count = draw.choice(range(40, 60))
        lines = [f"{draw.choice(others)} {number}" for number in range(100, 100 + count)]
        index = draw.choice(range(25, count - 1))
        lines[index] = f"{word} {100 + index}"
        file = f"{draw.word('adjectives')}-{draw.word('topics')}.txt"
        which = {"word": word, "number": index + 1}
        files = {file: joined(lines)}
        return {"file": file, **which, "files": files, "open": [file], **surroundings(draw), "status": True}

    def changes(self, p: Params) -> Sequence[Change]:
        return [Change(document_goals.found(p.word)), answered(str(p.number), numeric=True)]


class MoveLine(Editor):
    id = "core/editor-move-line-v1"
    skill = "menu"
    family = "lines"
    difficulty = Difficulty.MEDIUM
    instructions = (
        "{name} is more urgent: move the line about {name} in {file} {up} lines up and save it.",
        "In {file}, bring the line that mentions {name} up by {up} lines. Save the file.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        file, other = file_names(draw, 2)
        lines = errands(draw, draw.choice((6, 7)))
        up = draw.choice((2, 3))
        index = draw.choice(range(up, len(lines)))
        files = {file: joined(lines), **bystanders(draw, [other])}
        which = {
            "name": lines[index].split()[-1],
            "up": ("two", "three")[up - 2],
            "index": index,
            "count": up,
        }
        return {"file": file, **which, "files": files, "open": [file], **surroundings(draw)}

    def changes(self, p: Params) -> Sequence[Change]:
        steps: list[TextEdit] = []
        text = p.files[p.file]
        for line in range(p.index, p.index - p.count, -1):
            steps.append(menu_on_line(text, moved_up(text, line), line, *LINE_UP))
            text = steps[-1].after
        return [edited(p.file, steps)]


class FixLines(Editor):
    id = "core/editor-fix-lines-v1"
    skill = "dialog"
    family = "lines"
    difficulty = Difficulty.MEDIUM
    instructions = (
        'Two lines of {file} are wrong. Line {first} must be "{one}", and line {second} must be "{two}". '
        "Save it.",
        'In {file}, make line {first} say "{one}" and line {second} say "{two}", then save the file.',
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        file, other = file_names(draw, 2)
        nouns = draw.words(10, "nouns")
        count = draw.choice(range(30, 40))
        lines = [f"{draw.choice(nouns)} {number}" for number in range(200, 200 + count)]
        first, second = sorted(draw.sample(range(3, count), 2))
        one, two = errands(draw, 2)
        files = {file: joined(lines), **bystanders(draw, [other])}
        which = {"first": first, "second": second, "one": one, "two": two}
        return {"file": file, **which, "files": files, "open": [file], **surroundings(draw)}

    def changes(self, p: Params) -> Sequence[Change]:
        first = line_replaced(p.files[p.file], p.first, p.one)
        return [edited(p.file, [first, line_replaced(first.after, p.second, p.two)])]


class IndentLines(Editor):
    id = "core/editor-indent-lines-v1"
    skill = "keys"
    family = "lines"
    difficulty = Difficulty.MEDIUM
    instructions = (
        "Indent the lines about {a}, {b} and {c} in {file} by one tab each, and save it.",
        "In {file}, the lines that mention {a}, {b} and {c} belong one tab further right. Indent them, save.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        file, other = file_names(draw, 2)
        lines = errands(draw, 8)
        chosen = sorted(draw.sample(range(8), 3))
        a, b, c = (lines[index].split()[2] for index in chosen)
        files = {file: joined(lines), **bystanders(draw, [other])}
        which = {"a": a, "b": b, "c": c, "chosen": chosen}
        return {"file": file, **which, "files": files, "open": [file], **surroundings(draw)}

    def changes(self, p: Params) -> Sequence[Change]:
        steps: list[TextEdit] = []
        text = p.files[p.file]
        for line in p.chosen:
            start = end_of_line(text, line - 1) + 1 if line else 0
            indented = f"{text[:start]}\t{text[start:]}"
            steps.append(on_line(text, indented, line, Action.key("ctrl", "i")))
            text = indented
        return [edited(p.file, steps)]


class SortLines(Editor):
    id = "core/editor-sort-lines-v1"
    skill = "sort"
    family = "lines"
    difficulty = Difficulty.HARD
    instructions = (
        "Sort the lines of {file} alphabetically and save it. The first of them will be {first}.",
        "Put the list in {file} into the sequence from A to Z. It will begin with {first}. Save the file.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        file, other = file_names(draw, 2)
        lines = sorted(draw.words(5, "products"))
        first = lines[0]
        while not 4 <= disorder(lines) <= 6:
            lines = draw.sample(lines, 5)
        files = {file: joined(lines), **bystanders(draw, [other])}
        return {"file": file, "first": first, "files": files, "open": [file], **surroundings(draw)}

    def changes(self, p: Params) -> Sequence[Change]:
        text = p.files[p.file]
        wanted = joined(sorted(text.splitlines()))
        goal = document_goals.lines_sorted(p.file, text)
        return [Change(goal, lambda disk: disk.write(p.file, wanted))]


class TidyMinutes(Editor):
    id = "core/editor-tidy-list-v1"
    skill = "menu"
    family = "lines"
    difficulty = Difficulty.HARD
    instructions = (
        "Tidy up {file}: put the first line in capital letters, delete the line about {gone}, move the line "
        'about {urgent} one line up, change {old} to {new}, add the line "{line}" at the end, and save it.',
        "Work on {file}: the heading in the first line becomes capital letters; the line about {gone} goes "
        "away; the line about {urgent} moves up by one line; {old} becomes {new}; "
        'and "{line}" comes at the end as a line of its own. Save the file.',
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        file, other = file_names(draw, 2)
        *lines, line = errands(draw, 8)
        heading = f"{draw.word('topics')} in {draw.word('cities')}"
        # These lines do not touch: in whatever order the changes are made, the text is the same in the end.
        old = lines[5].split()[-1]
        new = draw.choice([name for name in draw.words(12, "names") if name not in joined([*lines, line])])
        files = {file: joined([heading, *lines]), **bystanders(draw, [other])}
        which = {
            "urgent": lines[1].split()[2],
            "gone": lines[3].split()[2],
            "old": old,
            "new": new,
            "line": line,
        }
        return {"file": file, **which, "files": files, "open": [file], **surroundings(draw)}

    def changes(self, p: Params) -> Sequence[Change]:
        text = p.files[p.file]
        heading = text.split("\n")[0]
        raised = text.replace(heading, heading.upper(), 1)
        upper = ("Edit", "Convert", "To Uppercase")
        shorter = without_line(raised, 4)
        sorted_ = moved_up(shorter, 2)
        steps = [
            menu_on_selection(text, raised, whole_line(text, heading), heading, *upper),
            menu_on_line(raised, shorter, 4, "Edit", "Delete Line"),
            menu_on_line(shorter, sorted_, 2, *LINE_UP),
            replaced_word(sorted_, p.old, p.new),
        ]
        return [edited(p.file, [*steps, appended(steps[-1].after, p.line)])]


def disorder(lines: list[str]) -> int:
    """How many pairs stand in the wrong order: that many times a line has to move."""
    return sum(a > b for index, a in enumerate(lines) for b in lines[index + 1 :])


TEMPLATES: tuple[type[Template], ...] = (
    AppendLine,
    DeleteLine,
    CopyLine,
    FindLine,
    MoveLine,
    FixLines,
    IndentLines,
    SortLines,
    TidyMinutes,
)
