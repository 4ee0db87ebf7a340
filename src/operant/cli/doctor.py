"""``operant doctor``: what is missing on this machine, and the command that fixes each.

Prints what ``operant.doctor`` finds; knows no check by name.
"""

from __future__ import annotations

import difflib
import json
from dataclasses import asdict
from typing import Annotated

import typer

from operant.doctor import Check, CheckStatus, ThisMachine, can_run, commands_of, examine, run_fixes
from operant.errors import ConfigError

app = typer.Typer()


@app.command()
def doctor(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME]...", help="Only these rows: xclip, 'extra vlm' ...", show_default="all"
        ),
    ] = None,
    fix: Annotated[
        bool, typer.Option("--fix", help="Run the commands that are printed as fixes, then look again.")
    ] = False,
    suite: Annotated[str | None, typer.Option(help="Only what a suite wants beside that: osworld.")] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help='Print {"ok": ..., "checks": [...]} for scripts.')
    ] = False,
) -> None:
    """Check every prerequisite and print the command that fixes each missing one.

    Exit code 1 if a sandboxed desktop can't run on this machine, or if one of the rows that were named is missing.
    """
    if suite is not None:
        _check_suite(suite, as_json)
        return
    checks = _chosen(examine(ThisMachine()), names)
    if fix and (commands := commands_of(checks)):
        run_fixes(commands, lambda line: typer.echo(line, err=True))
        checks = _chosen(examine(ThisMachine()), names)
    ok = not any(check.status is CheckStatus.MISSING for check in checks) if names else can_run(checks)
    if as_json:
        typer.echo(json.dumps({"ok": ok, "checks": [asdict(check) for check in checks]}, indent=2))
    else:
        _show(checks, ok, whole=not names)
    raise typer.Exit(0 if ok else 1)


def _check_suite(suite: str, as_json: bool) -> None:
    """Programs and packages that OSWorld's tasks want; what Debian lacks only costs the tasks that need it."""
    if suite.partition(":")[0] != "osworld":
        raise ConfigError(f"the doctor knows nothing of the suite {suite!r}", hint="--suite osworld")
    from operant.tasks.osworld.support import missing_parts

    missing = missing_parts()
    if as_json:
        typer.echo(json.dumps({"ok": not missing, "missing": missing}, indent=2))
    else:
        for name, advice in missing.items():
            typer.echo(f"missing  {name}: {advice}")
        typer.echo(
            "nothing is missing" if not missing else f"{len(missing)} missing; tasks that need them can't run"
        )
    raise typer.Exit(1 if missing else 0)


def _chosen(checks: list[Check], names: list[str] | None) -> list[Check]:
    if not names:
        return checks
    known = {check.name for check in checks}
    for name in names:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"rows: {', '.join(sorted(known))}"
            raise ConfigError(f"the doctor has no row {name!r}", hint=hint)
    return [check for check in checks if check.name in names]


def _show(checks: list[Check], ok: bool, *, whole: bool) -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)
    width = max(len(check.name) for check in checks)
    for check in checks:
        word, style = _word(check)
        line = Text.assemble((f"{word:8}", style), f" {check.name:{width}}  ", (check.detail, "dim"))
        # Lines are not wrapped, so that a command can be copied whole.
        console.print(line, soft_wrap=True)
        if check.fix and check.status is not CheckStatus.OK:
            console.print(Text.assemble(" " * (width + 11), ("fix: ", "bold"), check.fix), soft_wrap=True)
    if not whole:
        return
    console.print()
    if ok:
        console.print(Text("Desktops can run on this machine.", "green"))
    else:
        missing = sum(c.required and c.status is CheckStatus.MISSING for c in checks)
        console.print(Text(f"Desktops can't run on this machine yet: {missing} missing.", "bold red"))


def _word(check: Check) -> tuple[str, str]:
    if check.status is CheckStatus.MISSING:
        return ("MISSING", "bold red") if check.required else ("absent", "yellow")
    return (check.status.value, "green" if check.status is CheckStatus.OK else "yellow")
