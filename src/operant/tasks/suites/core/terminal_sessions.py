"""Xterm: programs that ask for one line after another."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from operant.apps import xterm
from operant.apps.view import HOME, View
from operant.tasks.changes import Change, Disk
from operant.tasks.criteria import CommandOutput, Criterion
from operant.tasks.draw import Draw
from operant.tasks.setup import Run, SetupStep, WriteFile
from operant.tasks.suites.core.shell import WORK, commands, text_of
from operant.tasks.suites.core.terminal import TerminalTask, clutter, names, spoken
from operant.tasks.template import Params, Template
from operant.types import Difficulty

__all__ = ["TEMPLATES"]

COMPUTE: dict[str, Callable[[int, int], int]] = {"+": operator.add, "-": operator.sub, "*": operator.mul}

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


def growing(file: str, lines: Sequence[str]) -> Callable[[View], int | None]:
    """How many of these lines a file of the work directory has, and no others."""
    return xterm.taken(f"{WORK}/{file}", [text_of(lines[:count]) for count in range(len(lines) + 1)])


def written(file: str, lines: Sequence[str]) -> Callable[[Disk], None]:
    return lambda disk: disk.write(f"{WORK}/{file}", text_of(lines))


def ended(program: str) -> Criterion:
    """Nothing waits for more lines."""
    return CommandOutput(command=["sh", "-c", f"pgrep -cx {program} || true"], equals="0")


def typed_file(file: str, lines: Sequence[str]) -> Change:
    """Lines typed into a file with cat."""
    runs = xterm.running("cat", f"{WORK}/{file}")
    goal = xterm.dialogue(f"cat > {file}", lines, runs=runs, taken=growing(file, lines), end=xterm.END)
    return Change(goal, written(file, lines), holds=[ended("cat")])


def told(program: str, lines: Sequence[str], file: str, kept: Sequence[str]) -> Change:
    """Lines that a program of the work directory asks for, and what it keeps of each in a file."""
    runs = xterm.running(program)
    return Change(xterm.dialogue(program, lines, runs=runs, taken=growing(file, kept)), written(file, kept))


class SessionTask(TerminalTask):
    """A program asks for lines."""

    family = "session"
    difficulty = Difficulty.MEDIUM
    program: tuple[str, str] | None = None
    """Name and text of a program in the work directory, if it is not one of the system's."""

    def prepare(self, p: Params) -> list[SetupStep]:
        if self.program is None:
            return super().prepare(p)
        name, text = self.program
        executable = Run(command=["chmod", "+x", f"{HOME}/{WORK}/{name}"])
        return [*super().prepare(p), WriteFile(path=f"{WORK}/{name}", text=text), executable]


class TypeList(SessionTask):
    id = "core/terminal-type-list-v1"
    skill = "type"
    instructions = (
        "Write a shopping list: run `cat > {file}`, enter {things}, each on its own line, and press Ctrl+D.",
        "Make the file {file} in the terminal with `cat > {file}`. Its lines are {things}. End with Ctrl+D.",
    )

    def drawn(self, draw: Draw) -> Mapping[str, Any]:
        name, *others = names(draw, 4)
        lines = draw.words(6, "products")
        return {
            "file": f"{name}.txt",
            "lines": lines,
            "things": spoken(lines),
            "files": clutter(draw, others),
        }

    def changes(self, p: Params) -> Sequence[Change]:
        return [typed_file(p.file, p.lines)]


class AnswerQuestions(SessionTask):
    id = "core/terminal-answer-questions-v1"
    skill = "form"
    questions = ("name", "surname", "city", "topic", "seats", "password")
    program = ("sign-up", QUESTIONS.format(file="registration.txt", questions=" ".join(questions)))
    instructions = (
        "Run `./sign-up` and answer: name {name}, surname {surname}, city {city}, topic {topic}, "
        "seats {seats}, password {password}. Say yes at the end.",
        "Sign up with `./sign-up`. It asks for name ({name}), surname ({surname}), city ({city}), "
        "topic ({topic}), seats ({seats}) and password ({password}); then say yes.",
    )

    def drawn(self, draw: Draw) -> Mapping[str, Any]:
        return {
            "name": draw.word("names"),
            "surname": draw.word("surnames"),
            "city": draw.word("cities"),
            "topic": draw.word("topics"),
            "seats": draw.number(2, 60),
            "password": draw.word("nouns") + str(draw.number(100, 999)),
            "files": clutter(draw, names(draw, 2)),
        }

    def changes(self, p: Params) -> Sequence[Change]:
        answers = {question: str(getattr(p, question)) for question in self.questions} | {"right": "yes"}
        kept = [f"{question}: {line}" for question, line in answers.items()]
        return [told("./sign-up", list(answers.values()), "registration.txt", kept)]


class Totals(SessionTask):
    id = "core/terminal-totals-v1"
    skill = "compute"
    instructions = (
        "Compute with bc: run `bc -q > {file}`, enter {sums}, one a line, and then quit.",
        "Let bc write results to {file}: `bc -q > {file}`. Enter the lines {sums} and, at last, quit.",
    )

    def drawn(self, draw: Draw) -> Mapping[str, Any]:
        name, *others = names(draw, 3)
        numbers = draw.numbers(12, 10, 99)
        pairs = list(zip(numbers[::2], numbers[1::2], strict=True))
        operators = [draw.choice(list(COMPUTE)) for _ in pairs]
        return {
            "file": f"{name}.txt",
            "lines": (lines := [f"{a}{op}{b}" for (a, b), op in zip(pairs, operators, strict=True)]),
            "sums": spoken(lines),
            "results": [str(COMPUTE[op](a, b)) for (a, b), op in zip(pairs, operators, strict=True)],
            "files": clutter(draw, others),
        }

    def changes(self, p: Params) -> Sequence[Change]:
        start, lines = f"bc -q > {p.file}", [*p.lines, "quit"]
        runs, results = xterm.running("bc"), growing(p.file, p.results)

        def taken(view: View) -> int | None:
            """Bc writes its results only when it ends: until then, what it took is what the terminal shows."""
            if not runs(view):
                return len(lines) if results(view) == len(p.results) else None
            rows = xterm.rows(view)
            begun = max((n + 1 for n, row in enumerate(rows) if row.endswith(f"$ {start}")), default=0)
            return len(rows) - begun if rows[begun:] == lines[: len(rows) - begun] else None

        goal = xterm.dialogue(start, lines, runs=runs, taken=taken)
        return [Change(goal, written(p.file, p.results), holds=[ended("bc")])]


class EnterStock(SessionTask):
    id = "core/terminal-enter-stock-v1"
    skill = "form"
    difficulty = Difficulty.HARD
    program = ("stock", ROWS.format(file="stock.txt", columns="product amount city"))
    instructions = (
        "Run `./stock` and enter these rows value by value (product, amount, city): {rows}. "
        "Answer end after the last.",
        "Enter the stock with `./stock`. It asks for product, amount and city again and again: {rows}. "
        "Then say end.",
    )

    def drawn(self, draw: Draw) -> Mapping[str, Any]:
        columns = (draw.words(5, "products"), draw.numbers(5, 10, 999), draw.words(5, "cities"))
        rows = [[str(value) for value in row] for row in zip(*columns, strict=True)]
        return {
            "values": [value for row in rows for value in row],
            "rows": "; ".join(" ".join(row) for row in rows),
            "files": clutter(draw, names(draw, 2)),
        }

    def changes(self, p: Params) -> Sequence[Change]:
        lines = [*p.values, "end"]
        return [told("./stock", lines, "stock.txt", lines)]


class ThreeNotes(SessionTask):
    id = "core/terminal-three-notes-v1"
    skill = "chain"
    difficulty = Difficulty.HARD
    instructions = (
        "Write three files with cat, ending each with Ctrl+D. {notes}. Then run `{join}` and `{pack}`.",
        "In the terminal, make three lists (Ctrl+D ends each). {notes}. At last run `{join}` and `{pack}`.",
    )

    def drawn(self, draw: Draw) -> Mapping[str, Any]:
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
        }

    def changes(self, p: Params) -> Sequence[Change]:
        before = Disk.of(self.setup(p))
        for file, lines in p.texts.items():
            written(file, lines)(before)
        archive = f"{HOME}/{WORK}/{p.packed}"
        whole = "".join(text_of(lines) for lines in p.texts.values())
        packed = [
            CommandOutput(command=["tar", "tf", archive], equals=p.joined),
            CommandOutput(command=["tar", "xOf", archive, p.joined], equals=whole),
        ]
        typed = [typed_file(file, lines) for file, lines in p.texts.items()]
        return [*typed, commands(before, [p.join, p.pack]), Change(holds=packed)]


TEMPLATES: tuple[type[Template], ...] = (TypeList, AnswerQuestions, Totals, EnterStock, ThreeNotes)
