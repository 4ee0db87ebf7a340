"""Chores that go through several applications: what one computes or shows ends up in another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from operant.apps import galculator, openbox
from operant.apps.mousepad import note_windows
from operant.apps.moves import Goal
from operant.tasks.changes import Change, Scope
from operant.tasks.criteria import WindowAbsent
from operant.tasks.draw import Draw
from operant.tasks.setup import Launch, SetupStep, WriteFile
from operant.tasks.suites.core.calculator import operands, shows
from operant.tasks.suites.core.notes import pasted, saved
from operant.tasks.template import Params, Template
from operant.types import Difficulty

__all__ = ["TEMPLATES"]

LEFT = (640, 800)  # the part of the screen where notes stand
RIGHT = 760  # where the calculator's part begins


class Chore(Template):
    """Notes are open, each in a window of its own, and the calculator where ``p`` has a place for it."""

    apps: ClassVar[tuple[str, ...]] = ("galculator", "mousepad")
    difficulty = Difficulty.HARD
    scope: ClassVar[Scope] = "files"

    def setup(self, p: Params) -> Sequence[SetupStep]:
        written = [WriteFile(path=path, text=text) for path, text in p.files.items()]
        notes = [
            Launch(command=["mousepad", "-o", "window", path], place=place) for path, place in p.notes.items()
        ]
        calculator = [Launch(command=["galculator"], place=p.place)] if hasattr(p, "place") else []
        return [*written, *notes, *calculator]


def calculator_place(draw: Draw) -> tuple[int, int, int, int]:
    x, y, width, height = draw.place(*galculator.SIZE, (500, 800))
    return x + RIGHT, y, width, height


class TwoTotals(Chore):
    id = "core/chores-two-totals-v1"
    skill = "copy"
    family = "compute and note"
    instructions = (
        "Add {a} and {b}, then {c} and {d}, by clicking the calculator's keys, and paste each result on a line of its own "
        "at the end of {file}. Save the note.",
        "The note {file} wants two totals below its heading: {a} + {b} on one line, {c} + {d} on the next. Click them "
        "into the calculator, copy and paste the results, and save.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        numbers = operands(draw, "abcd", 10, 99, alone=True)
        file, other = draw.file_name(), draw.file_name("log")
        heading = f"Totals for {draw.word('names')}:\n"
        return {
            **numbers, "file": file, "heading": heading,
            "files": {file: heading, other: f"{draw.phrase(4)}\n"},
            "notes": {file: draw.place(560, 380, LEFT)},
            "place": calculator_place(draw),
        }  # fmt: skip

    def changes(self, p: Params) -> Sequence[Change]:
        first, second = str(p.a + p.b), str(p.c + p.d)
        below = f"{p.heading}{first}\n"
        return [
            pasted(p.file, p.heading, first, galculator.add_up([p.a, p.b], note_windows.COPY)),
            pasted(p.file, below, second, galculator.add_up([p.c, p.d], note_windows.COPY)),
            saved(p.file, below + second),
        ]


class CloseAndCompute(Chore):
    id = "core/chores-close-and-compute-v1"
    skill = "click"
    gui_only = True
    family = "tidy up and compute"
    scope = "folders"
    instructions = (
        "Close the notes {one} and {two}, then click {a} + {b} + {c} into the calculator and get the sum.",
        "First close {one} and {two}. Then let the calculator show {a} + {b} + {c}, with clicks on its keys.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        numbers = operands(draw, "abc", 1000, 9999, alone=True)
        one, two, three = (draw.file_name() for _ in range(3))
        names = [one, two, three]
        return {
            **numbers, "one": one, "two": two,
            "files": {name: f"{draw.phrase(4)}\n" for name in names},
            "notes": {name: draw.place(380, 240, LEFT) for name in draw.sample(names, 3)},
            "place": calculator_place(draw),
        }  # fmt: skip

    def changes(self, p: Params) -> Sequence[Change]:
        numbers = [p.a, p.b, p.c]
        total = galculator.Keypad(galculator.chain(numbers, clicked=True))
        return [
            note_closed(p.one),
            note_closed(p.two),
            Change(Goal(total.done, galculator.add_up(numbers)), holds=[shows(sum(numbers))]),
        ]


def note_closed(name: str) -> Change:
    goal = openbox.closed(lambda window: name in window.title and window.wm_class == "Mousepad")
    return Change(goal, holds=[WindowAbsent(title=name, wm_class="Mousepad")])


class HandOut(Chore):
    id = "core/chores-hand-out-lines-v1"
    apps: ClassVar[tuple[str, ...]] = ("mousepad",)
    skill = "copy"
    family = "copy between notes"
    unseen = True
    instructions = (
        "The note {source} has two lines. Copy the first one to the end of {one} and the last one to the end of {two}, and save "
        "both.",
        "Hand out the two lines of {source}: the upper one goes to the end of {one}, the lower one to the end of {two}. Save "
        "{one} and {two}.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        source = one = two = ""
        while len({source, one, two}) < 3:
            source, one, two = (draw.file_name() for _ in range(3))
        upper, lower = draw.phrase(4), draw.phrase(4)
        texts = {source: f"{upper}\n{lower}", one: f"{draw.phrase(3)}\n", two: f"{draw.phrase(3)}\n"}
        places = [
            draw.place(380, 240, (600, 400)),
            draw.place(380, 240, (600, 400)),
            draw.place(380, 240, (600, 400)),
        ]
        corners = draw.sample([(0, 0), (640, 0), (0, 400), (640, 400)], 3)
        moved = [(x + dx, y + dy, w, h) for (x, y, w, h), (dx, dy) in zip(places, corners, strict=True)]
        return {
            "source": source, "one": one, "two": two, "upper": upper, "lower": lower,
            "files": texts, "notes": dict(zip(texts, moved, strict=True)),
        }  # fmt: skip

    def changes(self, p: Params) -> Sequence[Change]:
        made: list[Change] = []
        for line, target, first in ((p.upper, p.one, True), (p.lower, p.two, False)):
            before = p.files[target]
            made.append(pasted(target, before, line, note_windows.copy_line(p.source, line, first=first)))
            made.append(saved(target, before + line))
        return made


TEMPLATES: tuple[type[Template], ...] = (TwoTotals, CloseAndCompute, HandOut)
