"""``operant results``: what came of evaluations, as tables, a page and a figure."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(no_args_is_help=True, help="Show and compare the results of evaluations.")


@app.callback()
def results() -> None:
    """Show and compare the results of evaluations."""


@app.command()
def show(
    directory: Annotated[Path, typer.Argument(help="A results directory, or one agent's directory in it.")],
    compare: Annotated[Path | None, typer.Option(help="Another one to compare it with.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summaries as JSON on stdout.")] = False,
    report: Annotated[
        bool, typer.Option(help="Write report.html, figure.png and summary.json into the directory.")
    ] = True,
) -> None:
    """Success by difficulty, application and task, with 95 % Wilson intervals, over all asked for."""
    from rich.console import Console

    from operant.evaluation.comparison import compare as compare_lines
    from operant.evaluation.comparison import pair_runs
    from operant.evaluation.evaluation_run import find_runs
    from operant.evaluation.report import write_report
    from operant.evaluation.summary import lines_of, summarise
    from operant.evaluation.tables import comparison_tables, summary_tables

    runs = find_runs(directory)
    pairs = pair_runs(runs, find_runs(compare)) if compare is not None else []
    summaries = write_report(runs, directory) if report else [summarise(run, lines_of(run)) for run in runs]
    if report:
        for name in ("report.html", "figure.png", "summary.json"):
            typer.echo(f"wrote {directory / name}", err=True)
    if as_json and not pairs:
        typer.echo(json.dumps(summaries, indent=2))
        return
    comparisons = [
        (first, second, compare_lines(lines_of(first), lines_of(second))) for first, second in pairs
    ]
    if as_json:
        typer.echo(json.dumps([_comparison_json(*one) for one in comparisons], indent=2))
        return
    console = Console(width=None if sys.stdout.isatty() else 110)
    for summary in summaries if not pairs else ():
        for table in summary_tables(summary):
            console.print(table)
    for first, second, comparison in comparisons:
        names = (first.settings.agent, second.settings.agent)
        if names[0] == names[1]:
            names = (f"{names[0]} in {directory}", f"{names[1]} in {compare}")
        for table in comparison_tables(comparison, *names):
            console.print(table)


def _comparison_json(first: object, second: object, comparison: object) -> dict[str, object]:
    from dataclasses import asdict

    from operant.evaluation.comparison import Comparison
    from operant.evaluation.evaluation_run import EvaluationRun

    assert isinstance(first, EvaluationRun)
    assert isinstance(second, EvaluationRun)
    assert isinstance(comparison, Comparison)
    return {"first": first.settings.agent, "second": second.settings.agent, **asdict(comparison)}
