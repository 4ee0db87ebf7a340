"""Curves: every chart has axes with names and numbers, and says where each line is now."""

from __future__ import annotations

from operant.service.dashboard.charts import number, options


def test_axes_have_names_and_lines_their_last_number() -> None:
    made = options(
        "Success rate", {"success": [(0, None), (128, 0.25), (256, 0.5)]}, share=True, along="steps"
    )
    assert made["xAxis"]["name"] == "steps"
    for axis in ("xAxis", "yAxis"):
        assert made[axis]["axisLine"]["show"]
        assert made[axis]["axisTick"]["show"]
        assert made[axis]["axisLabel"]["color"]
    assert (made["yAxis"]["min"], made["yAxis"]["max"]) == (0, 1)
    (line,) = made["series"]
    assert line["name"] == "success: 50%"
    assert line["data"] == [[128, 0.25], [256, 0.5]]


def test_a_line_without_numbers_is_left_out() -> None:
    assert options("Losses", {"policy": [(1, None)], "value": []})["series"] == []


def test_numbers_for_people() -> None:
    assert [number(0.5, share=True), number(12345.6), number(0.012345), number(None)] == [
        "50%", "12,346", "0.0123", "",
    ]  # fmt: skip
