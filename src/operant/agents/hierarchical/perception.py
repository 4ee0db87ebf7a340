"""What the agent perceives: an observation as arrays of a fixed shape, ready to be batched, stored and learned from.

Besides the small screen and the numbers, two lists of things:

* **tokens** that can be read and copied: the words of the instruction, then words that widgets show (numbers
  first of all); ``source`` holds the text that they are spans of;
* **rows**, things to act on or to remember: the widgets of the focused window, the windows with their title bars
  and title buttons, and the last actions.

``match`` says which rows share a word with which token of the instruction, or have the sign that goes on with
a number. That, not the spelling of names, is what carries over to names never seen. ``row_left`` says what stands
next to a value on its left, such as the name beside a number in a table.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from operant.agents.hierarchical.config import HierarchicalConfig
from operant.agents.hierarchical.features import ROW_FEATURES, STATE_COLUMNS, STATES, RowFeature
from operant.agents.hierarchical.progress import FARTHEST, MARKS, Spans, TaskProgress
from operant.agents.hierarchical.rows import (
    LONGEST_NAME,
    WORDS,
    PerceivedRow,
    left_of,
    past_action_row,
    read_rows,
)
from operant.agents.hierarchical.words import (
    COMMON,
    HASHES,
    LETTERS,
    ROLES,
    TOKEN,
    hash_letters,
    hash_role,
    hash_word,
)
from operant.envs.observations import FIELDS, write_state
from operant.envs.screens import shrink
from operant.types import Observation

__all__ = ["SEGMENTS", "SOURCE_BYTES", "Perception"]

Arrays = dict[str, npt.NDArray[Any]]
Columns = dict[tuple[str, int], list[int]]

SOURCE_BYTES = 1024
NEAR = (-1, -2, 1)  # the words around one that it is known by
SEGMENTS = 3  # what a token or row is part of: padding, instruction or shown thing, memory
MANY_ROWS = 16.0
COUNTED = frozenset({"table cell", "list item", "icon", "page tab", "line", "link"})
NUMBER = re.compile(r"(-?\d+(?:[.,]\d+)?)\s?([kKMG]?)")
DIGIT = re.compile(r"\d")
UNITS = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9}


class Perception:
    """The coder that an environment is given in place of the plain one, and the space that it writes into."""

    with_tree: bool

    def __init__(self, config: HierarchicalConfig) -> None:
        encoder = config.encoder
        self.config = encoder
        self.with_tree = encoder.widgets > 0
        self.width, self.height = encoder.screen
        self.rows = encoder.rows
        self.tokens = encoder.instruction_tokens + encoder.reading_tokens
        small, many = np.iinfo(np.int16), self.rows

        def ints(*shape: int) -> spaces.Box:
            return spaces.Box(int(small.min), int(small.max), shape, np.int16)

        self.space = spaces.Dict(
            {
                "screen": spaces.Box(0, 255, (self.height, self.width, 3), np.uint8),
                "state": spaces.Box(0.0, 1.0, (len(FIELDS),), np.float32),
                "source": spaces.Box(0, 255, (SOURCE_BYTES,), np.uint8),
                "token_words": ints(self.tokens, HASHES),
                "token_near": ints(self.tokens, len(NEAR), HASHES),
                "token_letters": ints(self.tokens, LETTERS),
                "token_marks": spaces.Box(0.0, 1.0, (self.tokens, len(MARKS)), np.float32),
                "token_distance": spaces.Box(0, 2 * FARTHEST + 1, (self.tokens, 2), np.uint8),
                "token_row": ints(self.tokens),
                "token_span": ints(self.tokens, 2),
                "token_segment": spaces.Box(0, SEGMENTS, (self.tokens,), np.uint8),
                "row_role": spaces.Box(0, ROLES - 1, (many,), np.uint8),
                "row_words": ints(many, WORDS, HASHES),
                "row_features": spaces.Box(-4.0, 4.0, (many, ROW_FEATURES), np.float32),
                "row_segment": spaces.Box(0, SEGMENTS, (many,), np.uint8),
                "row_box": ints(many, 4),
                "row_left": ints(many),
                "match": spaces.Box(0, 1, (many, encoder.instruction_tokens), np.uint8),
                "size": ints(2),
            }
        )

    def empty(self) -> Arrays:
        return {name: np.zeros(space.shape, space.dtype) for name, space in self.space.spaces.items()}  # type: ignore[arg-type]

    def encode(self, observation: Observation, out: Arrays | None = None) -> Arrays:
        """Write it into ``out`` (such as rows of a batch), or into new arrays."""
        out = self.empty() if out is None else out
        for name, part in out.items():
            if name != "screen":
                part[...] = 0
        shrink(observation.screen, self.width, self.height, out["screen"])
        write_state(observation, out["state"])
        height, width = observation.screen.shape[:2]
        out["size"][:] = width, height
        text = observation.instruction if self.config.use_instruction else ""
        tokens = _Tokens(out, self.config.vocabulary)
        places = tokens.read_instruction(text, self.config.instruction_tokens)
        rows = read_rows(observation, self.config.widgets, frozenset(places))
        columns = _columns(rows)
        tokens.read_rows(rows, columns, frozenset(places), self.tokens)
        past = observation.history[-self.config.history :] if self.config.history else ()
        memory = [past_action_row(one, len(past) - index, observation) for index, one in enumerate(past)]
        progress = TaskProgress.of(observation.history)
        spans = tokens.spans()
        for token, marks in progress.marks(spans).items():
            out["token_marks"][tokens.place(token)] = marks
        if tokens.instruction:
            out["token_distance"][: tokens.instruction] = progress.distances(spans, tokens.instruction)
        self._write_rows(rows + memory, places, (width, height), out)
        if rows:
            self._write_progress(rows, progress, spans, (width, height), out)
            _write_order(rows, columns, out["row_features"])
        return out

    def _write_rows(
        self, rows: list[PerceivedRow], places: dict[str, list[int]], size: tuple[int, int], out: Arrays
    ) -> None:
        if not rows:
            return
        width, height = size
        count, blank = len(rows), (0,) * HASHES
        words: list[list[tuple[int, ...]]] = []
        known: list[float] = []
        states: list[list[bool]] = []
        for index, row in enumerate(rows):
            hashes = [hash_word(word, self.config.vocabulary) for word in row.words]
            words.append(hashes + [blank] * (WORDS - len(hashes)))
            found = [word for word in row.words if word in places]
            for word in found:
                out["match"][index, places[word]] = 1
            known.append(len(found) / len(row.words) if row.words else 0.0)
            states.append([state in row.states for state in STATES])
        # Filled in as whole columns: numpy is slow at single numbers.
        boxes = np.array([row.box for row in rows], np.float32)
        ages = np.array([row.age for row in rows], np.float32)
        out["row_role"][:count] = [hash_role(row.role) for row in rows]
        out["row_box"][:count] = np.clip(boxes, -32000, 32000)
        out["row_words"][:count] = words
        out["row_left"][:count] = 1 + left_of(out["row_role"][:count], out["row_box"][:count])
        scaled = boxes / np.array([width, height, width, height], np.float32)
        features = out["row_features"][:count]
        features[:, [RowFeature.CENTER_X, RowFeature.CENTER_Y]] = scaled[:, :2] + scaled[:, 2:] / 2
        features[:, [RowFeature.WIDTH, RowFeature.HEIGHT]] = scaled[:, 2:]
        features[:, RowFeature.AREA] = scaled[:, 2] * scaled[:, 3]
        features[:, RowFeature.WORDS_IN_INSTRUCTION] = known
        features[:, RowFeature.HAS_TEXT] = [bool(row.text) for row in rows]
        features[:, RowFeature.AGE] = ages / 8.0
        features[:, RowFeature.CHANGED_SCREEN] = [row.effect for row in rows]
        features[:, RowFeature.COVERED] = [row.covered for row in rows]
        features[:, STATE_COLUMNS] = states
        np.clip(features, -4.0, 4.0, out=features)
        out["row_segment"][:count] = np.where(ages > 0, 2, 1)

    @staticmethod
    def _write_progress(
        rows: list[PerceivedRow], progress: TaskProgress, spans: Spans, size: tuple[int, int], out: Arrays
    ) -> None:
        """What was done to the rows, and what the instruction says of them."""
        count = len(rows)
        features = out["row_features"][:count]
        said = [
            any(found.stop <= spans.instruction for found in spans.find(row.name, any_case=True))
            for row in rows
        ]
        features[:, RowFeature.NAMED_IN_INSTRUCTION] = said
        if progress.typed and (last := progress.typed[-1]):
            features[:, RowFeature.HOLDS_TYPED_TEXT] = [last in row.text for row in rows]
        if progress.points:
            boxes = out["row_box"][:count].astype(np.float32)
            points = np.array(progress.points, np.float32) * np.array(size, np.float32)
            beyond = points[None] - boxes[:, None, :2]
            inside = np.all((beyond >= 0) & (beyond < boxes[:, None, 2:]), axis=2)
            features[:, RowFeature.TIMES_CLICKED] = np.minimum(inside.sum(1) / 4.0, 1.0)
            features[:, RowFeature.CLICKED_LAST] = inside[:, -1]
        signs = progress.next_signs(spans)
        for index, row in enumerate(rows):
            if row.name in signs:
                features[index, RowFeature.NEXT_SIGN] = 1.0
                out["match"][index, signs[row.name]] = 1


def _write_order(rows: list[PerceivedRow], columns: Columns, features: npt.NDArray[np.float32]) -> None:
    """Where rows of a column stand among each other."""
    for members in columns.values():
        if len(members) < 2:
            continue
        values: dict[int, float] = {}
        for order, index in enumerate(members):
            features[index, RowFeature.PLACE_IN_COLUMN] = min((order + 1) / MANY_ROWS, 2.0)
            features[index, RowFeature.PLACE_FROM_END] = min((len(members) - order) / MANY_ROWS, 2.0)
            value = _number(rows[index].text)
            if value is not None:
                values[index] = value
        features[list(values), RowFeature.COLUMN_ORDER] = _order(list(values.values()))
        ranked = sorted(values, key=lambda index: values[index])
        for rank, index in enumerate(ranked):
            features[index, RowFeature.HAS_NUMBER] = 1.0
            features[index, RowFeature.NUMBER_SIZE] = min(math.log1p(abs(values[index])) / 8.0, 2.0)
            features[index, RowFeature.NUMBER_RANK] = rank / max(1, len(ranked) - 1)


def _order(values: list[float]) -> float:
    """1 if they only rise, -1 if they only fall, otherwise 0."""
    steps = {(one < two) - (one > two) for one, two in itertools.pairwise(values)}
    return float(sum(steps)) if steps <= {0, 1} or steps <= {0, -1} else 0.0


def _number(text: str) -> float | None:
    found = NUMBER.search(text[:LONGEST_NAME])
    return float(found[1].replace(",", ".")) * UNITS[found[2]] if found else None


class _Tokens:
    """Fills the list of tokens."""

    def __init__(self, out: Arrays, vocabulary: int) -> None:
        self.out = out
        self.vocabulary = vocabulary
        self.count = 0
        self.bytes = 0
        self.instruction = 0
        self.first_shown = 0

    def read_instruction(self, text: str, most: int) -> dict[str, list[int]]:
        """The whole instruction; returns where each word that says something stands."""
        raw = text.encode("utf-8", "replace")[:SOURCE_BYTES]
        self.out["source"][: len(raw)] = np.frombuffer(raw, np.uint8)
        self.bytes = len(raw)
        places: dict[str, list[int]] = {}
        words = [match.group().lower() for match in TOKEN.finditer(text)]
        for match in TOKEN.finditer(text):
            begin = len(text[: match.start()].encode())
            end = begin + len(match.group().encode())
            if self.count >= most or end > SOURCE_BYTES:
                break
            word = match.group().lower()
            if word not in COMMON and (word[0].isalnum() or word[0] == "_"):
                places.setdefault(word, []).append(self.count)
            near = [words[at] if 0 <= (at := self.count + step) < len(words) else "" for step in NEAR]
            self._put(word, near, 0, begin, end, 1)
        self.instruction, self.first_shown = self.count, most
        self.count = most  # what is read from the screen begins at a fixed place
        return places

    def spans(self) -> Spans:
        """All tokens, without the gap before those that are shown."""
        there = [*range(self.instruction), *range(self.first_shown, self.count)]
        spans = [(int(begin), int(end)) for begin, end in self.out["token_span"][there].tolist()]
        return Spans(self.out["source"][: self.bytes].tobytes(), spans, self.instruction)

    def place(self, token: int) -> int:
        """Where a token of ``spans`` is stored."""
        return token if token < self.instruction else self.first_shown + token - self.instruction

    def read_rows(
        self, rows: list[PerceivedRow], columns: Columns, wanted: frozenset[str], most: int
    ) -> None:
        """Words that are shown: what stands beside words of the instruction first, then counts, then numbers."""
        found = [one for index, row in enumerate(rows) for one in _readings(index, row, wanted)]
        found += [
            Reading(1, members[0], "", "count", str(len(members)))
            for members in columns.values()
            if rows[members[0]].role in COUNTED
        ]
        there: set[tuple[str, str]] = set()
        for one in sorted(found, key=lambda reading: reading.order):  # the sort is stable
            raw = one.text.encode()
            if self.count >= most or self.bytes + len(raw) > SOURCE_BYTES:
                return
            if (one.text, one.before) not in there:  # many things say what their parts say again
                there.add((one.text, one.before))
                self.out["source"][self.bytes : self.bytes + len(raw)] = np.frombuffer(raw, np.uint8)
                word = one.word or one.text.lower()
                self._put(word, [one.before], one.row + 1, self.bytes, self.bytes + len(raw), 2)
                self.bytes += len(raw)

    def _put(self, word: str, near: list[str], row: int, begin: int, end: int, segment: int) -> None:
        at, out = self.count, self.out
        out["token_words"][at] = hash_word(word, self.vocabulary)
        out["token_letters"][at] = hash_letters(word, self.vocabulary)
        for place, other in enumerate(near):
            if other:
                out["token_near"][at, place] = hash_word(other, self.vocabulary)
        out["token_row"][at] = row
        out["token_span"][at] = begin, end
        out["token_segment"][at] = segment
        self.count += 1


class Reading(NamedTuple):
    """A word that can be copied from what is shown."""

    order: int
    """The lower, the sooner it is kept."""
    row: int
    word: str
    before: str
    """The word before it, or what it counts."""
    text: str


def _readings(index: int, row: PerceivedRow, wanted: frozenset[str]) -> Iterator[Reading]:
    if not row.text or row.role in ("window", "title", "title button"):
        return
    before, near = "", 0
    for match in TOKEN.finditer(row.text):
        word = match.group()
        lower = word.lower()
        near = 3 if lower in wanted else near - 1
        beside = near >= 0 and lower not in wanted and word[0].isalnum()
        if beside or DIGIT.search(word):
            text = _number_around(row.text, match.start(), match.end())
            yield Reading(0 if beside else 2, index, lower, before, text)
        before = lower
    if row.number is not None and any(word in wanted for word in row.words):
        yield Reading(0, index, "", row.role, str(row.number))


def _columns(rows: list[PerceivedRow]) -> Columns:
    """Rows of one role and one left edge."""
    groups: Columns = {}
    for index, row in enumerate(rows):
        groups.setdefault((row.role, row.box[0]), []).append(index)
    return groups


def _number_around(text: str, begin: int, end: int) -> str:
    """A number with its decimals and sign, where the token is the first part of one; otherwise the token."""
    if not text[begin:end].isdigit():
        return text[begin:end]
    if end + 1 < len(text) and text[end] in ".,:" and text[end + 1].isdigit():
        stop = end + 1
        while stop < len(text) and text[stop].isdigit():
            stop += 1
        end = stop
    if begin and text[begin - 1] == "-" and (begin == 1 or text[begin - 2].isspace()):
        begin -= 1
    return text[begin:end]
