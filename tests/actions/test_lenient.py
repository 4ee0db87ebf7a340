"""The forms that models vary: each is read as what it plainly means, and nothing else is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from operant.actions.coordinates import Fractions, Pixels, Thousandths
from operant.actions.lenient import LenientFields, chord, number, place
from operant.errors import ActionParseError
from operant.types import Point, Size

from .strategies import quick

SCREEN = Size(1280, 800)
AT = Point.from_pixel(12, 6, SCREEN)


@pytest.mark.parametrize(
    "written", [[12, 6], (12, 6), "[12, 6]", "(12,6)", "12 6", "12, 6", '["12", "6"]', {"x": "12", "y": 6.0}]
)
def test_places(written: object) -> None:
    assert place(written, Pixels(SCREEN)) == AT


@pytest.mark.parametrize(
    "written", [[12], [12, 6, 3], "12", "here", "[12, [6]]", {"x": 1}, 5, None, "[" * 9_000]
)
def test_what_is_no_place(written: object) -> None:
    with pytest.raises(ActionParseError):
        place(written, Pixels(SCREEN))


def test_a_coordinate_equal_to_the_width_is_the_last_pixel() -> None:
    last = Point.from_pixel(1279, 799, SCREEN)
    assert place([1280, 800], Pixels(SCREEN, clamps=True)) == last
    for beyond in ([1281, 0], [0, 801], [-1, 0]):
        with pytest.raises(ActionParseError, match="off the 1280x800 screen"):
            place(beyond, Pixels(SCREEN, clamps=True))
    with pytest.raises(ActionParseError):
        place([1280, 800], Pixels(SCREEN))


def test_grids_of_999_and_1000() -> None:
    assert place([1000, 999], Thousandths()) == Point(1.0, 0.999)
    assert place([1000, 999], Thousandths(last=999)) == Point(0.999, 0.999)
    assert Thousandths(last=999).locate(Point(1, 1)) == (999, 999)
    assert Fractions().locate(Point(1 / 3, 1)) == (0.3333, 1)


@pytest.mark.parametrize(
    ("written", "keys"),
    [
        (["CTRL", "A"], ("ctrl", "a")),
        (["CTRL+A"], ("ctrl", "a")),
        ("ctrl+a", ("ctrl", "a")),
        ("ctrl + shift + T", ("ctrl", "shift", "t")),
        ("ctrl l", ("ctrl", "l")),
        ("ctrl-l", ("ctrl", "l")),
        ('["ctrl", "a"]', ("ctrl", "a")),
        ("Page Down", ("pagedown",)),
        ("Page_Down", ("pagedown",)),
        ("ctrl++", ("ctrl", "+")),
        (["ctrl", " "], ("ctrl", "space")),
        ("ß", ("ß",)),
    ],
)
def test_chords(written: object, keys: tuple[str, ...]) -> None:
    assert chord(written) == keys


def test_capitals_where_a_dialect_tells_them_apart() -> None:
    assert chord("ctrl+A", letters=False) == ("ctrl", "A")


@pytest.mark.parametrize(
    "written", ["", [], "ctrl+", [""], ["ctrl", None], {}, "ctrl+nokey", "[" * 5_000 + "]"]
)
def test_what_is_no_chord(written: object) -> None:
    with pytest.raises(ActionParseError):
        chord(written)


@quick
@given(st.integers(-(10**9), 10**9) | st.floats(-1e9, 1e9))
def test_numbers_as_text(value: float) -> None:
    assert number(str(value)) == number(f" {value} ") == value


@pytest.mark.parametrize("written", ["", "1e999", "NaN", "inf", "1_000", "0x10", "1 2", True, "9" * 400, "٣"])
def test_what_is_no_number(written: object) -> None:
    with pytest.raises(ActionParseError):
        number(written)


def test_durations_are_cut_to_the_longest() -> None:
    assert LenientFields({"duration": "300"}, "x").seconds("duration") == 60
    assert LenientFields({"flag": "False"}, "x").flag("flag", True) is False
    with pytest.raises(ActionParseError):
        LenientFields({"flag": "perhaps"}, "x").flag("flag", True)
