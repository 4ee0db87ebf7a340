from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from operant.actions.keys import (
    KEYSYM_NAMES,
    PYAUTOGUI_NAMES,
    canonical_key,
    keysym_name,
    parse_chord,
    pyautogui_name,
)
from operant.errors import ActionParseError

from .strategies import keys, quick


@pytest.mark.parametrize(
    ("name", "key"),
    [
        # pyautogui
        ("ctrlleft", "ctrl"),
        ("return", "enter"),
        ("escape", "esc"),
        ("winleft", "super"),
        ("command", "super"),
        ("option", "alt"),
        ("pgup", "pageup"),
        ("num0", "kp_0"),
        ("apps", "menu"),
        (" ", "space"),
        ("\n", "enter"),
        ("prtsc", "printscreen"),
        ("volumemute", "volumemute"),
        ("browserback", "browserback"),
        ("add", "kp_add"),
        # X and xdotool
        ("Return", "enter"),
        ("BackSpace", "backspace"),
        ("Page_Up", "pageup"),
        ("Prior", "pageup"),
        ("Next", "pagedown"),
        ("Control_L", "ctrl"),
        ("Super_R", "super"),
        ("Alt_R", "alt"),
        ("ISO_Level3_Shift", "altgr"),
        ("ISO_Left_Tab", "tab"),
        ("KP_Enter", "kp_enter"),
        ("XF86AudioRaiseVolume", "volumeup"),
        ("plus", "+"),
        ("asciitilde", "~"),
        ("U20AC", "€"),
        # OpenAI
        ("CTRL", "ctrl"),
        ("ARROWLEFT", "left"),
        ("CMD", "super"),
        ("ENTER", "enter"),
        ("F12", "f12"),
        # UI-TARS
        ("arrowright", "right"),
        ("pagedown", "pagedown"),
        ("page down", "pagedown"),
        # characters
        ("a", "a"),
        ("A", "A"),
        ("é", "é"),
        ("+", "+"),
    ],
)
def test_everybodys_names(name: str, key: str) -> None:
    assert canonical_key(name) == key


@pytest.mark.parametrize(
    "name", ["", "entr", "F99", "\0", "\ud800", "_a", "U110000", "UD800", "U0007", "\u2028", "x" * 10_000]
)
def test_unknown_keys(name: str) -> None:
    with pytest.raises(ActionParseError):
        canonical_key(name)


def test_an_unknown_key_names_the_nearest() -> None:
    with pytest.raises(ActionParseError) as caught:
        canonical_key("pagedwn")
    assert caught.value.hint == "did you mean 'pagedown'?"


@pytest.mark.parametrize(
    ("text", "separators", "chord"),
    [
        ("ctrl+shift+t", "+", ("ctrl", "shift", "t")),
        ("ctrl++", "+", ("ctrl", "+")),
        ("+", "+", ("+",)),
        ("ctrl+plus", "+", ("ctrl", "+")),
        ("alt+Tab", "+", ("alt", "tab")),
        ("ctrl c", " ", ("ctrl", "c")),
        ("  ctrl   c ", " ", ("ctrl", "c")),
        ("Return", "+", ("enter",)),
        ("ctrl-c", "-", ("ctrl", "c")),
        ("ctrl--", "-", ("ctrl", "-")),
    ],
)
def test_chords(text: str, separators: str, chord: tuple[str, ...]) -> None:
    assert parse_chord(text, separators) == chord


@pytest.mark.parametrize("text", ["", "ctrl+", "+c+", "ctrl+nokey", "++"])
def test_broken_chords(text: str) -> None:
    with pytest.raises(ActionParseError):
        parse_chord(text)


def test_canonical_names_are_canonical() -> None:
    for key, keysym in KEYSYM_NAMES.items():
        assert canonical_key(key) == canonical_key(keysym) == canonical_key(key.upper()) == key
    for key, theirs in PYAUTOGUI_NAMES.items():
        assert canonical_key(theirs) == key
    assert {f"f{n}" for n in range(1, 25)} | {f"kp_{n}" for n in range(10)} <= set(KEYSYM_NAMES)


@quick
@given(keys)
def test_names_for_others_come_back(key: str) -> None:
    assert canonical_key(keysym_name(key)) == key
    theirs = pyautogui_name(key)
    assert theirs is None or canonical_key(theirs) == key


@quick
@given(st.text(max_size=30))
def test_any_text_is_a_key_or_an_error(text: str) -> None:
    for read in (canonical_key, parse_chord):
        with contextlib.suppress(ActionParseError):
            assert read(text)
