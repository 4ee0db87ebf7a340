"""``operant export``: the agent of a training run as a file of its own, to be served, evaluated and handed on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from operant.cli.output_flags import FileOption

app = typer.Typer()


@app.command()
def export(
    checkpoint: Annotated[
        Path, typer.Argument(help="What training saved, such as checkpoints/final_model.pt.")
    ],
    out: Annotated[Path, FileOption(help="Where the agent goes.")],
    half: Annotated[
        bool, typer.Option("--half", help="Half the size; costs the last digits of the weights.")
    ] = False,
) -> None:
    """Write the agent of a checkpoint without optimiser and counters, for --agent hierarchical:FILE and serve."""
    from operant.agents.hierarchical.policy import HierarchicalPolicy

    policy = HierarchicalPolicy.from_checkpoint(checkpoint)
    policy.save(out, half=half)
    before, after = (path.stat().st_size / 1e6 for path in (checkpoint, out))
    typer.echo(f"{out}: {policy.parameter_count} parameters, {after:.1f} MB instead of {before:.1f}")
