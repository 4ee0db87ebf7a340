"""``operant doctor``: what is missing on this machine, and the command that fixes each.

Prints what ``operant.doctor`` finds; knows no check by name.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

import typer

from operant.doctor import Check, CheckStatus, ThisMachine, can_run, examine

app = typer.Typer()


@app.command()
def doctor(
    as_json: Annotated[
        bool, typer.Option("--json", help='Print {"ok": ..., "checks": [...]} for scripts.')
    ] = False,
) -> None:
    """Check every prerequisite and print the command that fixes each missing one.

    Exit code 1 if a sandboxed desktop can't run on this machine.
    """
    checks = examine(ThisMachine())
    ok = can_run(checks)
    if as_json:
        typer.echo(json.dumps({"ok": ok, "checks": [asdict(check) for check in checks]}, indent=2))
    else:
        _show(checks, ok)
    raise typer.Exit(0 if ok else 1)


def _show(checks: list[Check], ok: bool) -> None:
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
