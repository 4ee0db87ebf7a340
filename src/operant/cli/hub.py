"""``operant hub``: checkpoints to and from a HuggingFace hub."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

app = typer.Typer(no_args_is_help=True, help="Put checkpoints on a HuggingFace hub, and get them from there.")

Repo = Annotated[str, typer.Argument(help="The repository, as OWNER/NAME.")]


@app.command()
def push(
    checkpoint: Annotated[
        Path, typer.Argument(help="What training wrote: a run, a model, an adapter, a .pt file.")
    ],
    repo: Repo,
    private: Annotated[bool, typer.Option("--private", help="Make the repository private.")] = False,
    message: Annotated[str, typer.Option(help="Of the commit.")] = "Upload a checkpoint",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the card and list the files on stderr; send nothing.")
    ] = False,
) -> None:
    """Push a checkpoint with a model card; its learner's state stays here."""
    from operant.evaluation.checkpoint_kind import agent_of_checkpoint

    path = Path(agent_of_checkpoint(checkpoint).partition(":")[2])
    hub = _hub()
    hub.check_name(repo)
    if path.is_file():
        from operant.agents.hierarchical.policy import HierarchicalPolicy

        HierarchicalPolicy.from_checkpoint(path)  # junk is not handed on
    training = _training(path)
    if dry_run:
        typer.echo(hub.card(path, repo, training), nl=False)
        for name, file in {**hub.files(path), "README.md": None}.items():
            size = f" {file.stat().st_size} bytes" if file else " (the card above)"
            typer.echo(f"{name}{size}", err=True)
        return
    typer.echo(hub.push(path, repo, private=private, message=message, training=training))


@app.command()
def pull(
    repo: Repo,
    directory: Annotated[
        Path | None, typer.Argument(help="Where to.", show_default="the hub's cache")
    ] = None,
    revision: Annotated[str | None, typer.Option(help="A branch, a tag or a commit.")] = None,
) -> None:
    """Pull a model, an adapter or a checkpoint, and print where it is."""
    place = _hub().pull(repo, directory, revision=revision)
    typer.echo(str(place))
    typer.echo(f"operant eval --checkpoint {place} --suite core", err=True)


def _hub() -> Any:
    from operant.extras import missing_package

    try:
        from operant.agents import hub
    except ImportError as error:
        raise missing_package("a hub", error, "vlm") or error from None
    return hub


def _training(checkpoint: Path) -> dict[str, Any] | None:
    """The settings of the run that a model is of: ``RUN/checkpoints/version_N/model``."""
    import yaml

    if len(checkpoint.parents) < 3:
        return None
    try:
        found = yaml.safe_load((checkpoint.parents[2] / "config.yaml").read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError):
        return None
    return found if isinstance(found, dict) else None
