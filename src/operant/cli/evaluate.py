"""``operant eval``: let an agent play a suite, and say how well it did."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from operant.cli.agent_flags import MaxCost, MaxTokens, PriceFile
from operant.cli.data_flags import DATA_DIR
from operant.cli.desktop_flags import (
    Actions,
    Device,
    LogLevel,
    Monitors,
    Network,
    PathToVM,
    Profile,
    ProviderConfigFile,
    ProviderNames,
    Proxy,
    Screen,
    desktop_section,
)
from operant.cli.logs import log_at
from operant.cli.task_flags import (
    SUITE,
    Cache,
    Class,
    Domain,
    Limit,
    Meta,
    Only,
    TaskIds,
    osworld_suite,
    suites_of,
    task_ids,
)

if TYPE_CHECKING:
    from operant.config.evaluation import EvaluationConfig
    from operant.evaluation.plan import Asked
    from operant.rollout.episode import EpisodeResult

app = typer.Typer()

FAILED = 1
INTERRUPTED = 130  # as after Ctrl-C: there is something left to play


@app.command()
def evaluate(
    agent: Annotated[
        str | None,
        typer.Option(
            help="Required, or --checkpoint: hierarchical (or hierarchical:PATH), vlm:PATH, anthropic:MODEL, openai:MODEL, "
            "chat:MODEL, FILE.yaml, team:FILE.yaml, oracle, random, noop, done, fail, or module:factory."
        ),
    ] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(help="Instead of an agent: what training wrote, a .pt file or a run's directory."),
    ] = None,
    suite: Annotated[
        str | None,
        typer.Option(
            help=f"Required, here or in --config, unless --task names ids with their suite. {SUITE}",
            show_default="what the ids of --task name before their slash",
        ),
    ] = None,
    split: Annotated[str, typer.Option(help="Instances to play: heldout or train.")] = "heldout",
    tasks: TaskIds = None,
    only: Only = "",
    limit: Limit = None,
    meta: Meta = None,
    domain: Domain = None,
    classes: Class = None,
    cache: Cache = None,
    difficulty: Annotated[str | None, typer.Option(help="Only EASY, MEDIUM or HARD tasks.")] = None,
    num_workers: Annotated[int, typer.Option(min=1, help="Episodes to play at once.")] = 2,
    max_steps: Annotated[
        int | None, typer.Option(min=1, help="Actions in an episode, instead of each task's own cap.")
    ] = None,
    episodes: Annotated[int, typer.Option(min=1, help="Episodes of each task.")] = 1,
    seed: Annotated[
        int, typer.Option(min=0, help="The first seed; further episodes take those that follow.")
    ] = 0,
    action_timeout: Annotated[
        float, typer.Option(min=0.001, help="Seconds that the agent has for an action.")
    ] = 60.0,
    max_cost: MaxCost = None,
    max_tokens: MaxTokens = None,
    prices: PriceFile = None,
    result_dir: Annotated[
        Path | None,
        typer.Option(help="Where episodes go, in OSWorld's layout.", show_default=f"{DATA_DIR}/results"),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(help="YAML file with suite, tasks, device, log_level, prices and a section desktop."),
    ] = None,
    device: Device = None,
    log_level: LogLevel = None,
    screen: Screen = None,
    monitors: Monitors = None,
    profile: Profile = None,
    network: Network = None,
    proxy: Proxy = None,
    actions: Actions = None,
    provider: ProviderNames = None,
    provider_config: ProviderConfigFile = None,
    path_to_vm: PathToVM = None,
    video: Annotated[bool, typer.Option("--video", help="Also make an mp4 of each episode.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON on stdout.")] = False,
) -> None:
    """Play a suite with an agent on sandboxed desktops; the same command goes on after an interruption."""
    agent = _agent(agent, checkpoint)
    where = _settings(
        config,
        suite=osworld_suite(suite, meta, domain, classes, cache),
        tasks=task_ids(tasks),
        device=device,
        log_level=log_level,
        prices=prices,
        desktop=desktop_section(screen, monitors, profile, network, proxy, actions),
        provider=provider,
        provider_config=provider_config,
        path_to_vm=path_to_vm,
    )

    if where.suite is None:
        where = where.model_copy(update={"suite": suites_of(where.tasks)})
    if where.suite is None:
        raise typer.BadParameter("name the suite to play; a file of tasks is one, too", param_hint="--suite")

    from operant.agents.oracle import OracleAgent
    from operant.agents.registry import agent_factory
    from operant.config.places import place
    from operant.config.prices import PriceTable
    from operant.desktop.providers import open_provider, provider_name
    from operant.evaluation.evaluation_run import EvaluationRun
    from operant.evaluation.plan import Asked, plan_episodes
    from operant.evaluation.runner import desktops_at_once, evaluate, settings_of
    from operant.evaluation.summary import lines_of, summarise
    from operant.rollout.budget import Budget
    from operant.tasks.oracle import check_oracles
    from operant.tasks.suites import desktop_of, load_suite, select
    from operant.train.tasks import parse_difficulty

    chosen: str = where.suite
    desktop = where.desktop.with_defaults(desktop_of(chosen))
    where = where.model_copy(update={"desktop": desktop})
    table = None if where.prices is None else PriceTable.read(where.prices)
    make_agent = agent_factory(agent, device=where.device, prices=table)
    plan = plan_episodes(
        select(load_suite(chosen), where.tasks, chosen, only=only),
        range(seed, seed + episodes),
        split=split,
        difficulty=parse_difficulty(difficulty),
        limit=limit,
        max_steps=max_steps,
        profile=where.desktop.chosen_profile,
    )
    first = make_agent()
    budget = None if max_cost is None and max_tokens is None else Budget(max_cost, max_tokens)
    if budget is not None:
        budget.check(first)
    if warning := first.check_actions(where.desktop.actions):
        typer.echo(f"warning: {warning}", err=True)
    first.preflight()
    if isinstance(first, OracleAgent):
        check_oracles(plan, "play", where.desktop.actions)
    settings = settings_of(
        agent,
        first,
        max_steps=max_steps,
        act_s=action_timeout,
        config=where.desktop,
        provider=provider_name(where),
    )
    made = [first]
    with (
        open_provider(where, where.desktop, desktops_at_once(num_workers, len(plan), budget)) as source,
        EvaluationRun.open(result_dir or place("results"), settings, plan) as run,
    ):
        unfinished = {Asked.of(task) for task in run.unfinished(plan)}
        there = [line for line in lines_of(run, map(Asked.of, plan)) if line.asked not in unfinished]
        if there:
            typer.echo(f"{len(there)} of {len(plan)} episodes are there already", err=True)
        for line in lines_of(run, map(Asked.of, plan)):
            if line.damage:
                typer.echo(f"damaged, and played again: {line.damage}", err=True)
        try:
            with _progress(len(plan), len(there), sum(line.success for line in there)) as on_progress:
                evaluate(
                    run,
                    plan,
                    lambda: made.pop() if made else make_agent(),
                    workers=num_workers,
                    config=where.desktop,
                    video=video,
                    on_progress=on_progress,
                    desktops=source.start,
                    lease_s=source.start_s,
                    budget=budget,
                )
        except KeyboardInterrupt:
            done = len(plan) - len(run.unfinished(plan))
            typer.echo(
                f"{done} of {len(plan)} episodes are done; the same command goes on from there", err=True
            )
            raise
        finally:
            for unused in made:
                unused.close()
        missing = len(run.unfinished(plan))
        summary = summarise(run, lines_of(run, [Asked.of(task) for task in plan]))
    _deliver(summary, as_json)
    if budget is not None and missing and (why := budget.exhausted()):
        typer.echo(
            f"stopped: {why}; {len(plan) - missing} of {len(plan)} episodes are done; the same command goes on "
            "from there",
            err=True,
        )
        raise typer.Exit(INTERRUPTED)
    if plan and summary["outcomes"]["infra_error"] == len(plan):
        typer.echo(f"error: no episode could be played: {summary['failures'][0]['why']}", err=True)
        typer.echo("hint: this says nothing about the agent; the same command tries them again", err=True)
        raise typer.Exit(FAILED)


def _settings(file: Path | None, **flags: Any) -> EvaluationConfig:
    from operant.config.evaluation import EvaluationConfig

    settings = EvaluationConfig.load(file, flags=flags)
    log_at(settings.log_level)
    return settings


def _agent(agent: str | None, checkpoint: Path | None) -> str:
    if agent is not None and checkpoint is None:
        return agent
    if checkpoint is None or agent is not None:
        raise typer.BadParameter(
            "name an agent or a checkpoint, and not both", param_hint="--agent / --checkpoint"
        )
    from operant.evaluation.checkpoint_kind import agent_of_checkpoint

    return agent_of_checkpoint(checkpoint)


@contextmanager
def _progress(total: int, ended: int, successes: int) -> Iterator[Callable[[Asked, EpisodeResult], None]]:
    """A bar on stderr, with the success rate so far. It counts from what was there already."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    from operant.types import Outcome

    broken = 0
    rate = f"{successes / ended:.0%} success" if ended else ""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), disable=total == ended) as bar:
        line = bar.add_task("episodes", total=total, completed=ended, rate=rate)

        def on_progress(asked: Asked, result: EpisodeResult) -> None:
            nonlocal successes, ended, broken
            ended += 1
            successes += result.success
            rate = f"{successes / ended:.0%} success"
            if result.outcome in (Outcome.INFRA_ERROR, Outcome.VERIFIER_ERROR):
                broken += 1
                bar.console.print(
                    f"{asked.task} seed {asked.seed}: {result.outcome.value}: {result.why}", markup=False
                )
            if broken:
                rate += f", {broken} broken"
            bar.update(line, advance=1, rate=rate)

        yield on_progress


def _deliver(summary: dict[str, Any], as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(summary, indent=2))
        return
    from rich.console import Console

    from operant.evaluation.tables import summary_tables

    console = Console(width=None if sys.stdout.isatty() else 110)
    for table in summary_tables(summary):
        console.print(table)
    console.print(
        f"episodes in {summary['directory']}; operant results show {summary['directory']}", soft_wrap=True
    )
