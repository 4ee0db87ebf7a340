"""``operant results``: what came of evaluations, as tables, a page and a figure."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from operant.cli.data_flags import DATA_DIR

if TYPE_CHECKING:
    from rich.console import Console

app = typer.Typer(no_args_is_help=True, help="Show and compare the results of evaluations.")


@app.callback()
def results() -> None:
    """Show and compare the results of evaluations."""


Json = Annotated[bool, typer.Option("--json", help="Print JSON on stdout.")]


@app.command()
def show(
    directory: Annotated[
        Path | None,
        typer.Argument(
            help="A results directory, or one agent's directory in it.", show_default=f"{DATA_DIR}/results"
        ),
    ] = None,
    as_json: Json = False,
    report: Annotated[
        bool, typer.Option(help="Write report.html, figure.png and summary.json into the directory.")
    ] = True,
) -> None:
    """Failures first, then success by task, application and difficulty, with 95 % Wilson intervals; the overall rate
    is last."""
    from operant.config.places import place
    from operant.evaluation.evaluation_run import find_runs
    from operant.evaluation.report import write_report
    from operant.evaluation.summary import lines_of, summarise
    from operant.evaluation.tables import summary_tables

    directory = directory or place("results")
    runs = find_runs(directory)
    summaries = write_report(runs, directory) if report else [summarise(run, lines_of(run)) for run in runs]
    if report:
        for name in ("report.html", "figure.png", "summary.json"):
            typer.echo(f"wrote {directory / name}", err=True)
    for damage in (damage for summary in summaries for damage in summary["damaged"]):
        typer.echo(f"damaged: {damage}", err=True)
    if as_json:
        typer.echo(json.dumps(summaries, indent=2))
        return
    console = _console()
    for summary in summaries:
        for table in summary_tables(summary):
            console.print(table)


@app.command()
def compare(
    first: Annotated[Path, typer.Argument(help="A results directory, or one agent's directory in it.")],
    second: Annotated[Path, typer.Argument(help="The one to compare it with.")],
    as_json: Json = False,
) -> None:
    """What changed from the first to the second, episode by episode, with the sign test.

    Episodes of the same task and seed are a pair. Without a single pair only the rates are compared.
    """
    from operant.evaluation.comparison import compare as compare_lines
    from operant.evaluation.comparison import pair_runs
    from operant.evaluation.evaluation_run import find_runs
    from operant.evaluation.summary import lines_of
    from operant.evaluation.tables import comparison_tables, comparison_words

    console = _console()
    compared = [
        (one.settings.agent, other.settings.agent, compare_lines(lines_of(one), lines_of(other)))
        for one, other in pair_runs(find_runs(first), find_runs(second))
    ]
    if as_json:
        forms = [{"first": one, "second": other, **asdict(found)} for one, other, found in compared]
        typer.echo(json.dumps(forms, indent=2))
        return
    for one, other, found in compared:
        names = (one, other) if one != other else (f"{one} in {first}", f"{other} in {second}")
        for table in comparison_tables(found, *names):
            console.print(table)
        console.print(comparison_words(found), soft_wrap=True, highlight=False)


def _console() -> Console:
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else 110)
