"""``operant demos``: record how the oracles do it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from operant.cli.task_flags import Only, Suite, TaskIds, task_ids

app = typer.Typer(help="Record demonstrations of the tasks' oracles, to learn from.", no_args_is_help=True)


@app.callback()
def main() -> None:
    """Record demonstrations of the tasks' oracles, to learn from."""


@app.command()
def collect(
    out: Annotated[
        Path,
        typer.Option(help="Directory for the episodes; those there are kept, except of the same instances."),
    ],
    suite: Suite = "core",
    difficulty: Annotated[str | None, typer.Option(help="Only EASY, MEDIUM or HARD.")] = None,
    tasks: TaskIds = None,
    only: Only = "",
    episodes: Annotated[int, typer.Option(min=1, help="Instances of every template.")] = 10,
    seed: Annotated[int, typer.Option(min=0, help="The first seed.")] = 0,
    workers: Annotated[int, typer.Option(min=1, help="Desktops at once.")] = 3,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON on stdout.")] = False,
) -> None:
    """Let the oracles play training instances and record the episodes.

    What they show is the same for every agent; steps and inexpressible actions are counted for the hierarchical one.
    """
    from operant.agents.hierarchical.labeler import HierarchicalLabeler
    from operant.rollout.demonstration_collector import collect_demonstrations
    from operant.rollout.lessons import LessonView, cache_directory
    from operant.train.tasks import training_templates

    templates = training_templates(suite, difficulty, only, ids=task_ids(tasks) or (), oracle=True)
    # Seeds outside: a collection that is cut off has some of every template.
    instances = [template.instance(seed + k, "train") for k in range(episodes) for template in templates]
    console = Console(stderr=True)
    columns = (TextColumn("demonstrations"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console) as progress:
        bar = progress.add_task("", total=len(instances))
        done = collect_demonstrations(
            instances,
            out,
            LessonView(HierarchicalLabeler(), cache_directory()),
            workers=workers,
            on_progress=lambda collected: progress.update(bar, completed=collected.episodes),
        )
    summary: dict[str, Any] = {
        "episodes": done.episodes,
        "successes": done.successes,
        "steps": done.steps,
        "infra_errors": done.infra_errors,
        "inexpressible": dict(done.inexpressible.most_common(20)),
        "unsolved": sorted(task for task, seen in done.by_task.items() if not all(seen)),
    }
    if as_json:
        typer.echo(json.dumps(summary, indent=2))
    else:
        console.print(f"{done.successes} of {done.episodes} episodes, {done.steps} steps in {out}")
