"""``operant demos``: record how the oracles do it, or another agent."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from operant.cli.agent_flags import MaxCost, MaxTokens, PriceFile
from operant.cli.output_flags import DirectoryOption
from operant.cli.task_flags import Only, Suite, TaskIds, task_ids

app = typer.Typer(help="Record demonstrations of oracles or agents, to learn from.", no_args_is_help=True)
INTERRUPTED = 130  # there is something left to play


@app.callback()
def main() -> None:
    """Record demonstrations of oracles or agents, to learn from."""


@app.command()
def collect(
    out: Annotated[
        Path,
        DirectoryOption(
            help="Directory for the episodes; those there are kept, except of the same instances."
        ),
    ],
    suite: Suite = "core",
    difficulty: Annotated[str | None, typer.Option(help="Only EASY, MEDIUM or HARD.")] = None,
    tasks: TaskIds = None,
    only: Only = "",
    episodes: Annotated[int, typer.Option(min=1, help="Instances of every template.")] = 10,
    seed: Annotated[int, typer.Option(min=0, help="The first seed.")] = 0,
    resume: Annotated[
        bool, typer.Option("--resume", help="Record only instances that --out does not hold yet.")
    ] = False,
    workers: Annotated[int, typer.Option(min=1, help="Desktops at once.")] = 3,
    agent: Annotated[
        str | None,
        typer.Option(
            help="Who demonstrates, such as anthropic:MODEL; only episodes that the criteria accept are kept.",
            show_default="the tasks' oracles",
        ),
    ] = None,
    max_cost: MaxCost = None,
    max_tokens: MaxTokens = None,
    prices: PriceFile = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON on stdout.")] = False,
) -> None:
    """Let the oracles, or an agent, play training instances and record the successes.

    What they show is the same for every agent; steps and inexpressible actions are counted for the hierarchical one.
    """
    from operant.agents.hierarchical.labeler import HierarchicalLabeler
    from operant.agents.registry import agent_factory
    from operant.config.prices import PriceTable
    from operant.rollout.budget import Budget
    from operant.rollout.demonstration_collector import collect_demonstrations
    from operant.rollout.demonstrations import recorded_at
    from operant.rollout.lessons import LessonView, cache_directory
    from operant.train.tasks import training_templates

    templates = training_templates(suite, difficulty, only, ids=task_ids(tasks) or (), oracle=agent is None)
    budget = None if max_cost is None and max_tokens is None else Budget(max_cost, max_tokens)
    demonstrator = None
    if agent is not None:
        make = agent_factory(agent, prices=None if prices is None else PriceTable.read(prices))
        first = make()
        if budget is not None:
            budget.check(first)
        first.preflight()
        first.close()
        demonstrator = agent, make
    # Seeds outside: a collection that is cut off has some of every template.
    instances = [template.instance(seed + k, "train") for k in range(episodes) for template in templates]
    wanted = len(instances)
    if resume:
        instances = [one for one in instances if not recorded_at(out, one).is_dir()]
    there = wanted - len(instances)
    console = Console(stderr=True)
    columns = (TextColumn("demonstrations"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console) as progress:
        bar = progress.add_task("", total=wanted, completed=there)
        try:
            done = collect_demonstrations(
                instances,
                out,
                LessonView(HierarchicalLabeler(), cache_directory()),
                workers=workers,
                agent=demonstrator,
                budget=budget,
                on_progress=lambda collected: progress.update(bar, completed=there + collected.episodes),
            )
        except KeyboardInterrupt:
            progress.stop()
            typer.echo(
                f"stopped; {out} keeps what was recorded: the same command with --resume records the rest",
                err=True,
            )
            raise
    summary: dict[str, Any] = {
        "already_there": there,
        "episodes": done.episodes,
        "successes": done.successes,
        "steps": done.steps,
        "infra_errors": done.infra_errors,
        "usage": None if done.usage is None else asdict(done.usage),
        "inexpressible": dict(done.inexpressible.most_common(20)),
        "unsolved": sorted(task for task, seen in done.by_task.items() if not all(seen)),
    }
    if as_json:
        typer.echo(json.dumps(summary, indent=2))
    else:
        before = f" beside {there} that were there" if there else ""
        console.print(f"{done.successes} of {done.episodes} episodes, {done.steps} steps in {out}{before}")
        if done.usage is not None:
            console.print(str(done.usage), highlight=False)
    if budget is not None and done.episodes < len(instances) and (why := budget.exhausted()):
        console.print(
            f"stopped: {why}; go on with --seed {seed + done.episodes // len(templates)}", highlight=False
        )
        raise typer.Exit(INTERRUPTED)
