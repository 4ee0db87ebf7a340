"""Instructions as numbers: UTF-8 bytes of a fixed length, and the words that a TYPE action can copy.

A token is a run of letters, digits and underscores, or one other character that is not a space. Text to type
is a span of tokens, first to last inclusive, with whatever stands between them: ``quiet-harbor.txt`` is five
tokens.
"""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt

__all__ = ["decode_text", "encode_text", "find_span", "span_text", "token_spans"]

TOKEN = re.compile(r"\w+|[^\w\s]")


def token_spans(instruction: str) -> list[tuple[int, int]]:
    """Where each token begins and ends, in characters.

    >>> [instruction[a:b] for instruction in ["Save it as a.txt"] for a, b in token_spans(instruction)]
    ['Save', 'it', 'as', 'a', '.', 'txt']
    """
    return [match.span() for match in TOKEN.finditer(instruction)]


def span_text(instruction: str, first: int, last: int) -> str | None:
    """The text from token ``first`` to token ``last``, or None if there is no such span."""
    spans = token_spans(instruction)
    if not 0 <= first <= last < len(spans):
        return None
    return instruction[spans[first][0] : spans[last][1]]


def find_span(instruction: str, text: str) -> tuple[int, int] | None:
    """The first span of tokens that says exactly this."""
    spans = token_spans(instruction)
    starts = {begin: index for index, (begin, _end) in enumerate(spans)}
    ends = {end: index for index, (_begin, end) in enumerate(spans)}
    at = instruction.find(text)
    while text and at >= 0:
        if at in starts and at + len(text) in ends:
            return starts[at], ends[at + len(text)]
        at = instruction.find(text, at + 1)
    return None


def encode_text(text: str, length: int, out: npt.NDArray[np.uint8] | None = None) -> npt.NDArray[np.uint8]:
    """UTF-8 bytes, filled up with zeros; what does not fit is cut off at a whole character."""
    out = np.zeros(length, np.uint8) if out is None else out
    data = text.encode("utf-8", "replace")[:length]
    if len(data) == length:
        data = data.decode("utf-8", "ignore").encode()
    out[: len(data)] = np.frombuffer(data, np.uint8)
    out[len(data) :] = 0
    return out


def decode_text(data: npt.NDArray[np.uint8]) -> str:
    return bytes(data).rstrip(b"\0").decode("utf-8", "replace")
