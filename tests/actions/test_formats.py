"""What holds for every format at once."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from operant.actions import DIALECTS, FORMATS, parse, render
from operant.errors import ActionNotExpressible, ActionParseError
from operant.types import Action, Point, Size

from .strategies import actions, awkward, quick, screens

fractions = st.builds(Point, st.floats(0, 1), st.floats(0, 1))


def test_the_formats() -> None:
    assert set(FORMATS) == {"computer_13", "ui_rl", *DIALECTS}


def test_an_unknown_format_names_the_nearest() -> None:
    with pytest.raises(ActionParseError, match="did you mean 'openai'"):
        parse("open_ai", {}, Size(1, 1))
    with pytest.raises(ActionParseError, match="unknown format"):
        render("telepathy", Action.done(), Size(1, 1))


@pytest.mark.parametrize("name", FORMATS)
@quick
@given(actions(fractions, Size(1280, 800)), screens)
def test_rendering_settles_at_once(name: str, action: Action, screen: Size) -> None:
    """A point is rounded to the format's grid the first time, and never moves again."""
    try:
        payload = render(name, action, screen)
    except ActionNotExpressible:
        return
    (back,) = parse(name, payload, screen)
    assert render(name, back, screen) == payload


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("text", awkward)
def test_text_that_looks_like_the_format_itself(name: str, text: str) -> None:
    screen = Size(1280, 800)
    try:
        said = render(name, Action.type(text), screen)
    except ActionNotExpressible:
        assert name in ("gemini_browser", "qwen3_5", "ui_tars_2")  # no plain typing; no escapes for tags
        return
    assert parse(name, said, screen) == [Action.type(text)]


def test_nothing_heavy_is_imported() -> None:
    code = "import sys, operant.actions; print({'numpy', 'pydantic', 'torch', 'PIL'} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set()"
