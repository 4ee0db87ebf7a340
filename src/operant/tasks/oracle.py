"""Oracles: they show how a task is done, through the same actions that an agent has.

An oracle is asked for the next action in whatever state the desktop is in, so it can also label states that
a learner got itself into. It may look at everything (windows, widgets, files), but only acts like an agent;
it never writes the result. ``operant.apps.moves`` has what oracles are made of.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from operant.apps.view import View
from operant.errors import TaskError, WidgetMissing
from operant.types import Action, ActionMode

if TYPE_CHECKING:
    from operant.desktop.protocol import Desktop
    from operant.tasks.task import Task

__all__ = ["Oracle", "check_oracles", "next_action"]

MOST_NAMED = 5
STILL_MS = 300  # how long a screen must be still on which a widget is then really missing


class Oracle(Protocol):
    """Says the next action; ``Action.done()`` (or an answer) when there is nothing left to do."""

    def act(self, view: View) -> Action: ...


def next_action(oracle: Oracle, desktop: Desktop, last: Action | None, answer: str = "") -> Action:
    """What the oracle would do now, after the action ``last``, which answered that.

    It looks a second time if it misses a widget: an application on a busy machine may still be drawing it.
    """
    try:
        return oracle.act(View(desktop, last, answer))
    except WidgetMissing:
        desktop.settle(STILL_MS)
        return oracle.act(View(desktop, last, answer))


def check_oracles(tasks: Sequence[Task], use: str, actions: ActionMode = "gui") -> None:
    """An error if a task has no oracle to ``use`` (play, learn from) that does only what is allowed; names some."""
    without = list(dict.fromkeys(task.id for task in tasks if _oracle(task, actions) is None))
    by = "by calls alone " if actions == "api" else ""
    if without:
        raise TaskError(
            f"{len(without)} of {len({task.id for task in tasks})} tasks have no oracle {by}to {use}: "
            f"{', '.join(without[:MOST_NAMED])}",
            hint="give them one (docs/tasks.md), or choose others with --task or --only",
        )


def _oracle(task: Task, actions: ActionMode) -> Oracle | None:
    return task.oracle_for("gui" if task.gui_only else actions)
