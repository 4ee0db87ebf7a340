"""Curves, all of one look."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from nicegui import ui

__all__ = ["curve", "options"]

COLOURS = ["#1f6f8b", "#e07a3f", "#2a9d8f", "#8d5fb0", "#c98a1b", "#d64550", "#5b6b7b", "#3f7fd6"]
GREY = "#8796a5"

Points = Sequence[tuple[float, float | None]]


def curve(title: str, series: Mapping[str, Points], *, height: int = 240, share: bool = False) -> Any:
    """A chart with a line for each series that has any numbers; ``share`` fixes the axis from 0 to 1."""
    return ui.echart(options(title, series, share=share)).classes("w-full").style(f"height:{height}px")


def options(title: str, series: Mapping[str, Points], *, share: bool = False) -> dict[str, Any]:
    lines = {name: [[x, y] for x, y in points if y is not None] for name, points in series.items()}
    lines = {name: points for name, points in lines.items() if points}
    return {
        "animation": False,
        "color": COLOURS,
        "title": {"text": title, "textStyle": {"fontSize": 14, "fontWeight": 600, "color": GREY}},
        "tooltip": {"trigger": "axis", "confine": True},
        "legend": {"type": "scroll", "bottom": 0, "textStyle": {"color": GREY}},
        "grid": {"left": 52, "right": 16, "top": 36, "bottom": 52},
        "xAxis": {"type": "value", "min": "dataMin", "max": "dataMax", "axisLabel": {"color": GREY},
                  "splitLine": {"show": False}},
        "yAxis": {"type": "value", "scale": not share, **({"min": 0, "max": 1} if share else {}),
                  "axisLabel": {"color": GREY}, "splitLine": {"lineStyle": {"color": GREY, "opacity": 0.2}}},
        "series": [
            {"name": name, "type": "line", "showSymbol": len(points) < 3, "lineStyle": {"width": 2}, "data": points}
            for name, points in lines.items()
        ],
    }  # fmt: skip
