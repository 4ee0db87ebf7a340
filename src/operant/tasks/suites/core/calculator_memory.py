"""Galculator with more than one number at a time: its memory, other number bases, and totals for a note."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from operant.apps.moves import Milestone, Milestones
from operant.apps.view import View
from operant.tasks.criteria import Accessible, AllOf, ClipboardEquals, Criterion, FileEquals
from operant.tasks.draw import Draw
from operant.tasks.oracle import Oracle
from operant.tasks.setup import Launch, SetupStep, WriteFile
from operant.tasks.suites.core.calculator import (
    MODULES,
    SIZE,
    Calculator,
    opened,
    scientific,
    shows,
    through_menu,
)
from operant.tasks.suites.core.keypad import Keypad, Press, chain, click, keys, operands, shown, text
from operant.tasks.template import Params, Template
from operant.types import Action, Difficulty, Node

__all__ = ["TEMPLATES"]

BESIDE_MENU = (1180, 800)  # leaves room for the menus of the memory buttons
COPY = Action.key("ctrl", "c")


def memory_used() -> Criterion:
    """Something is in the memory: only then can it be read."""
    return Accessible(app="galculator", role="toggle button", name="MR", state="sensitive")


class MemoryRecall(Calculator):
    id = "core/calculator-memory-recall-v1"
    skill = "click"
    family = "memory"
    difficulty = Difficulty.MEDIUM
    instructions = (
        "Store {a} in the calculator's memory with MS. Then subtract it from {b}, recalling it with MR.",
        "Save {a} with the calculator's MS button, enter {b}, and subtract the number that MR recalls.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        a, b = sorted(operands(draw, 2, 10, 999))
        return {"a": a, "b": b, "place": draw.place(*SIZE, BESIDE_MENU)}

    def success(self, p: Params) -> Criterion:
        return AllOf(of=(shows(str(p.b - p.a)), memory_used()))

    def oracle(self, p: Params) -> Oracle:
        a, b = str(p.a), str(p.b)
        steps = [text(a), store(a), text(b), keys("-", b), recall(a), keys("enter", str(p.b - p.a))]
        return Keypad(steps)


class MemoryTotal(Calculator):
    id = "core/calculator-memory-total-v1"
    skill = "click"
    family = "memory"
    difficulty = Difficulty.MEDIUM
    instructions = (
        "Add up {a}, {b} and {c} in the calculator's memory: MS for the first, M+ for the others; then "
        "recall "
        "the total with MR.",
        "Put {a} into the calculator's memory, add {b} and {c} to it with M+, and show with MR what is in "
        "it.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        a, b, c = operands(draw, 3, 10, 99)
        return {"a": a, "b": b, "c": c, "place": draw.place(*SIZE, BESIDE_MENU)}

    def success(self, p: Params) -> Criterion:
        return AllOf(of=(shows(str(p.a + p.b + p.c)), memory_used()))

    def oracle(self, p: Params) -> Oracle:
        a, b, c = str(p.a), str(p.b), str(p.c)
        total = str(p.a + p.b + p.c)
        return Keypad([text(a), store(a), text(b), add(b), click("C", "0"), text(c), add(c), recall(total)])


class HexToClipboard(Calculator):
    id = "core/calculator-hexadecimal-v1"
    skill = "menu"
    family = "modes"
    difficulty = Difficulty.MEDIUM
    instructions = (
        "Convert {number} to hexadecimal with the calculator (scientific mode, then Number bases) and "
        "copy the "
        "result to the clipboard.",
        "In the calculator's scientific mode, enter {number}, switch the number base to hexadecimal and copy "
        "what is shown.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        while True:  # letters prove that the base was changed: no other base has keys for them
            number = operands(draw, 1, 100, 9999)[0]
            if not f"{number:X}".isdecimal():
                return {"number": number, "place": draw.place(*SIZE, (840, 800))}

    def success(self, p: Params) -> Criterion:
        return AllOf(of=(ClipboardEquals(text=f"{p.number:X}"), shows(f"{p.number:X}\n {MODULES}")))

    def oracle(self, p: Params) -> Oracle:
        number, wanted = str(p.number), f"{p.number:X}"

        def entered(view: View) -> bool:
            return scientific(view) and shown(view) == number

        def in_hexadecimal(view: View) -> bool:
            return scientific(view) and shown(view) == wanted

        return Milestones(
            [
                Milestone("mode", scientific, through_menu("View", "Scientific Mode")),
                Milestone("number", entered, Keypad([text(number)]).act),
                Milestone("base", in_hexadecimal, through_menu("Calculator", "Number bases", "Hexadecimal")),
                Milestone(
                    "copied",
                    lambda view: in_hexadecimal(view) and view.clipboard() == wanted,
                    lambda view: COPY,
                ),
            ]
        )


class MemoryBill(Calculator):
    id = "core/calculator-memory-bill-v1"
    skill = "copy"
    family = "memory"
    difficulty = Difficulty.HARD
    unseen = True
    instructions = (
        "Compute {rows} one by one with the calculator, collect the results in its memory (MS for the "
        "first, M+ "
        "for the others), recall the total with MR and copy it to the clipboard.",
        "Collect {rows} in the calculator's memory with MS and M+, then recall the sum and copy it.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        pairs = [operands(draw, 2) for _ in range(4)]
        rows = [f"{a}*{b}" for a, b in pairs]
        listed = f"{', '.join(rows[:3])} and {rows[3]}"
        results = [a * b for a, b in pairs]
        return {"rows": listed, "each": rows, "results": results, "place": draw.place(*SIZE, BESIDE_MENU)}

    def success(self, p: Params) -> Criterion:
        total = str(sum(p.results))
        return AllOf(of=(shows(total), ClipboardEquals(text=total), memory_used()))

    def oracle(self, p: Params) -> Oracle:
        steps: list[Press] = []
        for index, (row, result) in enumerate(zip(p.each, map(str, p.results), strict=True)):
            steps += [text(row), click("=", result), add(result) if index else store(result)]
        total = str(sum(p.results))
        return Keypad([*steps, recall(total), keys("ctrl+c", total)])


class TotalOfNote(Calculator):
    id = "core/calculator-total-of-note-v1"
    apps = ("galculator", "mousepad")
    skill = "copy"
    family = "clipboard"
    difficulty = Difficulty.HARD
    instructions = (
        "Add up the three amounts in the note {file} with the calculator, paste the sum at the very end "
        "of the "
        "note, and save it.",
        "The note {file} wants a sum of its amounts: compute it with the calculator, copy it to the end "
        "of the "
        "note, and save.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        amounts = operands(draw, 3, 100, 999, alone=True)
        things = draw.words(3, "products")
        file = draw.file_name()
        lines = [f"{thing}: {amount}" for thing, amount in zip(things, amounts, strict=True)]
        x, y, width, height = draw.place(*SIZE, (540, 800))
        return {
            "file": file,
            "amounts": [str(amount) for amount in amounts],
            "sum": str(sum(amounts)),
            "note": "\n".join([*lines, "Sum: "]),
            "place": (x + 730, y, width, height),
            "note_place": draw.place(480, 300, (700, 800)),
        }

    def setup(self, p: Params) -> Sequence[SetupStep]:
        note = [WriteFile(path=p.file, text=p.note), Launch(command=["mousepad", p.file], place=p.note_place)]
        return [*note, *opened(p)]

    def success(self, p: Params) -> Criterion:
        return FileEquals(path=p.file, text=p.note + p.sum)

    def oracle(self, p: Params) -> Oracle:
        totals = [str(int(p.amounts[0]) + int(p.amounts[1])), p.sum]
        compute = Keypad(chain(p.amounts, "+", totals, clicked=True), COPY)

        def note(view: View) -> Node | None:
            return view.widget("text", app="mousepad")

        def paste(view: View) -> Action:
            editor = note(view)
            if editor is None or "focused" not in editor.states:
                return view.click(editor)
            if editor.text != p.note:
                return Action.key("ctrl", "z")
            to_end = Action.key("ctrl", "end")
            return Action.key("ctrl", "v") if view.last == to_end else to_end

        return Milestones(
            [
                Milestone("copied", lambda view: view.clipboard() == p.sum, compute.act),
                Milestone("pasted", lambda view: says(note(view), p.note + p.sum), paste),
                Milestone(
                    "saved",
                    lambda view: (view.read(p.file) or "").rstrip() == p.note + p.sum,
                    lambda view: Action.key("ctrl", "s"),
                ),
            ]
        )


def says(widget: Node | None, wanted: str) -> bool:
    return widget is not None and widget.text == wanted


def store(number: str) -> Press:
    return Press("choose", "MS", number)


def add(number: str) -> Press:
    return Press("choose", "M+", number)


def recall(number: str) -> Press:
    return Press("choose", "MR", number)


TEMPLATES: tuple[type[Template], ...] = (
    MemoryRecall,
    MemoryTotal,
    HexToClipboard,
    MemoryBill,
    TotalOfNote,
)
