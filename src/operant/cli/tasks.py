"""``operant tasks``: browse, try, check."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from operant.cli.desktop_flags import Actions, desktop_section
from operant.cli.output_flags import FileOption
from operant.cli.task_flags import (
    SUITE,
    Cache,
    Class,
    Domain,
    Limit,
    Meta,
    Only,
    Suite,
    TaskIds,
    osworld_suite,
    task_ids,
)

if TYPE_CHECKING:
    from operant.tasks.template import Template

app = typer.Typer(
    no_args_is_help=True, help="Browse tasks, try one in a desktop, and check suites and their verifiers."
)

TaskId = Annotated[
    str, typer.Argument(help="The id, such as core/calculator-expression-v1; operant tasks list shows them.")
]
SuiteOfTask = Annotated[
    str | None, typer.Option(help=SUITE, show_default="what the id names before its slash")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON on stdout.")]
Seed = Annotated[int, typer.Option(help="Which instance.")]
Split = Annotated[str, typer.Option(help="train or heldout.")]


@app.command("list")
def list_tasks(
    suite: Suite = "core",
    application: Annotated[str | None, typer.Option("--app", help="Only tasks of this application.")] = None,
    difficulty: Annotated[str | None, typer.Option(help="Only EASY, MEDIUM or HARD.")] = None,
    only: Only = "",
    meta: Meta = None,
    domain: Domain = None,
    classes: Class = None,
    cache: Cache = None,
    as_json: Json = False,
) -> None:
    """List the templates of a suite; of OSWorld's also those that are not covered, and why."""
    from rich.console import Console
    from rich.table import Table

    from operant.errors import ConfigError
    from operant.tasks.criteria.parse import nearest
    from operant.tasks.suites import select
    from operant.train.tasks import parse_difficulty

    suite = osworld_suite(suite, meta, domain, classes, cache) or suite
    if suite.startswith("osworld:"):
        _list_osworld(suite, only, as_json)
        return
    level = parse_difficulty(difficulty)
    chosen = [
        template
        for template in select(_suite(suite), (), suite, only=only)
        if application in (None, *template.apps) and level in (None, template.difficulty)
    ]
    if not chosen:
        apps = sorted({name for template in _suite(suite) for name in template.apps})
        wanted = [f"the application {application!r}"] if application else []
        wanted += [f"the difficulty {level.value}"] if level else []
        raise ConfigError(
            f"no task of the suite {suite!r} is of {' and '.join(wanted)}",
            hint=nearest(application, apps) if application else None,
        )
    if as_json:
        typer.echo(json.dumps([_row(template) for template in chosen], indent=2))
        return
    table = Table(title=f"{suite}: {len(chosen)} templates")
    for column in ("task", "difficulty", "applications", "skill", "family", ""):
        table.add_column(column, no_wrap=column == "task")
    for template in chosen:
        row = _row(template)
        table.add_row(
            row["id"],
            row["difficulty"],
            ", ".join(row["apps"]),
            row["skill"],
            row["family"],
            ", ".join(word for word, said in (("unseen", "unseen"), ("gui only", "gui_only")) if row[said]),
        )
    Console().print(table)


def _list_osworld(suite: str, only: str, as_json: bool) -> None:
    """What of OSWorld is covered, and what is not, with the reason."""
    from rich.console import Console
    from rich.table import Table

    from operant.tasks.osworld.template import OsworldTemplate, with_options
    from operant.tasks.suites import select

    found = select(_suite(with_options(suite, {"uncovered": "yes"})), (), suite, only=only)
    rows = [{"id": one.id, **one.about()} for one in found if isinstance(one, OsworldTemplate)]
    offline = [row for row in rows if row["class"] in ("Z", "A")]
    counts = {
        "tasks": len(rows),
        "covered": sum(row["covered"] for row in rows),
        "offline_feasible": len(offline),
        "offline_feasible_covered": sum(row["covered"] for row in offline),
        "run_here": sum(row["covered"] and not row["missing_here"] for row in rows),
    }
    if as_json:
        typer.echo(json.dumps({**counts, "list": rows}, indent=2))
        return
    table = Table("task", "domain", "class", "covered", "why not, or what is missing here")
    for row in rows:
        why = "; ".join([*row["not_covered_because"], *row["missing_here"]])
        table.add_row(row["id"], row["domain"], row["class"], "yes" if row["covered"] else "no", why)
    Console().print(table)
    Console().print(", ".join(f"{name.replace('_', ' ')} {count}" for name, count in counts.items()))


@app.command()
def coverage(suite: Suite = "core") -> None:
    """Print which applications and skills a suite covers, as Markdown."""
    from operant.tasks.coverage import coverage_markdown

    typer.echo(coverage_markdown(_suite(suite)))


@app.command()
def show(
    task: TaskId, suite: SuiteOfTask = None, seed: Seed = 0, split: Split = "train", as_json: Json = False
) -> None:
    """Show one instance: instruction, set-up and success criteria."""
    instance = _template(task, suite).instance(seed, split)
    form = {
        "id": instance.id,
        "instruction": instance.instruction,
        "difficulty": instance.difficulty.value,
        "max_steps": instance.max_steps,
        "apps": list(instance.apps),
        "unseen": instance.unseen,
        "gui_only": instance.gui_only,
        "setup": [
            {type(step).__name__: step.model_dump(mode="json", exclude_defaults=True)}
            for step in instance.setup
        ],
        "success": {
            type(instance.success).__name__: instance.success.model_dump(mode="json", exclude_defaults=True)
        },
    }
    if as_json:
        typer.echo(json.dumps(form, indent=2))
        return
    import yaml

    typer.echo(yaml.safe_dump(form, sort_keys=False, allow_unicode=True, width=110))


@app.command("try")
def try_task(
    task: TaskId,
    suite: SuiteOfTask = None,
    seed: Seed = 0,
    split: Split = "train",
    oracle: Annotated[bool, typer.Option(help="Let the oracle solve it, and say what it does.")] = False,
    actions: Actions = None,
    picture: Annotated[Path | None, FileOption(help="Save a picture of the desktop here at the end.")] = None,
) -> None:
    """Start a task in a desktop and print its live criteria."""
    from operant.actions.describe import describe
    from operant.agents.registry import make_agent
    from operant.config.desktop import DesktopConfig
    from operant.desktop.sandbox import SandboxDesktop
    from operant.envs.task_environment import TaskEnvironment
    from operant.rollout.loop import run_episode
    from operant.tasks.oracle import check_oracles

    instance = _template(task, suite).instance(seed, split)
    config = DesktopConfig.build(**desktop_section(actions=actions))
    if oracle:
        check_oracles([instance], "play", config.actions)
    typer.echo(f"{instance.id}, seed {seed}, {split}: {instance.instruction}")
    with SandboxDesktop(config) as desktop:
        environment = TaskEnvironment(desktop)
        environment.begin(instance)
        verdict = environment.verify()
        typer.echo(f"at the start: {'holds' if verdict else 'does not hold'}: {verdict.why}")
        if oracle:
            recorder = _Teller(describe)
            result = run_episode(make_agent("oracle"), environment, instance, recorder, prepared=True)
            typer.echo(
                f"{result.outcome.value} after {result.steps} steps in {result.total_s:.2f} s: {result.why}"
            )
        if picture is not None:
            import numpy as np
            from PIL import Image

            picture.parent.mkdir(parents=True, exist_ok=True)
            Image.fromarray(np.ascontiguousarray(desktop.frame())).save(picture)
            typer.echo(str(picture))


@app.command()
def check(
    suite: Suite = "core",
    seeds: Annotated[int, typer.Option(min=1, help="Instances of every template.")] = 3,
    workers: Annotated[int, typer.Option(min=1, help="Desktops at once.")] = 2,
    tasks: TaskIds = None,
    only: Only = "",
    limit: Limit = None,
    meta: Meta = None,
    domain: Domain = None,
    classes: Class = None,
    cache: Cache = None,
    agents: Annotated[
        str | None,
        typer.Option(help="Only these agents, separated by commas.", show_default="oracle,noop,done,random"),
    ] = None,
    actions: Actions = None,
    as_json: Json = False,
    out: Annotated[Path | None, FileOption("--out", help="Also write the JSON to this file.")] = None,
) -> None:
    """Run every oracle, and the agents that must not succeed; exit code 1 if any template is wrong."""
    from rich.console import Console
    from rich.progress import Progress

    from operant.bench.record import provenance, write_json
    from operant.config.desktop import DesktopConfig
    from operant.evaluation.suite_check import AGENTS, Played, check_suite, summarise_check
    from operant.tasks.suites import select

    suite = osworld_suite(suite, meta, domain, classes, cache) or suite
    if suite.startswith("osworld:"):
        _audit_osworld(suite, task_ids(tasks) or [], only, limit, workers, out)
        return
    playing = list(AGENTS) if agents is None else [name.strip() for name in agents.split(",")]
    if unknown := [name for name in playing if name not in AGENTS]:
        raise typer.BadParameter(f"{unknown[0]!r} is not one of {', '.join(AGENTS)}", param_hint="--agents")
    templates = select(_suite(suite), task_ids(tasks) or (), suite, only=only)[:limit]
    config = DesktopConfig.build(**desktop_section(actions=actions))
    with Progress(console=Console(stderr=True)) as progress:
        bar = progress.add_task(
            f"checking {len(templates)} templates", total=len(templates) * seeds * len(playing)
        )

        def on_progress(played: Played) -> None:
            if played.success is not (played.agent == "oracle") and played.agent != "random":
                instance = f"{played.task.id} seed {played.task.seed} {played.task.split}"
                progress.console.print(
                    f"{instance}: {played.agent}: {played.result.outcome.value}: {played.result.why}",
                    markup=False,
                    highlight=False,
                )
            progress.advance(bar)

        played = check_suite(
            templates,
            seeds=range(seeds),
            workers=workers,
            agents=playing,
            config=config,
            on_progress=on_progress,
        )
    numbers = summarise_check(templates, played, config.actions)
    summary = {"suite": suite, "seeds": seeds, "actions": config.actions, **numbers}
    if out is not None:
        write_json(out, {**provenance(), **summary})
    if as_json:
        typer.echo(json.dumps(summary, indent=2))
    else:
        _print_summary(summary)
    wrong = [key for key in ("flaky", "unsolved", "wrong_difficulty", "too_easy") if summary[key]]
    raise typer.Exit(1 if wrong or summary["infra_errors"] else 0)


def _audit_osworld(
    suite: str, ids: list[str], only: str, limit: int | None, workers: int, out: Path | None
) -> None:
    """Doing nothing, gold files and FAIL, each twice; exit code 1 if a score is wrong."""
    import time

    from rich.console import Console
    from rich.progress import Progress

    from operant.bench.record import provenance, write_json
    from operant.config.desktop import DesktopConfig
    from operant.evaluation.osworld_audit import Audited, audit_osworld, summarise_audit
    from operant.tasks.osworld.template import OsworldTemplate
    from operant.tasks.suites import desktop_of, select

    chosen = select(_suite(suite), ids, suite, only=only)[:limit]
    templates = [template for template in chosen if isinstance(template, OsworldTemplate)]
    began = time.monotonic()
    with Progress(console=Console(stderr=True)) as progress:
        bar = progress.add_task(f"auditing {len(templates)} tasks", total=None)

        def on_progress(audited: Audited) -> None:
            if audited.wrong or not audited.result.outcome.is_experience:
                told = f"{audited.template.id} {audited.trial}: {audited.result.outcome.value}: {audited.result.why}"
                progress.console.print(told, markup=False, highlight=False)
            progress.advance(bar)

        config = DesktopConfig().with_defaults(desktop_of(suite))
        audited = audit_osworld(templates, workers=workers, config=config, on_progress=on_progress)
    summary = {"suite": suite, **summarise_audit(templates, audited, began)}
    if out is not None:
        write_json(out, {**provenance(), **summary})
    typer.echo(json.dumps(summary, indent=2))
    wrong = ("nothing_scores", "fail_scores_wrong", "gold_below_one", "flaky", "broken")
    raise typer.Exit(1 if any(summary[key] for key in wrong) else 0)


def _print_summary(summary: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table("", "", title=f"Suite {summary['suite']}, {summary['seeds']} seeds", show_header=False)
    for key, value in summary.items():
        if key not in ("failures", "suite"):
            text = (
                f"{value:.3g}"
                if isinstance(value, float)
                else value
                if isinstance(value, str)
                else json.dumps(value)
            )
            table.add_row(key, str(text))
    Console().print(table)


class _Teller:
    """Says what happens as it happens."""

    def __init__(self, describe: Any) -> None:
        self._describe = describe

    def begin(self, task: Any) -> None: ...

    def look(self, observation: Any) -> None: ...

    def step(self, step: Any, observation: Any) -> None:
        said = self._describe(step.action) if step.action is not None else f"invalid: {step.invalid}"
        typer.echo(f"  {step.number:3d}  {said}")

    def end(self, result: Any) -> None: ...

    def abandon(self) -> None: ...


def _suite(name: str) -> list[Template]:
    from operant.tasks.suites import load_suite

    return load_suite(name)


def _template(task: str, suite: str | None) -> Template:
    """A task by its id. Where no suite is named, the id names an installed one."""
    from operant.errors import UnknownSuite
    from operant.tasks.suites import select

    named = task.partition("/")[0] if "/" in task else "core"
    try:
        templates = _suite(suite or named)
    except UnknownSuite as error:
        if suite is not None:
            raise
        hint = f"{error.hint} Tasks of a file or a module: --suite FILE or --suite module:TEMPLATES"
        raise UnknownSuite(error.message, hint=hint) from error
    return select(templates, [task], suite or named)[0]


def _row(template: Template) -> dict[str, Any]:
    return {
        "id": template.id,
        "difficulty": template.difficulty.value,
        "apps": list(template.apps),
        "skill": template.skill,
        "family": template.family,
        "unseen": template.unseen,
        "gui_only": template.gui_only,
        "instructions": list(template.instructions),
    }
