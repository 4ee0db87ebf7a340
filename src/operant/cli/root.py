"""The verbs of ``operant``, one file each, imported only when they are called.

This module knows each verb's name, where it lives and its one line of help, so that ``operant --help``
imports none of them. To add a verb: write ``operant/cli/<verb>.py`` with ``app = typer.Typer(...)`` and
one line in ``VERBS``.
"""

from __future__ import annotations

import difflib
import importlib
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from operant import __version__
from operant.cli.help_style import style_help

__all__ = ["VERBS", "command"]

#: verb -> (module with its ``app``, one line of help)
VERBS: dict[str, tuple[str, str]] = {
    "demo": (
        "operant.cli.demo",
        "Start a desktop, operate an application in it, show how long each part took.",
    ),
    "init": ("operant.cli.init", "Write sample configurations and an example suite into a directory."),
    "desktop": ("operant.cli.desktop", "Start desktops, look at them and clean up after crashed ones."),
    "apps": ("operant.cli.apps", "List applications, and check how well any program can be used."),
    "tasks": (
        "operant.cli.tasks",
        "Browse tasks, try one in a desktop, and check suites and their verifiers.",
    ),
    "demos": ("operant.cli.demos", "Record how the tasks' oracles do it, to learn from."),
    "eval": ("operant.cli.evaluate", "Let an agent play a suite of tasks, and say how well it did."),
    "train": ("operant.cli.train", "Let an agent learn by reinforcement learning, on sandboxed desktops."),
    "export": ("operant.cli.export", "Write the agent of a training run as a file of its own."),
    "results": ("operant.cli.results", "Show and compare the results of evaluations."),
    "replay": ("operant.cli.replay", "Step through an episode, or make a moving picture of it."),
    "hub": ("operant.cli.hub", "Put checkpoints on a HuggingFace hub, and get them from there."),
    "serve": (
        "operant.cli.serve",
        "Serve agents and desktops: REST API, live streams, dashboard.",
    ),
    "mcp": ("operant.cli.mcp", "Give a client of the Model Context Protocol a sandboxed desktop."),
    "bench": ("operant.cli.bench", "Measure how fast desktops are on this machine."),
    "doctor": (
        "operant.cli.doctor",
        "Check every prerequisite and print the command that fixes each missing one.",
    ),
}


class Verb(TyperCommand):
    """Stands for a verb in the help; becomes the real command when there are arguments to parse."""

    def __init__(self, name: str, module: str, help: str) -> None:
        super().__init__(name=name, callback=None, help=help)
        self.module = module

    def make_context(self, info_name: Any, args: Any, parent: Any = None, **extra: Any) -> Any:
        return style_help(self.load()).make_context(info_name, args, parent=parent, **extra)

    def load(self) -> Any:
        from operant.cli.logs import with_logs

        app: typer.Typer = importlib.import_module(self.module).app
        real = typer.main.get_command(app)
        # Completion is installed once, for the whole command.
        real.params = [p for p in real.params if p.name not in ("install_completion", "show_completion")]
        return with_logs(real)


class Verbs(TyperGroup):
    """A group whose commands are the keys of ``VERBS``."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in VERBS:
            return None
        return Verb(cmd_name, *VERBS[cmd_name])

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        near = difflib.get_close_matches(args[0], VERBS, 1)
        if args[0] not in VERBS and near:
            ctx.fail(f"No such command {args[0]!r}. Did you mean {near[0]!r}?")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            # Some versions of Typer turn Ctrl-C into "Aborted." and exit code 1.
            typer.echo("interrupted", err=True)
            raise SystemExit(130) from None


app = typer.Typer(
    cls=Verbs,
    no_args_is_help=True,
    context_settings={
        "help_option_names": ["-h", "--help"],
        # --num_workers is --num-workers: half of the field writes the one and half the other.
        "token_normalize_func": lambda name: name.replace("_", "-"),
    },
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"operant {__version__}")
        raise typer.Exit


@app.callback()
def operant(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit."),
    ] = False,
) -> None:
    """Train, evaluate and serve agents that operate a computer, on real desktops."""


def command() -> Any:
    """The whole command line as one callable."""
    return style_help(typer.main.get_command(app))
