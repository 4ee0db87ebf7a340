"""Results of evaluations, in tables."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nicegui import ui

from operant.agents.base import Usage
from operant.errors import ResultsError
from operant.evaluation.evaluation_run import find_runs
from operant.evaluation.summary import lines_of, summarise
from operant.evaluation.tables import MoreColumns
from operant.service.dashboard.frame import PATIENCE_S, empty, framed, runtime
from operant.service.dashboard.usage import used_text

__all__ = ["register"]

COLUMNS = [
    {
        "name": name,
        "label": label,
        "field": name,
        "align": "left" if name == "group" else "right",
        "sortable": True,
    }
    for name, label in (
        ("group", ""),
        ("n", "n"),
        ("success", "Success"),
        ("interval", "95 % interval"),
        ("steps", "Mean steps"),
        ("infra", "Infra errors"),
        ("calls", "Mean calls"),
        ("gui_actions", "Mean GUI actions"),
        ("used", "Tokens, cost"),
    )
]
CALLED = ("calls", "gui_actions")


def register() -> None:
    @ui.page("/results", response_timeout=PATIENCE_S)
    async def results() -> None:
        async with framed("/results", "Results", "What agents achieved in evaluations"):
            service = runtime()
            summaries = await service.at_desk(_summaries, service.config.results_dir)
            if not summaries:
                empty("There are no results yet.", "Make some: operant eval --agent random --suite core")
            for summary in summaries:
                with ui.column().classes("op-card gap-2"):
                    ui.label(summary["agent"]).classes("text-base font-semibold")
                    seeds = len(summary["seeds"])
                    about = [
                        f"commit {summary['commit']}",
                        ", ".join(split for split in summary["splits"] if split),
                    ]
                    about.append("1 seed" if seeds == 1 else f"{seeds} seeds")
                    ui.label(" · ".join(part for part in about if part)).classes("op-sub")
                    groups = [("overall", summary["overall"])]
                    groups += [item for item in summary["by_difficulty"].items() if item[1]["n"]]
                    groups += list(summary["by_app"].items())
                    rows = [_row(name, rates) for name, rates in groups]
                    left_out: tuple[str, ...] = () if any(row["used"] for row in rows) else ("used",)
                    if not MoreColumns.of(summary).called:
                        left_out += CALLED
                    columns = [column for column in COLUMNS if column["name"] not in left_out]
                    ui.table(rows=rows, columns=columns, row_key="group").props("flat dense")


def _summaries(root: Path) -> list[dict[str, Any]]:
    try:
        return [summarise(run, lines_of(run)) for run in find_runs(root)]
    except ResultsError:
        return []


def _mean(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"


def _row(name: str, rates: Mapping[str, Any]) -> dict[str, Any]:
    known = rates["success"] is not None
    return {
        "group": name,
        "n": rates["n"],
        "success": f"{rates['success']:.1%}" if known else "–",
        "interval": f"{rates['low']:.1%} – {rates['high']:.1%}" if known else "–",
        "steps": _mean(rates["mean_steps"]),
        "infra": rates["infra_errors"],
        **{name: _mean(rates.get(f"mean_{name}")) for name in CALLED},
        "used": used_text(Usage.from_json(used)) if (used := rates.get("usage")) else "",
    }
