"""Galculator with more than one number at a time: its memory, other number bases, and totals for a note."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from operant.apps import galculator
from operant.apps.galculator import Press, choose, click, keys, text
from operant.apps.moves import Milestone, through
from operant.apps.view import View
from operant.tasks.changes import Change
from operant.tasks.criteria import Accessible, ClipboardEquals, Criterion
from operant.tasks.draw import Draw
from operant.tasks.setup import Launch, SetupStep, WriteFile
from operant.tasks.suites.core.calculator import (
    BESIDE,
    MODULES,
    CalculatorTask,
    operands,
    shown,
    shows,
    to_scientific,
)
from operant.tasks.suites.core.notes import pasted, saved
from operant.tasks.template import Params, Template
from operant.types import Action, Difficulty

__all__ = ["TEMPLATES"]

COPY = Action.key("ctrl", "c")
#: Something is in the memory: only then can it be read.
MEMORY_USED = Accessible(app="galculator", role="toggle button", name="MR", state="sensitive")


class Memory(CalculatorTask):
    skill = "click"
    family = "memory"
    difficulty = Difficulty.MEDIUM
    room = (1180, 800)  # beside the menus of the memory buttons

    def recalled(self, *presses: Press, also: Sequence[Criterion] = ()) -> Sequence[Change]:
        return [shown(*presses, also=[MEMORY_USED, *also])]


class MemoryRecall(Memory):
    id = "core/calculator-memory-recall-v1"
    gui_only = True
    instructions = (
        "Store {a} in the calculator's memory with MS. Then subtract it from {b}, recalling it with MR.",
        "Save {a} with the calculator's MS button, enter {b}, and subtract the number that MR recalls.",
    )

    def numbers(self, draw: Draw) -> Mapping[str, Any]:
        return dict(zip("ab", sorted(operands(draw, "ab", 10, 999).values()), strict=True))

    def changes(self, p: Params) -> Sequence[Change]:
        a, b, left = str(p.a), str(p.b), str(p.b - p.a)
        stored = [text(a), choose("MS", a)]
        return self.recalled(*stored, text(b), keys("-", b), choose("MR", a), keys("enter", left))


class MemoryTotal(Memory):
    id = "core/calculator-memory-total-v1"
    gui_only = True
    instructions = (
        "Add up {a}, {b} and {c} in the calculator's memory: MS for the first, M+ for the others; then recall "
        "the total with MR.",
        "Put {a} into the calculator's memory, add {b} and {c} to it with M+, and show with MR what is in it.",
    )

    def numbers(self, draw: Draw) -> Mapping[str, Any]:
        return operands(draw, "abc", 10, 99)

    def changes(self, p: Params) -> Sequence[Change]:
        a, b, c = str(p.a), str(p.b), str(p.c)
        first = [text(a), choose("MS", a), text(b), choose("M+", b), click("C", "0")]
        return self.recalled(*first, text(c), choose("M+", c), choose("MR", str(p.a + p.b + p.c)))


class HexToClipboard(CalculatorTask):
    id = "core/calculator-hexadecimal-v1"
    skill = "menu"
    family = "modes"
    difficulty = Difficulty.MEDIUM
    room = BESIDE
    instructions = (
        "Convert {number} to hexadecimal with the calculator (scientific mode, then Number bases) and copy the "
        "result to the clipboard.",
        "In the calculator's scientific mode, enter {number}, switch the number base to hexadecimal and copy "
        "what is shown.",
    )

    def numbers(self, draw: Draw) -> Mapping[str, Any]:
        while True:  # letters prove that the base was changed: no other base has keys for them
            drawn = operands(draw, ("number",), 100, 9999)
            if not f"{drawn['number']:X}".isdecimal():
                return drawn

    def changes(self, p: Params) -> Sequence[Change]:
        number, wanted = str(p.number), f"{p.number:X}"

        def entered(view: View) -> bool:
            return galculator.is_scientific(view) and galculator.number_shown(view) == number

        def converted(view: View) -> bool:
            return galculator.is_scientific(view) and galculator.number_shown(view) == wanted

        goal = through(
            Milestone("mode", galculator.is_scientific, to_scientific),
            Milestone("number", entered, galculator.pressed(text(number)).act),
            Milestone(
                "base", converted, galculator.through_menu("Calculator", "Number bases", "Hexadecimal")
            ),
            Milestone(
                "copied", lambda view: converted(view) and view.clipboard() == wanted, lambda view: COPY
            ),
        )
        return [Change(goal, holds=[ClipboardEquals(text=wanted), shows(f"{wanted}\n {MODULES}")])]


class MemoryBill(Memory):
    id = "core/calculator-memory-bill-v1"
    skill = "copy"
    difficulty = Difficulty.HARD
    unseen = True
    instructions = (
        "Compute {rows} one by one with the calculator, collect the results in its memory (MS for the first, M+ "
        "for the others), recall the total with MR and copy it to the clipboard.",
        "Collect {rows} in the calculator's memory with MS and M+, then recall the sum and copy it.",
    )

    def numbers(self, draw: Draw) -> Mapping[str, Any]:
        while True:  # with two equal results, the display does not tell how far the bill is
            pairs = [tuple(operands(draw, "ab").values()) for _ in range(4)]
            results = [a * b for a, b in pairs]
            if len(set(results)) == len(results):
                break
        rows = [f"{a}*{b}" for a, b in pairs]
        listed = f"{', '.join(rows[:3])} and {rows[3]}"
        return {"rows": listed, "each": rows, "results": results}

    def changes(self, p: Params) -> Sequence[Change]:
        presses: list[Press] = []
        for index, (row, result) in enumerate(zip(p.each, map(str, p.results), strict=True)):
            presses += [text(row), click("=", result), choose("M+" if index else "MS", result)]
        total = str(sum(p.results))
        copied = [choose("MR", total), keys("ctrl+c", total)]
        return self.recalled(*presses, *copied, also=[ClipboardEquals(text=total)])


class TotalOfNote(CalculatorTask):
    id = "core/calculator-total-of-note-v1"
    apps = ("galculator", "mousepad")
    skill = "copy"
    family = "clipboard"
    difficulty = Difficulty.HARD
    scope = "files"
    instructions = (
        "Add up the three amounts in the note {file} with the calculator, paste the sum at the very end of the "
        "note, and save it.",
        "The note {file} wants a sum of its amounts: compute it with the calculator, copy it to the end of the "
        "note, and save.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        amounts = list(operands(draw, "abc", 100, 999, alone=True).values())
        things = draw.words(3, "products")
        file = draw.file_name()
        lines = [f"{thing}: {amount}" for thing, amount in zip(things, amounts, strict=True)]
        x, y, width, height = draw.place(*galculator.SIZE, (540, 800))
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
        return [*note, *super().setup(p)]

    def changes(self, p: Params) -> Sequence[Change]:
        compute = galculator.add_up(p.amounts, COPY)
        return [pasted(p.file, p.note, p.sum, compute), saved(p.file, p.note + p.sum)]


TEMPLATES: tuple[type[Template], ...] = (
    MemoryRecall,
    MemoryTotal,
    HexToClipboard,
    MemoryBill,
    TotalOfNote,
)
