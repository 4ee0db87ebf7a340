"""Curves, all of one look."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from nicegui import ui

__all__ = ["curve", "number", "options"]

COLOURS = ["#1f6f8b", "#e07a3f", "#2a9d8f", "#8d5fb0", "#c98a1b", "#d64550", "#5b6b7b", "#3f7fd6"]
GREY = "#8796a5"

Points = Sequence[tuple[float, float | None]]


def curve(
    title: str, series: Mapping[str, Points], *, height: int = 240, share: bool = False, along: str = "step"
) -> Any:
    """A chart with a line for each series that has any numbers; ``share`` fixes the axis from 0 to 100 %. ``along`` is
    what the horizontal axis counts."""
    made = ui.echart(options(title, series, share=share, along=along))
    return made.classes("w-full").style(f"height:{height}px")


def options(
    title: str, series: Mapping[str, Points], *, share: bool = False, along: str = "step"
) -> dict[str, Any]:
    lines = {name: [[x, y] for x, y in points if y is not None] for name, points in series.items()}
    lines = {f"{name}: {number(points[-1][1], share)}": points for name, points in lines.items() if points}
    line = {"show": True, "onZero": False, "lineStyle": {"color": GREY}}
    axis = {"axisLine": line, "axisTick": {"show": True}}
    label = {"color": GREY, "fontSize": 12, "hideOverlap": True}
    percent = {":formatter": "value => Math.round(value * 100) + ' %'"} if share else {}
    return {
        "animation": False,
        "color": COLOURS,
        "title": {"text": title, "textStyle": {"fontSize": 14, "fontWeight": 600, "color": GREY}},
        "tooltip": {"trigger": "axis", "confine": True},
        "legend": {"type": "scroll", "bottom": 0, "textStyle": {"color": GREY}},
        "grid": {"left": 16, "right": 28, "top": 40, "bottom": 48, "containLabel": True},
        "xAxis": {"type": "value", "min": 0, **axis, "axisLabel": label, "name": along,
                  "nameLocation": "middle", "nameGap": 24, "nameTextStyle": {"color": GREY}, "splitNumber": 4,
                  "splitLine": {"show": False}},
        "yAxis": {"type": "value", "scale": not share, **({"min": 0, "max": 1, "interval": 0.25} if share else {}), **axis,
                  "axisLabel": {**label, **percent}, "splitNumber": 4,
                  "splitLine": {"lineStyle": {"color": GREY, "opacity": 0.2}}},
        "series": [
            {"name": name, "type": "line", "showSymbol": len(points) < 3, "lineStyle": {"width": 2}, "data": points}
            for name, points in lines.items()
        ],
    }  # fmt: skip


def number(value: float | None, share: bool = False) -> str:
    """For people: three digits that count, or per cent."""
    if value is None:
        return ""
    return f"{value:.0%}" if share else f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
