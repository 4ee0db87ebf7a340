"""What is typed arrives: in every application that we offer, and in one or more of each toolkit.

A few texts for each; ``operant bench typing`` types a hundred.
"""

from __future__ import annotations

from typing import Any

import pytest

from operant.bench.typing import APPLICATIONS, KINDS, measure_typing, random_texts, type_into
from operant.desktop.sandbox import SandboxDesktop
from operant.errors import UnknownApplication


@pytest.fixture(scope="module")
def kept() -> Any:
    with SandboxDesktop() as desktop:
        yield desktop


@pytest.mark.x11
@pytest.mark.parametrize(
    "name",
    [pytest.param(one, marks=[pytest.mark.browser] if one == "chromium" else []) for one in APPLICATIONS],
)
def test_what_is_typed_arrives(kept: SandboxDesktop, name: str) -> None:
    kept.reset()
    result = type_into(kept, APPLICATIONS[name], count=8, seed=1)
    assert result["wrong"] == []
    assert result["right"] == 8


def test_the_texts_are_random_and_reproducible() -> None:
    texts = list(random_texts(tuple(KINDS), 40, seed=1))
    assert (
        texts == list(random_texts(tuple(KINDS), 40, seed=1)) != list(random_texts(tuple(KINDS), 40, seed=2))
    )
    assert len(set(texts)) == 40


def test_an_unknown_application_is_refused_before_anything_starts() -> None:
    with pytest.raises(UnknownApplication, match="galculatr"):
        measure_typing(lambda _: None, 1, ["galculatr"])


@pytest.mark.x11
def test_what_does_not_arrive_is_counted(kept: SandboxDesktop, monkeypatch: pytest.MonkeyPatch) -> None:
    """With keys sent at once, galculator loses digits: if this passes as right, the measure measures nothing."""
    kept.reset()
    assert kept._seat is not None
    monkeypatch.setattr(kept._seat.input.keyboard, "takes_text", lambda: True)
    result = type_into(kept, APPLICATIONS["galculator"], count=6, seed=0)
    assert result["right"] < 6
    assert result["wrong"][0]["read"] != result["wrong"][0]["expected"]
