"""``operant train vlm``: train a vision-language agent on desktops."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer()


@app.command()
def vlm(
    config: Annotated[Path, typer.Option(help="Settings: model, environment, actor, training.")],
    output: Annotated[Path, typer.Option(help="The run's directory.")] = Path("runs/vlm"),
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in that directory.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Build every part with a tiny model, make one update, and stop.")
    ] = False,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="Another value, as section.key=value; may be given several times."),
    ] = None,
) -> None:
    """Train a vision-language model on sandboxed desktops by reinforcement learning."""
    from operant.config.vlm_training import VLMTrainingConfig
    from operant.config.yaml_file import load_yaml

    settings = load_yaml(config, VLMTrainingConfig, set_ or ())
    if dry_run:
        from operant.train.vlm.dry_run import dry_run as try_out

        typer.echo(json.dumps(try_out(settings), indent=1))
        return

    from operant.train.vlm.run import VLMRun

    run = VLMRun(settings, output, resume=resume, tell=lambda line: typer.echo(line, err=True))
    try:
        model = run.train()
    except KeyboardInterrupt:
        typer.echo(f"stopped after update {run.iteration}; the same command with --resume goes on", err=True)
        raise
    finally:
        run.close()
    typer.echo(str(model))
    typer.echo(f"operant eval --agent vlm:{model} --suite {settings.environment.suite}", err=True)
