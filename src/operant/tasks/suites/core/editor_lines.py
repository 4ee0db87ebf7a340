"""Mousepad, lines: append, delete, copy, find, move, indent and sort them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from operant.apps.moves import SELECT_ALL
from operant.apps.view import View
from operant.tasks.criteria import AllOf, Answer, ClipboardEquals, Criterion
from operant.tasks.draw import Draw
from operant.tasks.oracle import Oracle
from operant.tasks.suites.core.editor_desk import (
    BOTTOM,
    COPY,
    PATIENT,
    UNDO,
    Edit,
    Editor,
    bystanders,
    dialog,
    edit_and_save,
    errands,
    file_names,
    files_say,
    grounded,
    joined,
    kept_in,
    menu_is_open,
    menu_on_line,
    menu_on_selection,
    moved_up,
    on_line,
    page,
    replaced_word,
    selection,
    surroundings,
    text_of,
    typed,
    unchanged,
    whole_line,
    without_line,
)
from operant.tasks.template import Params, Template
from operant.types import Action, ActionKind, Difficulty

__all__ = ["TEMPLATES"]

LINE_UP = ("Edit", "Move", "Line Up")
MARK_LINE = Action.key("shift", "down")


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

    def success(self, p: Params) -> Criterion:
        return files_say(p.files, {p.file: p.files[p.file] + p.line})

    def oracle(self, p: Params) -> Oracle:
        before = p.files[p.file]
        return edit_and_save(p.file, [typed(before, before + p.line, BOTTOM, p.line)])


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

    def success(self, p: Params) -> Criterion:
        return files_say(p.files, {p.file: without_line(p.files[p.file], p.index)})

    def oracle(self, p: Params) -> Oracle:
        text = p.files[p.file]
        delete = menu_on_line(text, without_line(text, p.index), p.index, "Edit", "Delete Line")
        return edit_and_save(p.file, [delete])


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

    def success(self, p: Params) -> Criterion:
        return AllOf(of=(ClipboardEquals(text=p.line), *unchanged(p.files)))

    def oracle(self, p: Params) -> Oracle:
        return CopyingLine(p.files[p.file], p.line)


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

    def success(self, p: Params) -> Criterion:
        return AllOf(of=(Answer(text=str(p.number), numeric=True), *unchanged(p.files)))

    def oracle(self, p: Params) -> Oracle:
        return Finding(p.word, str(p.number))


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

    def success(self, p: Params) -> Criterion:
        return files_say(p.files, {p.file: self._edits(p)[-1].after})

    def oracle(self, p: Params) -> Oracle:
        return edit_and_save(p.file, self._edits(p))

    def _edits(self, p: Params) -> list[Edit]:
        edits: list[Edit] = []
        text = p.files[p.file]
        for line in range(p.index, p.index - p.count, -1):
            edits.append(menu_on_line(text, moved_up(text, line), line, *LINE_UP))
            text = edits[-1].after
        return edits


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

    def success(self, p: Params) -> Criterion:
        return files_say(p.files, {p.file: self._edits(p)[-1].after})

    def oracle(self, p: Params) -> Oracle:
        return edit_and_save(p.file, self._edits(p))

    def _edits(self, p: Params) -> list[Edit]:
        first = line_replaced(p.files[p.file], p.first, p.one)
        return [first, line_replaced(first.after, p.second, p.two)]


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

    def success(self, p: Params) -> Criterion:
        return files_say(p.files, {p.file: self._edits(p)[-1].after})

    def oracle(self, p: Params) -> Oracle:
        return edit_and_save(p.file, self._edits(p))

    def _edits(self, p: Params) -> list[Edit]:
        edits: list[Edit] = []
        text = p.files[p.file]
        for line in p.chosen:
            lines = text.split("\n")
            lines[line] = "\t" + lines[line]
            edits.append(on_line(text, "\n".join(lines), line, Action.key("ctrl", "i")))
            text = edits[-1].after
        return edits


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

    def success(self, p: Params) -> Criterion:
        return files_say(p.files, {p.file: joined(sorted(p.files[p.file].splitlines()))})

    def oracle(self, p: Params) -> Oracle:
        return Sorting(p.file, p.files[p.file])


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

    def success(self, p: Params) -> Criterion:
        return files_say(p.files, {p.file: self._edits(p)[-1].after})

    def oracle(self, p: Params) -> Oracle:
        return edit_and_save(p.file, self._edits(p))

    def _edits(self, p: Params) -> list[Edit]:
        text = p.files[p.file]
        heading = text.split("\n")[0]
        raised = text.replace(heading, heading.upper(), 1)
        upper = ("Edit", "Convert", "To Uppercase")
        edits = [
            menu_on_selection(text, raised, whole_line(text, heading), heading, *upper),
            menu_on_line(raised, without_line(raised, 4), 4, "Edit", "Delete Line"),
        ]
        text = edits[-1].after
        edits.append(menu_on_line(text, moved_up(text, 2), 2, *LINE_UP))
        edits.append(replaced_word(edits[-1].after, p.old, p.new))
        text = edits[-1].after
        return [*edits, typed(text, text + p.line, BOTTOM, p.line)]


# Oracles.


@dataclass(frozen=True)
class CopyingLine:
    """Mark a line and copy it."""

    text: str
    line: str

    def act(self, view: View) -> Action:
        if view.clipboard() == self.line:
            return Action.done()
        if (there := grounded(view)) is not None:
            return there
        if text_of(view) != self.text:
            return UNDO
        return COPY if selection(view) == self.line else whole_line(self.text, self.line)(view)


@dataclass(frozen=True)
class Finding:
    """Search for a word; where it was found says the status bar."""

    word: str
    answer: str

    def act(self, view: View) -> Action:
        if selection(view) == self.word:
            return Action(ActionKind.ANSWER, text=self.answer)
        search = Action.type(self.word + "\n")
        if self._in_search_bar(view):
            return Action.wait() if view.last == search else search
        return grounded(view) or Action.key("ctrl", "f")

    def _in_search_bar(self, view: View) -> bool:
        """The bar itself is not accessible, but it takes the focus from the text."""
        shown = page(view)
        elsewhere = shown is not None and "focused" not in shown.states
        return elsewhere and dialog(view) is None and not menu_is_open(view)


@dataclass(frozen=True)
class Sorting:
    """Move the first line that comes too late one line up, until none does."""

    file: str
    start: str

    def act(self, view: View) -> Action:
        text = text_of(view)
        if text is None:
            return Action.wait()
        lines = text.splitlines()
        if sorted(lines) != sorted(self.start.splitlines()) or not text.endswith("\n"):
            return grounded(view) or UNDO
        late = next((index for index, (a, b) in enumerate(pairwise(lines), 1) if a > b), None)
        if late is None:
            return kept_in(self.file, text)(view) or Action.done()
        return grounded(view, menu=True) or menu_on_line(text, "", late, *LINE_UP).act(view)


def disorder(lines: list[str]) -> int:
    """How many pairs stand in the wrong order: that many times a line has to move."""
    return sum(a > b for index, a in enumerate(lines) for b in lines[index + 1 :])


def line_replaced(text: str, number: int, new: str) -> Edit:
    """Go to a line by its number, mark it and type over it."""
    lines = text.split("\n")
    old = lines[number - 1]
    after = "\n".join([*lines[: number - 1], new, *lines[number:]])

    def act(view: View) -> Action:
        if dialog(view) == "Go To":
            return enter_line(view, str(number))
        if selection(view) == old + "\n":
            return Action.type(new + "\n")
        arrived = view.last is not None and (
            view.last.kind is ActionKind.WAIT or view.last == Action.type(f"{number}\n")
        )
        return MARK_LINE if arrived else Action.key("ctrl", "l")

    return Edit(text, after, act, dialog="Go To")


def enter_line(view: View, number: str) -> Action:
    """Type a line number into the dialog and confirm it; it takes the dialog a moment to go away."""
    entry = view.widget("spin button", state="focused") or view.widget("spin button")
    if entry is None or view.last == Action.type(number + "\n"):
        return Action.wait()
    if view.last == Action.wait():
        return PATIENT
    if entry.text == number and view.last == PATIENT:
        return view.click(view.widget("push button", "Jump to"))
    if "focused" not in entry.states:
        return view.click(view.widget("spin button"))
    if view.last not in (SELECT_ALL, Action.key("ctrl", "l")):
        return SELECT_ALL
    return Action.type(number + "\n")


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
