"""``operant init``: write the sample configurations and an example suite into a directory.

The samples are the files of ``config/``. A wheel holds a copy of them (``pyproject.toml``); a checkout has the originals.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer()

#: The suite to begin with stands beside the directory of configurations, where the guides expect it.
SUITE = "notes.yaml"


@app.command()
def init(
    directory: Annotated[Path, typer.Argument(help="Where the files go.")] = Path("."),
    force: Annotated[bool, typer.Option("--force", help="Replace files that are there.")] = False,
) -> None:
    """Write sample configurations, tasks and an example suite: notes.yaml and config/."""
    from operant.atomic_files import is_full_disk, write_atomically, write_problem
    from operant.errors import ConfigError, OperantError

    wanted = {
        directory / (SUITE if sample.name == SUITE else f"config/{sample.name}"): sample
        for sample in sorted(samples().iterdir())
        if sample.suffix in (".yaml", ".json")
    }
    there = [path for path in wanted if path.exists()]
    if there and not force:
        raise ConfigError(
            f"{there[0]} is there already", hint="name an empty directory, or --force replaces it"
        )
    for path, sample in wanted.items():
        try:
            write_atomically(path, sample.read_bytes())
        except OSError as error:
            # A full disk is no mistake of who typed the directory.
            kind = OperantError if is_full_disk(error) else ConfigError
            raise kind(write_problem(path, error)) from error
    typer.echo(f"{len(wanted)} files in {directory}")
    typer.echo(f"next: operant tasks check --suite {directory / SUITE}")


def samples() -> Path:
    """The directory of the sample files."""
    package = Path(__file__).parents[1]
    shipped = package / "samples"
    return shipped if shipped.is_dir() else package.parents[1] / "config"
