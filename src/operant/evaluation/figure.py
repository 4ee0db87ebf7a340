"""A figure of success by difficulty, with intervals, for one agent or several side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from operant.errors import ResultsError
from operant.types import Difficulty

__all__ = ["write_figure"]

COLOURS = ("#2f6fde", "#e07b39", "#2a9d6f", "#8a5bc7", "#c0455e", "#6b7685", "#b59b2b", "#3aa7b8")


def write_figure(summaries: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Bars of success rates with their 95 % intervals, and n below."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    levels = [
        level.value
        for level in Difficulty
        if any(summary["by_difficulty"][level.value]["n"] for summary in summaries)
    ]
    groups = [*levels, "overall"]
    figure = Figure(figsize=(max(6.4, 1.6 + 0.55 * len(groups) * (len(summaries) + 1)), 4.2), dpi=150)
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    width = 0.8 / len(summaries)
    for index, summary in enumerate(summaries):
        offset = (index - (len(summaries) - 1) / 2) * width
        for place, group in enumerate(groups):
            rates = summary["overall"] if group == "overall" else summary["by_difficulty"][group]
            if not rates["n"]:
                continue
            _bar(
                axes,
                place + offset,
                width * 0.9,
                rates,
                COLOURS[index % len(COLOURS)],
                summary["agent"] if not place else None,
            )
    axes.set_xticks(range(len(groups)), [group.lower() for group in groups])
    axes.set_ylim(0, 1.14)
    axes.set_yticks([0, 0.25, 0.5, 0.75, 1.0], ["0 %", "25 %", "50 %", "75 %", "100 %"])
    axes.set_ylabel("success")
    axes.grid(axis="y", color="#e3e6eb", linewidth=0.8)
    axes.set_axisbelow(True)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.tick_params(length=0)
    axes.set_title("Success by difficulty, 95 % Wilson intervals", loc="left", fontsize=11)
    if len(summaries) > 1:
        figure.legend(loc="outside lower center", ncols=min(4, len(summaries)), frameon=False)
    else:
        axes.set_title(
            f"{summaries[0]['agent']}: success by difficulty, 95 % Wilson intervals", loc="left", fontsize=11
        )
    try:
        figure.savefig(path, bbox_inches="tight")
    except OSError as error:
        raise ResultsError(f"{path} can't be written: {error}") from error


def _bar(axes: Any, x: float, width: float, rates: Mapping[str, Any], colour: str, label: str | None) -> None:
    rate, low, high = rates["success"], rates["low"], rates["high"]
    axes.bar(x, rate, width, color=colour, label=label)
    interval = [[rate - low], [high - rate]]
    axes.errorbar(
        x, rate, interval, color="#20242b", capsize=3, linewidth=1.1, fmt="o", mfc=colour, markersize=5
    )
    axes.annotate(
        f"{100 * rate:.0f} %\nn={rates['n']}",
        (x, high),
        (0, 3),
        textcoords="offset points",
        ha="center",
        va="bottom",
        fontsize=7.5,
        color="#3b424d",
    )
