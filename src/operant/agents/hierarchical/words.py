"""Words as numbers that also work for words never seen: a few hashes of the word and of its parts.

The table of embeddings is learned, but which rows a word uses is not, so a name that training never met has
an embedding of its own too, and the same one wherever it stands: on the screen or in the instruction.
"""

from __future__ import annotations

import functools
import re
import zlib

__all__ = [
    "COMMON",
    "HASHES",
    "LETTERS",
    "ROLES",
    "TOKEN",
    "WORD",
    "hash_letters",
    "hash_role",
    "hash_word",
    "shape_of",
    "words_of",
    "words_of_name",
]

HASHES = 4
ROLES = 256
LONGEST_SIGNS = 6
LETTERS = 6
TOKEN = re.compile(r"\w+|[^\w\s]")
WORD = re.compile(r"\w+")
#: Words that say nothing about what a sentence and a widget have in common.
COMMON = frozenset(
    words
    for line in (
        "a an and as at be by for from has in into is it its",
        "of on or that the then there this to with",
    )
    for words in line.split()
)


def words_of(text: str, most: int | None = None) -> list[str]:
    """The words of a text in lower case, signs left out.

    >>> words_of("Save as quiet-harbor.txt")
    ['save', 'as', 'quiet', 'harbor', 'txt']
    """
    found: list[str] = []
    for match in WORD.finditer(text):
        found.append(match.group().lower())
        if most is not None and len(found) >= most:
            break
    return found


def words_of_name(text: str, most: int | None = None) -> list[str]:
    """The same for what things are called: a name of signs only, such as ``+/-``, is a word of its own.

    >>> words_of_name("+/-"), words_of_name("Save as")
    (['+/-'], ['save', 'as'])
    """
    signs = text.strip()[:LONGEST_SIGNS]
    return words_of(text, most) or ([signs] if signs else [])


def shape_of(word: str) -> str:
    """What kind of characters it has, such as ``9`` for digits, and how many, roughly."""
    kind = "9" if word.isdigit() else "x" if word.isalpha() else "m" if word.isalnum() else word[:1]
    return f"{kind}{min(len(word), 8)}"


@functools.lru_cache(maxsize=65536)
def hash_word(word: str, vocabulary: int) -> tuple[int, int, int, int]:
    """Rows of the table for the word, its beginning, its end and its shape. Row 0 means nothing."""
    parts = (f"w{word}", f"b{word[:3]}", f"e{word[-3:]}", f"s{shape_of(word)}")
    first, second, third, fourth = (1 + zlib.crc32(part.encode()) % (vocabulary - 1) for part in parts)
    return first, second, third, fourth


def hash_role(role: str) -> int:
    """The row of the table of roles."""
    return hash_word(role, ROLES)[0]


@functools.lru_cache(maxsize=65536)
def hash_letters(word: str, vocabulary: int) -> tuple[int, ...]:
    """Rows for its first letters, each at its place: what is typed or clicked digit by digit needs them."""
    letters = word[:LETTERS]
    rows = [
        1 + zlib.crc32(f"{place}{letter}".encode()) % (vocabulary - 1) for place, letter in enumerate(letters)
    ]
    return tuple(rows + [0] * (LETTERS - len(rows)))
