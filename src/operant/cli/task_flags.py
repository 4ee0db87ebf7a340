"""Flags about tasks that several verbs share: ``--suite`` says where tasks come from, ``--tasks`` picks some of them."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = ["SUITE", "Suite", "TaskIds", "task_ids"]

SUITE = (
    "Where tasks come from: an installed suite (core, launch ...), module:TEMPLATES, a .yaml or .json file of"
    " tasks, or several of these, separated by commas."
)
Suite = Annotated[str, typer.Option(help=SUITE)]
TaskIds = Annotated[str | None, typer.Option(help="Only these tasks of the suite: ids, separated by commas.")]


def task_ids(given: str | None) -> list[str] | None:
    """What ``--tasks`` names; None where it was not given."""
    return None if given is None else [one.strip() for one in given.split(",") if one.strip()]
