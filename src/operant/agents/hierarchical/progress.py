"""How far the work is: which words were typed or clicked already, and which number is half entered.

The last few actions can't tell that of a long chore, and a list of all of them is long. So what was done is
written onto the words it was done with, as people tick off a list.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from operant.agents.hierarchical.rows import LONGEST_NAME
from operant.agents.hierarchical.words import COMMON, words_of
from operant.types import ActionKind, PastAction

__all__ = ["FARTHEST", "MARKS", "Spans", "TaskProgress"]

#: What is known of a token besides the word.
MARKS = ("typed", "typed last", "times typed", "clicked", "clicked last", "entered", "times clicked")
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
FARTHEST = 15  # tokens that a distance is told apart for, before and after
OFTEN = 4.0  # times that count as often


class Spans:
    """Where texts stand in what can be copied, as runs of whole tokens."""

    def __init__(self, source: bytes, spans: Sequence[tuple[int, int]], instruction: int) -> None:
        self.source = source
        self.lower = source.lower()  # of ASCII only, so that places stay the same
        self.spans = spans
        self.instruction = instruction
        """How many of the tokens are the instruction's."""
        self._starts = {span[0]: index for index, span in enumerate(spans)}
        self._ends = {span[1]: index for index, span in enumerate(spans)}

    def find(self, text: str, *, any_case: bool = False) -> Iterator[range]:
        """Every run of tokens of the instruction that says exactly this, and every single token shown."""
        wanted = text.encode()
        where = self.lower if any_case else self.source
        wanted = wanted.lower() if any_case else wanted
        at = where.find(wanted) if wanted else -1
        while at >= 0:
            first, last = self._starts.get(at), self._ends.get(at + len(wanted))
            if (
                first is not None
                and last is not None
                and first <= last
                and (last < self.instruction or first == last)
            ):
                yield range(first, last + 1)
            at = where.find(wanted, at + 1)

    def named_by(self, target: str) -> list[range]:
        """What of the instruction a thing stands for: the runs of tokens that say its name, or most of it.

        The title of a window is more than the name of its file, and a line of text more than what it is about.
        """
        exact = list(self.find(target, any_case=True))
        if exact or len(target) > LONGEST_NAME:
            return exact
        words = self._known & set(words_of(target))
        if not words:
            return []
        runs: dict[range, int] = {}
        begin, count = 0, 0
        for token, word in enumerate(self._words):
            if word in words:
                begin, count = (begin if count else token), count + 1
                runs[range(begin, token + 1)] = count
            elif word:  # signs between words belong to the run
                count = 0
        most = max(runs.values())
        return [run for run, count in runs.items() if count == most]

    @cached_property
    def _words(self) -> list[str]:
        """The instruction's tokens in lower case, signs being empty."""
        tokens = [
            self.lower[begin:end].decode("utf-8", "replace") for begin, end in self.spans[: self.instruction]
        ]
        return [token if token[:1].isalnum() or token[:1] == "_" else "" for token in tokens]

    @cached_property
    def _known(self) -> set[str]:
        """Its words that say something."""
        return set(self._words) - COMMON - {""}

    def numbers(self) -> Iterator[tuple[str, range]]:
        """The numbers of the instruction, decimals included."""
        if not self.instruction:
            return
        text = self.source[: self.spans[self.instruction - 1][1]].decode("latin-1")  # a byte, a character
        for match in NUMBER.finditer(text):
            first, last = self._starts.get(match.start()), self._ends.get(match.end())
            if first is not None and last is not None:
                yield match.group(), range(first, last + 1)


@dataclass(frozen=True)
class TaskProgress:
    """What the actions so far come to."""

    typed: tuple[str, ...]
    clicked: tuple[str, ...]
    """What clicks were aimed at."""
    entered: tuple[str, ...]
    """Numbers that were put in sign by sign since anything else was done; the last may be unfinished."""
    points: tuple[tuple[float, float], ...]
    """Where clicks and drags began."""

    @classmethod
    def of(cls, history: Sequence[PastAction]) -> TaskProgress:
        typed: list[str] = []
        clicked: list[str] = []
        points: list[tuple[float, float]] = []
        signs = ""
        for past in history:
            action = past.action
            if action.kind is ActionKind.WAIT:
                continue
            sign = ""
            if action.kind is ActionKind.TYPE:
                typed.append(action.text.removesuffix("\n"))
            elif action.kind is ActionKind.CLICK:
                clicked.append(past.target)
                sign = past.target if len(past.target) == 1 else ""
            elif action.kind is ActionKind.KEY and len(action.keys) == 1 and len(action.keys[0]) == 1:
                sign = action.keys[0]
            signs = signs + sign if sign else ""
            point = action.point or (action.path[0] if action.path else None)
            if point is not None:
                points.append((point.x, point.y))
        return cls(tuple(typed), tuple(clicked), tuple(re.split(r"[^\d.,]+", signs)), tuple(points))

    def marks(self, spans: Spans) -> dict[int, list[float]]:
        """Token -> the numbers of ``MARKS``; tokens that have none are left out."""
        marks: dict[int, list[float]] = {}

        def put(tokens: range, column: int, value: float) -> None:
            for token in tokens:
                row = marks.setdefault(token, [0.0] * len(MARKS))
                row[column] = max(row[column], value)

        for text in dict.fromkeys(self.typed):
            for tokens in spans.find(text):
                put(tokens, 0, 1.0)
                put(tokens, 1, float(text == self.typed[-1]))
                put(tokens, 2, min(1.0, self.typed.count(text) / OFTEN))
        for target in dict.fromkeys(self.clicked):
            for tokens in spans.named_by(target):
                put(tokens, 3, 1.0)
                put(tokens, 4, float(target == self.clicked[-1]))
                put(tokens, 6, min(1.0, self.clicked.count(target) / OFTEN))
        for number, tokens in spans.numbers():
            if number in self.entered:
                put(tokens, 5, 1.0)
            elif self.entered[-1] and number.startswith(self.entered[-1]):
                put(tokens, 5, len(self.entered[-1]) / len(number))
        return marks

    def distances(self, spans: Spans, count: int) -> list[tuple[int, int]]:
        """How far each of the first tokens is from the end of what was typed last, and of what was clicked last.

        From 1 to 2 * FARTHEST + 1, the middle being the token right after it; 0 if there is nothing.
        """
        ends = (
            _end(spans, spans.find(self.typed[-1])) if self.typed else None,
            _end(spans, spans.named_by(self.clicked[-1])) if self.clicked else None,
        )
        return [(_distance(token, ends[0]), _distance(token, ends[1])) for token in range(count)]

    def next_signs(self, spans: Spans) -> dict[str, list[int]]:
        """Which sign would go on with which tokens: of the number that is half entered, or of one not begun."""
        *finished, current = self.entered
        signs: dict[str, list[int]] = {}
        for number, tokens in spans.numbers():
            if number in finished or not number.startswith(current) or number == current:
                continue
            signs.setdefault(number[len(current)], []).extend(tokens)
        return signs


def _end(spans: Spans, runs: Iterable[range]) -> int | None:
    """Where in the instruction the first of them ends."""
    return next((run.stop for run in runs if run.stop <= spans.instruction), None)


def _distance(token: int, end: int | None) -> int:
    return 0 if end is None else min(max(token - end, -FARTHEST), FARTHEST) + FARTHEST + 1
