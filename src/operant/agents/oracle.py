"""The oracle as an agent: asks the task's own oracle, which sees the desktop from inside."""

from __future__ import annotations

from typing import TYPE_CHECKING

from operant.agents.base import PrivilegedAgent
from operant.errors import AgentError
from operant.tasks.oracle import next_action
from operant.types import Action, Observation

if TYPE_CHECKING:
    from operant.desktop.protocol import Desktop
    from operant.tasks.task import Task

__all__ = ["OracleAgent"]


class OracleAgent(PrivilegedAgent):
    """Shows how each task is done, through the actions that every agent has."""

    def __init__(self) -> None:
        self._desktop: Desktop | None = None
        self._task: Task | None = None

    def attach(self, desktop: Desktop, task: Task) -> None:
        if task.oracle is None:
            raise AgentError(f"{task.id} has no oracle", hint="tasks of a suite have one")
        self._desktop, self._task = desktop, task

    def act(self, observation: Observation) -> Action:
        if self._desktop is None or self._task is None or self._task.oracle is None:
            raise AgentError("the oracle was not attached to a desktop")
        return next_action(self._task.oracle, self._desktop, observation.last_action)

    def close(self) -> None:
        self._desktop = self._task = None
