"""How measurements are delivered: progress on stderr, a table for people, JSON for scripts and files."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from operant.cli.output_flags import FileOption

__all__ = ["Json", "Out", "deliver", "plain_table", "progress_on_stderr"]

Json = Annotated[bool, typer.Option("--json", help="Print the numbers as JSON on stdout.")]
Out = Annotated[Path | None, FileOption("--out", help="Also write the JSON to this file.")]


@contextmanager
def progress_on_stderr() -> Iterator[Callable[[str], None]]:
    from rich.console import Console

    console = Console(stderr=True)
    with console.status("starting") as status:
        yield lambda text: status.update(text + " ...")


def deliver(
    result: dict[str, Any], as_json: bool, out: Path | None, table: Callable[[dict[str, Any]], Any]
) -> None:
    from rich.console import Console

    from operant.bench.record import write_json

    if out is not None:
        write_json(out, result)
    if as_json:
        typer.echo(json.dumps(result, indent=2))
    else:
        Console().print(table(result))


def plain_table(result: dict[str, Any]) -> Any:
    from rich.table import Table

    table = Table("measure", "value", title=f"Measured {result['date']}, commit {result['commit']}")
    for key, value in result.items():
        if isinstance(value, (int, float)):
            table.add_row(key, f"{value:.3g}" if isinstance(value, float) else str(value))
    return table
