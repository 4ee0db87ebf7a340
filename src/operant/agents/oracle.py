"""The oracle as an agent: asks the task's own oracle, which sees the desktop from inside."""

from __future__ import annotations

from typing import TYPE_CHECKING

from operant.agents.base import PrivilegedAgent
from operant.errors import AgentError
from operant.tasks.oracle import next_action
from operant.types import Action, Observation

if TYPE_CHECKING:
    from operant.desktop.protocol import Desktop
    from operant.tasks.oracle import Oracle
    from operant.tasks.task import Task

__all__ = ["OracleAgent"]


class OracleAgent(PrivilegedAgent):
    """Shows how each task is done, through the actions that an agent may take on that desktop."""

    def __init__(self) -> None:
        self._desktop: Desktop | None = None
        self._oracle: Oracle | None = None

    def attach(self, desktop: Desktop, task: Task) -> None:
        actions = task.actions_on(desktop)
        oracle = task.oracle_for(actions)
        if oracle is None:
            by = " that only calls functions" if actions == "api" else ""
            raise AgentError(
                f"{task.id} has no oracle{by}", hint="tasks of a suite have one for --actions gui"
            )
        self._desktop, self._oracle = desktop, oracle

    def act(self, observation: Observation) -> Action:
        if self._desktop is None or self._oracle is None:
            raise AgentError("the oracle was not attached to a desktop")
        return next_action(self._oracle, self._desktop, observation.last_action, observation.answer)

    def close(self) -> None:
        self._desktop = self._oracle = None
