"""``operant apps``: the applications that Operant knows, and how well any program can be used."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from operant.cli.data_flags import DATA_DIR
from operant.cli.output_flags import DirectoryOption, FileOption, default_picture
from operant.errors import ConfigError, UnknownApplication

if TYPE_CHECKING:
    from operant.apps import App
    from operant.apps.check import AppCheck

app = typer.Typer(no_args_is_help=True, help="List applications, and check how well any program can be used.")

Json = Annotated[bool, typer.Option("--json", help="Print JSON on stdout.")]
UNUSABLE = 1
HEADER = """\
| program | toolkit | start s | widgets / named | tree s | typed | restless | late | MB | notes |
|---|---|---|---|---|---|---|---|---|---|"""
MARKS = {"ok": "[green]ok[/]", "weak": "[yellow]weak[/]", "unusable": "[red]unusable[/]"}


@app.command("list")
def list_apps(as_json: Json = False) -> None:
    """List the applications that Operant and installed packages know."""
    from rich.console import Console
    from rich.table import Table

    from operant.apps import app_names, load_app

    rows = [_about(load_app(name)) for name in app_names()]
    if as_json:
        typer.echo(json.dumps(rows, indent=2))
        return
    table = Table()
    columns = ("name", "title", "toolkit", "packages", "wm_class")
    for column in columns:
        table.add_column(column.replace("_", " "), no_wrap=column == "name")
    for row in rows:
        table.add_row(*(", ".join(row[one]) if one == "packages" else row[one] for one in columns))
    Console().print(table)


@app.command()
def show(
    name: Annotated[str, typer.Argument(help="A name of `operant apps list`, or module:APP.")],
    as_json: Json = False,
) -> None:
    """Show what is known of one application: how it starts, what is read of it, and its moves."""
    from operant.apps import load_app

    about = _about(load_app(name))
    if as_json:
        typer.echo(json.dumps(about, indent=2))
        return
    import yaml

    typer.echo(yaml.safe_dump(about, sort_keys=False, allow_unicode=True, width=110))


@app.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
def check(
    command: Annotated[
        list[str], typer.Argument(help="An application's name, or any command with its arguments.")
    ],
    picture: Annotated[
        Path | None,
        FileOption(help="Where the picture goes.", show_default=f"{DATA_DIR}/pictures/NAME.png"),
    ] = None,
    timeout: Annotated[float, typer.Option(min=0.1, help="Seconds until its window must be there.")] = 20.0,
    network: Annotated[bool, typer.Option(help="Whether it reaches the machine's network.")] = False,
    as_json: Json = False,
) -> None:
    """Tell how well a program can be used: start, window, toolkit, tree, typing, settling and reset.

    Exit code 0 if an agent can use it, 1 if it can't, 2 if there is no such program.
    """
    to = picture or default_picture(Path(command[0]).name, "--picture")
    typer.echo(f"starting {shlex.join(command)}; its window may take up to {timeout:g} s", err=True)
    report = _check(command, timeout, network)
    saved = _save(report, to)
    if as_json:
        typer.echo(json.dumps({**report.as_json(), "picture": str(saved) if saved else None}, indent=2))
    else:
        _print(report, saved)
    raise typer.Exit(UNUSABLE if report.level == "unusable" else 0)


@app.command()
def survey(
    commands: Annotated[
        Path, typer.Argument(help="A file with one command a line; # begins a comment.", exists=True)
    ],
    out: Annotated[Path | None, FileOption(help="Write the results to this JSON file.")] = None,
    pictures: Annotated[
        Path | None, DirectoryOption(help="Directory for the pictures.", show_default=f"{DATA_DIR}/pictures")
    ] = None,
    timeout: Annotated[float, typer.Option(min=0.1, help="Seconds until a window must be there.")] = 40.0,
) -> None:
    """Check every command of a file, and print a table as Markdown."""
    from operant.bench.record import provenance, write_json
    from operant.config.places import place

    listed = [shlex.split(line, comments=True) for line in commands.read_text().splitlines()]
    if not any(listed):
        raise ConfigError(f"{commands} names no command", hint="write one command a line")
    origin = provenance()
    results: list[dict[str, Any]] = []
    typer.echo(HEADER)
    for command in listed:
        if not command:
            continue
        try:
            report = _check(command, timeout, network=False)
        except UnknownApplication:
            typer.echo(f"{shlex.join(command)}: not installed", err=True)
            continue
        _save(
            report,
            (pictures or place("pictures")) / f"{'-'.join(word.strip('-') for word in command[:2])}.png",
        )
        results.append(report.as_json())
        typer.echo(_row(report))
    if out is not None:
        write_json(out, {**origin, "results": results})


@app.command()
def api(
    name: Annotated[
        str | None, typer.Argument(help="An application, such as files, or a function, such as files.move.")
    ] = None,
    as_json: Json = False,
) -> None:
    """List the functions of applications that agents can call."""
    from operant.calls.catalog import built_in_apis, find_function, functions_of

    known = built_in_apis()
    one_function = name is not None and name not in known
    functions = (find_function(str(name)),) if one_function else functions_of([name] if name else known)
    if as_json:
        forms = [
            {"name": one.full_name, "signature": one.signature, "doc": one.doc, "parameters": one.schema()}
            for one in functions
        ]
        typer.echo(json.dumps(forms, indent=2))
        return
    for one in functions:
        typer.echo(one.signature)
        typer.echo("    " + (one.doc if name else one.doc.partition("\n")[0]).replace("\n", "\n    "))


@app.command("discover")
def discover_app(
    name: Annotated[str, typer.Argument(help="A name of `operant apps list`, or module:APP.")],
    as_json: Json = False,
) -> None:
    """Show what an application offers to programs: D-Bus, GTK's actions, UNO services, command line."""
    from operant.apps import load_app
    from operant.building.discovery import discover

    found = discover(load_app(name))
    typer.echo(json.dumps(found.as_json(), indent=2) if as_json else found.text())


@app.command("build")
def build_functions(
    name: Annotated[str, typer.Argument(help="A name of `operant apps list`, or module:APP.")],
    tasks: Annotated[
        Path,
        typer.Option(
            help="What agents have to do: a .yaml or .json file of tasks, or a text file with one task a line.",
            exists=True,
            dir_okay=False,
        ),
    ],
    model: Annotated[
        str, typer.Option(metavar="AGENT", help="The model: chat:MODEL, or a YAML file of one.")
    ],
    rounds: Annotated[int, typer.Option(min=1, max=10, help="Replies for one function.")] = 3,
    functions: Annotated[int, typer.Option(min=1, max=20, help="At most so many functions.")] = 8,
    max_cost: Annotated[
        float | None, typer.Option(min=0.0, help="US dollars; needs a price.", show_default="no limit")
    ] = None,
    max_tokens: Annotated[int, typer.Option(min=1, help="Tokens in and out.")] = 500_000,
    prices: Annotated[
        Path | None, typer.Option(help="A YAML file of prices.", exists=True, show_default="list prices")
    ] = None,
    as_json: Json = False,
) -> None:
    """Have a model write functions that tasks need; keep those that pass every check.

    Code of the model runs only inside fresh desktops without a network. Exit code 0 if a function was admitted, else 1.
    """
    import hashlib

    from operant.apps import load_app
    from operant.building.builder import Bounds, build
    from operant.building.discovery import discover
    from operant.building.models import example_tasks, text_model

    known, wanted = load_app(name), example_tasks(tasks)
    asked = text_model(model, prices, bounded=max_cost is not None)
    try:
        asked.preflight()
        typer.echo(f"looking at what {name} offers", err=True)
        report = build(
            known,
            asked,
            wanted,
            offer=discover(known).text(),
            bounds=Bounds(rounds, functions, max_cost, max_tokens),
            origin={
                "model": model,
                "tasks": tasks.name,
                "tasks_sha256": hashlib.sha256(tasks.read_bytes()).hexdigest(),
            },
            on_progress=lambda line: typer.echo(line, err=True),
        )
    finally:
        asked.close()
    if as_json:
        typer.echo(json.dumps(report.as_json(), indent=2))
    else:
        for one in report.functions:
            typer.echo(f"{one.name}: {one.place if one.admitted else 'not admitted'}")
            for problem in one.problems:
                typer.echo(f"    {problem}")
        typer.echo(f"{report.usage}{'; stopped: ' + report.stopped if report.stopped else ''}")
    raise typer.Exit(0 if any(one.admitted for one in report.functions) else 1)


@app.command()
def built(as_json: Json = False) -> None:
    """List the functions that models wrote and that were admitted, revoked ones too."""
    from operant.calls.admitted import stored_functions

    rows = [
        {
            "name": one.full_name,
            "state": one.state,
            "signature": one.function.signature if one.function else None,
            "model": (one.provenance or {}).get("model"),
            "place": str(one.place),
        }
        for one in stored_functions()
    ]
    if as_json:
        typer.echo(json.dumps(rows, indent=2))
        return
    for row in rows:
        typer.echo(f"{row['state']:<10} {row['signature'] or row['name']}  ({row['model']})")
    if not rows:
        typer.echo("no function was admitted yet", err=True)


@app.command("revoke")
def revoke_function(
    name: Annotated[
        str, typer.Argument(help="A function of `operant apps built`, such as mousepad.count_words.")
    ],
    reason: Annotated[str, typer.Option(help="Kept with the function.", show_default=False)] = "",
) -> None:
    """Load an admitted function no more. Its files stay with the reason."""
    from operant.calls.admitted import revoke

    done = revoke(name, reason)
    typer.echo(f"revoked {done.full_name}: {done.place}")


def _check(command: list[str], timeout: float, network: bool) -> AppCheck:
    """Check an application by its name, or any command."""
    from operant.apps import app_names, load_app
    from operant.apps.check import check_app
    from operant.config.desktop import DesktopConfig

    argv, home = list(command), {}
    if command[0] in app_names() or ":" in command[0]:
        known = load_app(command[0])
        argv, home = known.argv(*command[1:]), dict(known.home())
    return check_app(argv, home=home, config=DesktopConfig(network=network), timeout_s=timeout)


def _save(report: AppCheck, path: Path) -> Path | None:
    if report.frame is None:
        return None
    import numpy as np
    from PIL import Image

    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.ascontiguousarray(report.frame)).save(path)
    return path


def _print(report: AppCheck, picture: Path | None) -> None:
    from rich.console import Console
    from rich.markup import escape

    console = Console(highlight=False, soft_wrap=True)
    for one in report.findings:
        console.print(f"{one.check:<10} {MARKS[one.level]}  {escape(one.what)}")
        if one.hint and one.level != "ok":
            console.print(f"{'':<10} hint: {escape(one.hint)}")
    if picture is not None:
        console.print(f"{'picture':<10} {picture}")
    verdict = {"ok": "can be used", "weak": "can be used, with the limits above", "unusable": "can't be used"}
    console.print(f"{escape(' '.join(report.command))}: {verdict[report.level]}")


def _row(report: AppCheck) -> str:
    """One line of the table of a survey."""

    def shown(value: Any, unit: str = "") -> str:
        return "-" if value is None else f"{value:g}{unit}" if isinstance(value, float) else f"{value}{unit}"

    tree = "-" if report.nodes is None else f"{report.nodes} / {report.named}"
    typed = {True: "yes", False: "no", None: "-"}[report.typed]
    notes = "; ".join(f"{one.check}: {one.what}" for one in report.findings if one.level != "ok")
    cells = [shlex.join(report.command), report.toolkit or "-", shown(report.start_s), tree]
    cells += [
        shown(report.tree_s),
        typed,
        shown(report.restless),
        shown(report.late),
        shown(report.memory_mb),
    ]
    return "| " + " | ".join([*cells, notes.replace("|", "/") or "-"]) + " |"


def _about(known: App) -> dict[str, Any]:
    """What ``show`` prints of an application, from its class and its module."""
    from operant.apps.describe import moves_of, state_fields

    return {
        "name": known.name,
        "title": known.title,
        "packages": list(known.packages),
        "toolkit": known.toolkit,
        "command": list(known.command),
        "wm_class": known.wm_class,
        "accessible_name": known.accessible_name,
        "home": sorted(known.home()),
        "state": state_fields(known),
        "moves": moves_of(known),
    }
