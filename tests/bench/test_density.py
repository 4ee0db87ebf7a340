"""`operant bench density`: what it counts."""

from __future__ import annotations

import pytest

from operant.bench.density import measure_density


@pytest.mark.x11
@pytest.mark.parametrize("application", ["galculator", ""])
def test_every_desktop_is_stepped_and_none_is_left(application: str) -> None:
    told: list[str] = []
    measured = measure_density(told.append, count=2, steps=2, application=application)
    assert (measured["desktops"], measured["survivors"], measured["left_processes"]) == (2, 2, 0)
    assert "starting desktops: 2/2" in told
    assert "stepping 2 desktops in turn: 2/2" in told
    assert measured["steps_per_s"] > 0
    assert (measured["mb_each"] > measured["mb_empty"] + 1) == bool(application)
    assert 0 < measured["open_files_each"] <= 12  # what the pool reserves for each
