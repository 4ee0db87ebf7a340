"""Flags about tasks that several verbs share: ``--suite`` says where tasks come from, the others pick some of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

__all__ = ["SUITE", "Limit", "Only", "Suite", "TaskIds", "suites_of", "task_ids"]

SUITE = (
    "Where tasks come from: an installed suite (core, launch ...), module:TEMPLATES, a .yaml or .json file of"
    " tasks, or several of these, separated by commas."
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
