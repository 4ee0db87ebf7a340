"""Xterm: programs that ask for one line after another."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from operant.apps.view import View
from operant.tasks.criteria import CommandOutput, Criterion, FileExists
from operant.tasks.draw import Draw
from operant.tasks.oracle import Oracle
from operant.tasks.setup import Run, SetupStep, WriteFile
from operant.tasks.suites.core.terminal_moves import (
    HOME,
    SIZE,
    WORK,
    Commands,
    Entry,
    Step,
    TerminalTask,
    all_of,
    clutter,
    enter,
    gone,
    in_terminal,
    names,
    says,
    spoken,
    untouched,
)
from operant.tasks.template import Params, Template
from operant.types import Action, Difficulty

__all__ = ["SESSIONS"]

COMPUTE: dict[str, Callable[[int, int], int]] = {"+": operator.add, "-": operator.sub, "*": operator.mul}
END = Action.key("ctrl", "d")

#: Asks for the values of its arguments and writes down each as it comes.
QUESTIONS = """#!/bin/sh
: > {file}
for question in {questions}; do
  printf '%s? ' "$question"
  read -r answer || exit 1
  echo "$question: $answer" >> {file}
done
printf 'Is that right (yes or no)? '
read -r answer || exit 1
echo "right: $answer" >> {file}
"""

#: Asks for rows of values until it reads "end".
ROWS = """#!/bin/sh
: > {file}
while :; do
  for column in {columns}; do
    printf '%s (or end)? ' "$column"
    read -r value || exit 1
    echo "$value" >> {file}
    test "$value" = end && exit
  done
done
"""


def growing(lines: Sequence[str]) -> list[str]:
    """What a file says that is written line by line."""
    return ["".join(f"{line}\n" for line in lines[:count]) for count in range(len(lines) + 1)]


def typed_file(file: str, lines: Sequence[str]) -> Entry:
    """Lines typed into a file with cat."""
    return Entry(start=f"cat > {file}", program="cat", lines=lines, file=file, taken=growing(lines), end=END)


def ended(program: str) -> Criterion:
    """Nothing waits for more lines."""
    return CommandOutput(command=["sh", "-c", f"pgrep -cx {program} || true"], equals="0")


class TypeList(TerminalTask):
    id = "core/terminal-type-list-v1"
    skill = "type"
    family = "session"
    difficulty = Difficulty.MEDIUM
    instructions = (
        "Write a shopping list: run `cat > {file}`, enter {things}, each on its own line, and press Ctrl+D.",
        "Make the file {file} in the terminal with `cat > {file}`. Its lines are {things}. End with Ctrl+D.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        name, *others = names(draw, 4)
        lines = draw.words(6, "products")
        return {
            "file": f"{name}.txt",
            "lines": lines,
            "things": spoken(lines),
            "files": clutter(draw, others),
            "place": draw.place(*SIZE),
        }

    def success(self, p: Params) -> Criterion:
        return all_of(*untouched({**p.files, p.file: growing(p.lines)[-1]}), ended("cat"))

    def oracle(self, p: Params) -> Oracle:
        return typed_file(p.file, p.lines)


class AnswerQuestions(TerminalTask):
    id = "core/terminal-answer-questions-v1"
    skill = "form"
    family = "session"
    difficulty = Difficulty.MEDIUM
    questions = ("name", "surname", "city", "topic", "seats", "password")
    instructions = (
        "Run `./sign-up` and answer: name {name}, surname {surname}, city {city}, topic {topic}, "
        "seats {seats}, password {password}. Say yes at the end.",
        "Sign up with `./sign-up`. It asks for name ({name}), surname ({surname}), city ({city}), "
        "topic ({topic}), seats ({seats}) and password ({password}); then say yes.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        return {
            "name": draw.word("names"),
            "surname": draw.word("surnames"),
            "city": draw.word("cities"),
            "topic": draw.word("topics"),
            "seats": draw.number(2, 60),
            "password": draw.word("nouns") + str(draw.number(100, 999)),
            "files": clutter(draw, names(draw, 2)),
            "place": draw.place(*SIZE),
        }

    def program(self) -> str:
        return QUESTIONS.format(file="registration.txt", questions=" ".join(self.questions))

    def prepare(self, p: Params) -> list[SetupStep]:
        return [*super().prepare(p), *program("sign-up", self.program())]

    def lines(self, p: Params) -> list[str]:
        return [str(getattr(p, question)) for question in self.questions] + ["yes"]

    def taken(self, p: Params) -> list[str]:
        asked = (*self.questions, "right")
        return growing([f"{name}: {line}" for name, line in zip(asked, self.lines(p), strict=True)])

    def success(self, p: Params) -> Criterion:
        files = {**p.files, "sign-up": self.program(), "registration.txt": self.taken(p)[-1]}
        return all_of(*untouched(files))

    def oracle(self, p: Params) -> Oracle:
        return Entry("./sign-up", "./sign-up", self.lines(p), "registration.txt", self.taken(p))


class Totals(TerminalTask):
    id = "core/terminal-totals-v1"
    skill = "compute"
    family = "session"
    difficulty = Difficulty.MEDIUM
    instructions = (
        "Compute with bc: run `bc -q > {file}`, enter {sums}, one a line, and then quit.",
        "Let bc write results to {file}: `bc -q > {file}`. Enter the lines {sums} and, at last, quit.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        name, *others = names(draw, 3)
        numbers = draw.numbers(12, 10, 99)
        pairs = list(zip(numbers[::2], numbers[1::2], strict=True))
        operators = [draw.choice(list(COMPUTE)) for _ in pairs]
        results = [COMPUTE[op](a, b) for (a, b), op in zip(pairs, operators, strict=True)]
        lines = [f"{a}{op}{b}" for (a, b), op in zip(pairs, operators, strict=True)]
        return {
            "file": f"{name}.txt",
            "lines": lines,
            "sums": spoken(lines),
            "results": [str(result) for result in results],
            "files": clutter(draw, others),
            "place": draw.place(*SIZE),
        }

    def success(self, p: Params) -> Criterion:
        return all_of(*untouched({**p.files, p.file: growing(p.results)[-1]}), ended("bc"))

    def oracle(self, p: Params) -> Oracle:
        return _Calculation(p)


class _Calculation:
    """Bc writes its results only when it ends, so what has been entered is known by the last action alone."""

    def __init__(self, p: Params) -> None:
        self.start = f"bc -q > {p.file}"
        self.lines = [*p.lines, "quit"]
        self.file, self.result = p.file, growing(p.results)[-1]

    def act(self, view: View) -> Action:
        runs = any(process.name == "bc" for process in view.desktop.processes())
        if not runs:
            if view.read(f"{WORK}/{self.file}") == self.result:
                return Action.done()
            return in_terminal(view) or enter(view, self.start)
        entered = [Action.type(f"{line}\n") for line in (self.start, *self.lines)]
        if view.last in entered[:-1]:
            return in_terminal(view) or entered[entered.index(view.last) + 1]
        return in_terminal(view) or Action.key("ctrl", "d")


class EnterStock(TerminalTask):
    id = "core/terminal-enter-stock-v1"
    skill = "form"
    family = "session"
    difficulty = Difficulty.HARD
    instructions = (
        "Run `./stock` and enter these rows value by value (product, amount, city): {rows}. "
        "Answer end after the last.",
        "Enter the stock with `./stock`. It asks for product, amount and city again and again: {rows}. "
        "Then say end.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        columns = (draw.words(5, "products"), draw.numbers(5, 10, 999), draw.words(5, "cities"))
        rows = [[str(value) for value in row] for row in zip(*columns, strict=True)]
        return {
            "values": [value for row in rows for value in row],
            "rows": "; ".join(" ".join(row) for row in rows),
            "files": clutter(draw, names(draw, 2)),
            "place": draw.place(*SIZE),
        }

    def program(self) -> str:
        return ROWS.format(file="stock.txt", columns="product amount city")

    def prepare(self, p: Params) -> list[SetupStep]:
        return [*super().prepare(p), *program("stock", self.program())]

    def success(self, p: Params) -> Criterion:
        files = {**p.files, "stock": self.program(), "stock.txt": growing([*p.values, "end"])[-1]}
        return all_of(*untouched(files))

    def oracle(self, p: Params) -> Oracle:
        lines = [*p.values, "end"]
        return Entry("./stock", "./stock", lines, "stock.txt", growing(lines))


class ThreeNotes(TerminalTask):
    id = "core/terminal-three-notes-v1"
    skill = "chain"
    family = "session"
    difficulty = Difficulty.HARD
    instructions = (
        "Write three files with cat, ending each with Ctrl+D. {notes}. Then run `{join}` and `{pack}`.",
        "In the terminal, make three lists (Ctrl+D ends each). {notes}. At last run `{join}` and `{pack}`.",
    )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        *files, joined, packed = names(draw, 5)
        products = draw.words(9, "products")
        texts = {f"{file}.txt": products[3 * index : 3 * index + 3] for index, file in enumerate(files)}
        notes = ". ".join(f"`cat > {file}` with the lines {spoken(lines)}" for file, lines in texts.items())
        return {
            "texts": texts,
            "notes": notes,
            "joined": f"{joined}.txt",
            "packed": f"{packed}.tar",
            "join": f"cat {' '.join(texts)} > {joined}.txt",
            "pack": f"tar cf {packed}.tar {joined}.txt",
            "files": {},
            "place": draw.place(*SIZE),
        }

    def success(self, p: Params) -> Criterion:
        made = {file: growing(lines)[-1] for file, lines in p.texts.items()}
        whole = "".join(made.values())
        archive = f"{HOME}/{WORK}/{p.packed}"
        return all_of(
            *untouched({**made, p.joined: whole}, beside=[p.packed]),
            FileExists(path=f"{WORK}/{p.packed}"),
            CommandOutput(command=["tar", "tf", archive], equals=p.joined),
            CommandOutput(command=["tar", "xOf", archive, p.joined], equals=whole),
            ended("cat"),
        )

    def oracle(self, p: Params) -> Oracle:
        return _InTurn(
            [
                *(typed_file(file, lines) for file, lines in p.texts.items()),
                Commands(
                    [
                        Step(
                            p.join, says(p.joined, "".join(growing(lines)[-1] for lines in p.texts.values()))
                        ),
                        Step(p.pack, lambda view: not gone(p.packed)(view)),
                    ]
                ),
            ]
        )


class _InTurn:
    """One piece of work after the other, but first what is being typed: its file may look finished."""

    def __init__(self, work: Sequence[Entry | Commands]) -> None:
        self.work = work

    def act(self, view: View) -> Action:
        for work in sorted(self.work, key=lambda work: not (isinstance(work, Entry) and work.runs(view))):
            action = work.next(view)
            if action is not None:
                return action
        return Action.done()


def program(name: str, text: str) -> list[SetupStep]:
    """A program in the work directory."""
    return [
        WriteFile(path=f"{WORK}/{name}", text=text),
        Run(command=["chmod", "+x", f"{HOME}/{WORK}/{name}"]),
    ]


SESSIONS: tuple[type[Template], ...] = (TypeList, AnswerQuestions, Totals, EnterStock, ThreeNotes)
