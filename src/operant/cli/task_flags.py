"""Flags about tasks that several verbs share: ``--suite`` says where tasks come from, the others pick some of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

__all__ = [
    "SUITE",
    "Cache",
    "Class",
    "Domain",
    "Limit",
    "Meta",
    "Only",
    "Suite",
    "TaskIds",
    "osworld_suite",
    "suites_of",
    "task_ids",
]

SUITE = (
    "Where tasks come from: an installed suite (core, launch ...), module:TEMPLATES, a .yaml or .json file of"
    " tasks, osworld:PATH (a checkout of OSWorld), or several of these, separated by commas."
)
Suite = Annotated[str, typer.Option(help=SUITE)]
TaskIds = Annotated[
    list[str] | None,
    typer.Option(
        "--task",
        "--tasks",
        metavar="ID",
        help="Only this task of the suite. Several: repeat it, or separate ids by commas.",
        show_default="all",
    ),
]
Only = Annotated[
    str,
    typer.Option(metavar="TEXT", help="Only tasks whose id contains this.", show_default="all"),
]
Limit = Annotated[
    int | None,
    typer.Option(min=1, metavar="N", help="At most so many tasks, the first by id.", show_default="all"),
]

# Which tasks of a checkout of OSWorld.
PANEL = "OSWorld"
Meta = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Meta file that lists tasks, such as test_small.json.",
        show_default="test_all.json",
        rich_help_panel=PANEL,
    ),
]
Domain = Annotated[
    str | None,
    typer.Option(
        metavar="NAMES",
        help="Only these domains, such as os,vlc.",
        show_default="all",
        rich_help_panel=PANEL,
    ),
]
Class = Annotated[
    str | None,
    typer.Option(
        "--class",
        metavar="LETTERS",
        help="Only tasks that need: nothing (Z), cached files (A), a package (P), the web (N1, N2); or that are infeasible (I).",
        show_default="all",
        rich_help_panel=PANEL,
    ),
]
Cache = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Files that its tasks download, in OSWorld's layout.",
        show_default="cache",
        rich_help_panel=PANEL,
    ),
]


def osworld_suite(
    suite: str | None, meta: str | None, domain: str | None, classes: str | None, cache: Path | None
) -> str | None:
    """The suite with these choices as part of its name; an error where it is not one of OSWorld."""
    options = {
        "meta": meta,
        "domain": domain,
        "class": classes,
        "cache": None if cache is None else str(cache),
    }
    if not any(options.values()):
        return suite
    if suite is None or not suite.startswith("osworld:") or "," in suite:
        raise typer.BadParameter(
            "these choose tasks of --suite osworld:PATH", param_hint="--meta / --domain / --class / --cache"
        )
    from operant.tasks.osworld.template import with_options

    return with_options(suite, options)


def task_ids(given: Sequence[str] | None) -> list[str] | None:
    """The ids that ``--task`` names, each once; None where it was not given."""
    if not given:
        return None
    return list(dict.fromkeys(one.strip() for part in given for one in part.split(",") if one.strip()))


def suites_of(ids: Sequence[str] | None) -> str | None:
    """The suites that ids such as ``core/files-copy-v1`` name; None where one names none."""
    if not ids or not all("/" in one for one in ids):
        return None
    return ",".join(dict.fromkeys(one.partition("/")[0] for one in ids))
