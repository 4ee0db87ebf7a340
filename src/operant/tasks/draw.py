"""Filling in a template: words, names and numbers from pools that training and held-out instances do not share.

Structure (which button, which phrasing, where a window stands) may be shared; what an instruction is *about* is
not. A word is of one split by the list that it stands in, a number by a hash of its value, so no training seed
can ever produce a held-out instruction. ``Draw`` remembers what it gave out of the split pools: a task whose
instruction shows none of it is the same in both splits.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from typing import TypeVar

from operant.errors import TaskError
from operant.tasks.words import POOLS

__all__ = ["SPLITS", "Draw", "is_heldout_number"]

SPLITS = ("train", "heldout")
TRIES = 10_000
T = TypeVar("T")


def is_heldout_number(number: int) -> bool:
    """Every fourth number or so, by a fixed hash of its value."""
    return (abs(number) * 2654435761 >> 9) % 4 == 0


def _doubled(number: int) -> bool:
    digits = str(number)
    return any(a == b for a, b in itertools.pairwise(digits))


class Draw:
    """A seeded source of parameters for one template, split and seed."""

    def __init__(self, template: str, split: str, seed: int) -> None:
        if split not in SPLITS:
            raise TaskError(f"{split!r} is not a split", hint=f"splits are {' and '.join(SPLITS)}")
        self.split = split
        self.random = random.Random(f"{template}/{split}/{seed}")
        self.given: list[str] = []

    # From pools that the splits do not share.

    def word(self, pool: str = "nouns") -> str:
        """One word of a pool: nouns, adjectives, verbs, names, cities, products, colours_of_things, topics."""
        return self._give(self.random.choice(self._pool(pool)))

    def words(self, count: int, pool: str = "nouns") -> list[str]:
        """Different words of a pool."""
        words = self._pool(pool)
        if count > len(words):
            raise TaskError(f"the pool {pool!r} has {len(words)} words for {self.split}, not {count}")
        return [self._give(word) for word in self.random.sample(words, count)]

    def number(self, low: int = 10, high: int = 999, *, doubles: bool = True) -> int:
        """A whole number in that range that belongs to this split; without ``doubles``, no digit twice in a row."""
        for _ in range(TRIES):
            number = self.random.randint(low, high)
            if is_heldout_number(number) == (self.split == "heldout") and (doubles or not _doubled(number)):
                self._give(str(number))
                return number
        raise TaskError(f"hardly a number from {low} to {high} belongs to {self.split}")

    def numbers(self, count: int, low: int = 10, high: int = 999, *, doubles: bool = True) -> list[int]:
        """Different numbers of this split."""
        found: list[int] = []
        while len(found) < count:
            number = self.number(low, high, doubles=doubles)
            if number not in found:
                found.append(number)
        return found

    def phrase(self, words: int = 3) -> str:
        """A few words that make some sense together, in lower case."""
        parts = self.words(max(1, words - 1), "adjectives") if words > 1 else []
        return " ".join([*parts, self.word("nouns")])

    def file_name(self, extension: str = "txt") -> str:
        """A plausible file name, such as ``quiet-harbor.txt``."""
        return f"{self.word('adjectives')}-{self.word('nouns')}.{extension}"

    # Shared by the splits: structure, not content.

    def choice(self, options: Sequence[T]) -> T:
        return self.random.choice(options)

    def sample(self, options: Sequence[T], count: int) -> list[T]:
        return self.random.sample(options, count)

    def place(
        self, width: int, height: int, screen: tuple[int, int] = (1280, 800)
    ) -> tuple[int, int, int, int]:
        """A window of about that size somewhere on the screen, its title bar included."""
        width = round(width * self.random.uniform(0.9, 1.1))
        height = round(height * self.random.uniform(0.9, 1.1))
        x = self.random.randint(4, max(4, screen[0] - width - 8))
        y = self.random.randint(28, max(28, screen[1] - height - 12))
        return x, y, width, height

    def _pool(self, name: str) -> Sequence[str]:
        if name not in POOLS:
            raise TaskError(f"{name!r} is not a pool of words", hint=f"pools: {', '.join(POOLS)}")
        train, heldout = POOLS[name]
        return train if self.split == "train" else heldout

    def _give(self, text: str) -> str:
        self.given.append(text)
        return text
