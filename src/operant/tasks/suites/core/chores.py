"""Chores that go through several applications: what one computes or shows ends up in another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from operant.apps import openbox
from operant.apps.view import View
from operant.tasks.criteria import AllOf, Criterion, FileEquals, WindowAbsent
from operant.tasks.draw import Draw
from operant.tasks.oracle import Oracle
from operant.tasks.setup import Launch, SetupStep, WriteFile
from operant.tasks.suites.core.calculator import SIZE, shows
from operant.tasks.suites.core.editor_desk import BOTTOM, COPY, PASTE, SAVE, UNDO
from operant.tasks.suites.core.keypad import Keypad, button, chain, operands, shown
from operant.tasks.template import Params, Template
from operant.types import Action, Difficulty, Node

__all__ = ["TEMPLATES"]

LEFT = (640, 800)  # the part of the screen where notes stand
RIGHT = 760  # where the calculator's part begins


class Chore(Template):
    """A note is open on the left and the calculator on the right."""

    apps: ClassVar[tuple[str, ...]] = ("galculator", "mousepad")

    def setup(self, p: Params) -> Sequence[SetupStep]:
        return [
            *(WriteFile(path=path, text=text) for path, text in p.files.items()),
            *(
                Launch(command=["mousepad", "-o", "window", path], place=place)
                for path, place in p.notes.items()
            ),
            Launch(command=["galculator"], place=p.place),
        ]


def calculator_place(draw: Draw) -> tuple[int, int, int, int]:
    x, y, width, height = draw.place(*SIZE, (500, 800))
    return x + RIGHT, y, width, height


def note_text(view: View, path: str) -> Node | None:
    """The text of the window in which a note is open."""
    for window in view.tree("mousepad").children:
        if path in window.name:
            return next(
                (node for node in window.walk() if node.role == "text" and "multi line" in node.states), None
            )
    return None


@dataclass(frozen=True)
class Sum:
    """Two numbers to add up by clicks, and what the note says before and after the result is pasted."""

    numbers: tuple[str, str]
    before: str
    after: str

    @property
    def total(self) -> str:
        return str(int(self.numbers[0]) + int(self.numbers[1]))

    def compute(self, view: View) -> Action:
        """The next click on the way to the total, and the copy of it."""
        focused = view.focused
        if (focused is None or focused.wm_class != "Galculator") and shown(view) not in ("", "0"):
            return view.click(button(view, "AC"))
        return Keypad(chain(self.numbers, "+", [self.total], clicked=True), COPY).act(view)


@dataclass(frozen=True)
class Totals:
    """An oracle that computes each sum, pastes it at the end of the note, and saves the note at last."""

    path: str
    sums: Sequence[Sum]

    def act(self, view: View) -> Action:
        note = note_text(view, self.path)
        if note is None:
            return Action.wait()
        text = note.text or ""
        if text == self.sums[-1].after:
            return self._save(view, note, text)
        for one in self.sums:
            if text == one.before:
                return self._paste(view, note) if view.clipboard() == one.total else one.compute(view)
            if text + "\n" == one.before:  # the last total stands there, but the next line is not begun
                return self._into(view, note) or Action.key("enter")
        return self._into(view, note) or UNDO

    def _paste(self, view: View, note: Node) -> Action:
        return self._into(view, note) or (PASTE if view.last == BOTTOM else BOTTOM)

    def _save(self, view: View, note: Node, text: str) -> Action:
        if view.read(self.path) == text:
            return Action.done()
        return self._into(view, note) or (Action.wait() if view.last == SAVE else SAVE)

    def _into(self, view: View, note: Node) -> Action | None:
        focused = view.focused
        here = focused is not None and self.path in focused.title and "focused" in note.states
        return None if here else view.click(note)


class TwoTotals(Chore):
    id = "core/chores-two-totals-v1"
    skill = "copy"
    family = "compute and note"
    difficulty = Difficulty.HARD
    instructions = (
        "Add {a} and {b}, then {c} and {d}, by clicking the calculator's keys, and paste each result on a line of its own "
        "at the end of {file}. Save the note.",
        "The note {file} wants two totals below its heading: {a} + {b} on one line, {c} + {d} on the next. Click them "
        "into the calculator, copy and paste the results, and save.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        a, b, c, d = operands(draw, 4, 10, 99, alone=True)
        file, other = draw.file_name(), draw.file_name("log")
        heading = f"Totals for {draw.word('names')}:\n"
        return {
            "a": a, "b": b, "c": c, "d": d, "file": file, "heading": heading,
            "files": {file: heading, other: f"{draw.phrase(4)}\n"},
            "notes": {file: draw.place(560, 380, LEFT)},
            "place": calculator_place(draw),
        }  # fmt: skip

    def success(self, p: Params) -> Criterion:
        wanted = f"{p.heading}{p.a + p.b}\n{p.c + p.d}"
        rest = [FileEquals(path=path, text=text) for path, text in p.files.items() if path != p.file]
        return AllOf(of=(FileEquals(path=p.file, text=wanted), *rest))

    def oracle(self, p: Params) -> Oracle:
        first = f"{p.heading}{p.a + p.b}"
        second = f"{first}\n{p.c + p.d}"
        sums = [
            Sum((str(p.a), str(p.b)), p.heading, first),
            Sum((str(p.c), str(p.d)), first + "\n", second),
        ]
        return Totals(p.file, sums)


class CloseAndCompute(Chore):
    id = "core/chores-close-and-compute-v1"
    skill = "click"
    family = "tidy up and compute"
    difficulty = Difficulty.HARD
    instructions = (
        "Close the notes {one} and {two}, then click {a} + {b} + {c} into the calculator and get the sum.",
        "First close {one} and {two}. Then let the calculator show {a} + {b} + {c}, with clicks on its keys.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        a, b, c = operands(draw, 3, 1000, 9999, alone=True)
        one, two, three = (draw.file_name() for _ in range(3))
        names = [one, two, three]
        return {
            "a": a, "b": b, "c": c, "one": one, "two": two,
            "files": {name: f"{draw.phrase(4)}\n" for name in names},
            "notes": {name: draw.place(380, 240, LEFT) for name in draw.sample(names, 3)},
            "place": calculator_place(draw),
        }  # fmt: skip

    def success(self, p: Params) -> Criterion:
        gone = [WindowAbsent(title=name, wm_class="Mousepad") for name in (p.one, p.two)]
        return AllOf(of=(*gone, shows(str(p.a + p.b + p.c))))

    def oracle(self, p: Params) -> Oracle:
        return Closing((p.one, p.two), (str(p.a), str(p.b), str(p.c)))


@dataclass(frozen=True)
class Closing:
    """An oracle that closes some notes and then adds numbers up."""

    notes: tuple[str, ...]
    numbers: tuple[str, ...]

    def act(self, view: View) -> Action:
        for name in self.notes:
            window = view.window(name, wm_class="Mousepad")
            if window is not None:
                return openbox.press(view, window, "close")
        focused = view.focused
        if (focused is None or focused.wm_class != "Galculator") and shown(view) not in ("", "0"):
            return view.click(button(view, "AC"))
        a, b, c = (int(number) for number in self.numbers)
        return Keypad(chain(self.numbers, "+", [str(a + b), str(a + b + c)], clicked=True)).act(view)


class HandOut(Chore):
    id = "core/chores-hand-out-lines-v1"
    apps: ClassVar[tuple[str, ...]] = ("mousepad",)
    skill = "copy"
    family = "copy between notes"
    difficulty = Difficulty.HARD
    unseen = True
    instructions = (
        "The note {source} has two lines. Copy the first one to the end of {one} and the last one to the end of {two}, and save "
        "both.",
        "Hand out the two lines of {source}: the upper one goes to the end of {one}, the lower one to the end of {two}. Save "
        "{one} and {two}.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
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

    def setup(self, p: Params) -> Sequence[SetupStep]:
        return [
            *(WriteFile(path=path, text=text) for path, text in p.files.items()),
            *(
                Launch(command=["mousepad", "-o", "window", path], place=place)
                for path, place in p.notes.items()
            ),
        ]

    def success(self, p: Params) -> Criterion:
        return AllOf(
            of=(
                FileEquals(path=p.source, text=p.files[p.source]),
                FileEquals(path=p.one, text=p.files[p.one] + p.upper),
                FileEquals(path=p.two, text=p.files[p.two] + p.lower),
            )
        )

    def oracle(self, p: Params) -> Oracle:
        return Handing(p.source, ((p.upper, p.one, p.files[p.one]), (p.lower, p.two, p.files[p.two])))


@dataclass(frozen=True)
class Handing:
    """An oracle that copies the first line of a note to one note and the last line to another."""

    source: str
    lines: tuple[tuple[str, str, str], ...]
    """What is copied, into which note, and what that note said before."""

    def act(self, view: View) -> Action:
        for index, (line, target, before) in enumerate(self.lines):
            note = note_text(view, target)
            if note is None:
                return Action.wait()
            if note.text == before + line:
                if view.read(target) == note.text:
                    continue
                return self._into(view, target, note) or (Action.wait() if view.last == SAVE else SAVE)
            if note.text != before:
                return self._into(view, target, note) or UNDO
            if view.clipboard() != line:
                return self._copy(view, line, first=index == 0)
            return self._into(view, target, note) or (PASTE if view.last == BOTTOM else BOTTOM)
        return Action.done()

    def _copy(self, view: View, line: str, *, first: bool) -> Action:
        note = note_text(view, self.source)
        if note is None:
            return Action.wait()
        focus = self._into(view, self.source, note)
        if focus is not None:
            return focus
        if view.desktop.clipboard.get("primary") == line:
            return COPY
        place, mark = (Action.key("ctrl", "home"), "end") if first else (BOTTOM, "home")
        return Action.key("shift", mark) if view.last == place else place

    def _into(self, view: View, path: str, note: Node) -> Action | None:
        focused = view.focused
        here = focused is not None and path in focused.title and "focused" in note.states
        return None if here else view.click(note)


TEMPLATES: tuple[type[Template], ...] = (TwoTotals, CloseAndCompute, HandOut)
