"""Presses on the keypad: what each shows, and how far a sum has come."""

from __future__ import annotations

import pytest

from operant.apps.galculator import Press, chain, click, digits, text


def test_a_chain_clicks_the_operator_and_shows_each_total() -> None:
    assert chain([12.5, 3]) == [
        text("12.5"),
        click("+", "12.5"),
        text("3"),
        click("=", "15.5"),
    ]
    assert chain([90, 7], "-", clicked=True) == [
        *digits("90"),
        click("-", "90"),
        click("7", "7"),
        click("=", "83"),
    ]


@pytest.mark.parametrize(("typed", "after"), [("12", "12"), ("12*34+5", "5"), ("12/3", "3")])
def test_after_typed_text_the_last_number_is_shown(typed: str, after: str) -> None:
    assert text(typed) == Press("type", typed, after)
