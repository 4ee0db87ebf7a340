"""Instructions as bytes, and the spans of them that can be typed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from operant.envs.instruction import decode_text, encode_text, find_span, span_text, token_spans

SENTENCE = 'Rename it to "quiet-harbor.txt", then press OK.'


def test_tokens_are_words_and_single_marks() -> None:
    tokens = [SENTENCE[begin:end] for begin, end in token_spans(SENTENCE)]
    assert " ".join(tokens) == 'Rename it to " quiet - harbor . txt " , then press OK .'


@pytest.mark.parametrize("text", ["quiet-harbor.txt", "Rename", '"', "press OK", SENTENCE])
def test_a_span_says_what_it_was_found_for(text: str) -> None:
    span = find_span(SENTENCE, text)
    assert span is not None
    assert span_text(SENTENCE, *span) == text


@pytest.mark.parametrize("text", ["harbo", "arbor", "nothing of it", "", " it"])
def test_what_is_no_span_is_not_found(text: str) -> None:
    assert find_span(SENTENCE, text) is None


@pytest.mark.parametrize("span", [(3, 2), (-1, 0), (0, 99), (99, 99)])
def test_spans_that_are_not_there(span: tuple[int, int]) -> None:
    assert span_text(SENTENCE, *span) is None


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")), st.integers(1, 40))
def test_bytes_hold_as_many_whole_characters_as_fit(text: str, length: int) -> None:
    data = encode_text(text, length)
    assert data.shape == (length,)
    assert data.dtype == np.uint8
    back = decode_text(data)
    assert text.startswith(back)
    if len(text.encode()) <= length:
        assert back == text


def test_a_shorter_text_leaves_nothing_of_a_longer_one() -> None:
    row = encode_text("a long instruction", 32)
    assert decode_text(encode_text("short", 32, row)) == "short"
