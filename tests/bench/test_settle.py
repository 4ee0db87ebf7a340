"""What counts as content that changed late, and one application measured for real."""

from __future__ import annotations

import numpy as np
import pytest

from operant.bench.settle import APPLICATIONS, changed_content, measure_settling
from operant.errors import UnknownApplication

BLACK = np.zeros((100, 200, 3), np.uint8)


def _with(left: int, top: int, right: int, bottom: int) -> np.ndarray:
    frame = BLACK.copy()
    frame[top:bottom, left:right] = 255
    return frame


def test_a_caret_is_no_content() -> None:
    assert changed_content(BLACK, _with(50, 20, 52, 40), ()) is None
    assert changed_content(BLACK, _with(50, 20, 60, 40), ()) == (50, 20, 60, 40)


def test_the_look_of_a_button_is_no_content() -> None:
    button = (40, 10, 80, 50)
    assert changed_content(BLACK, _with(41, 11, 79, 49), [button]) is None
    assert changed_content(BLACK, _with(41, 11, 120, 49), [button]) == (80, 11, 120, 49)


def test_nothing_changed() -> None:
    assert changed_content(BLACK, BLACK, ()) is None


def test_there_are_twelve_applications_and_five_that_no_suite_uses() -> None:
    assert len(APPLICATIONS) >= 12
    assert sum(not one.suite for one in APPLICATIONS.values()) >= 5


def test_an_unknown_application_is_named() -> None:
    with pytest.raises(UnknownApplication, match="mousepadd") as caught:
        measure_settling(lambda _: None, 1, ["mousepadd"])
    assert "mousepad" in str(caught.value.hint)


@pytest.mark.x11
def test_an_editor_is_measured_in_both_modes() -> None:
    result = measure_settling(lambda _: None, 3, ["mousepad"])
    for mode in ("sure", "fast"):
        assert result["applications"]["mousepad"][mode]["steps"] == 3
    assert result["sure_stale_content"] == 0.0
