"""Oracles: they show how a task is done, through the same actions that an agent has.

An oracle is asked for the next action in whatever state the desktop is in, so it can also label states that
a learner got itself into. It may look at everything (windows, widgets, files), but only acts like an agent;
it never writes the result. ``operant.apps.moves`` has what oracles are made of.
"""

from __future__ import annotations

from typing import Protocol

from operant.apps.view import View
from operant.types import Action

__all__ = ["Oracle"]


class Oracle(Protocol):
    """Says the next action; ``Action.done()`` (or an answer) when there is nothing left to do."""

    def act(self, view: View) -> Action: ...
