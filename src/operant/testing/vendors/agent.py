"""A hosted agent whose model is the task's oracle, behind the vendor's real protocol.

The hosted agent is unmodified: it gets a base URL and talks HTTP. Only this wrapper sees behind the screen, to hand
the desktop and the task to the server.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from operant.agents.base import Agent, Decision, PrivilegedAgent, TaskView
from operant.testing.vendors.minds import OracleMind, Rehearsal
from operant.testing.vendors.server import VendorConversation
from operant.types import Action, Observation

if TYPE_CHECKING:
    from operant.desktop.protocol import Desktop
    from operant.tasks.task import Task

__all__ = ["OracleBehindApi"]


class OracleBehindApi(PrivilegedAgent):
    """Plays with an agent that asks the server of ``conversation``."""

    def __init__(
        self,
        conversation: VendorConversation,
        agent: Agent,
        rehearsal: Callable[[Task], Rehearsal | None] = lambda task: None,
    ) -> None:
        self.conversation = conversation
        self.agent = agent
        self.observation_type = agent.observation_type
        self.still_ms = agent.still_ms
        self.fingerprint = agent.fingerprint
        self._rehearsal = rehearsal
        self._mind: OracleMind | None = None

    def attach(self, desktop: Desktop, task: Task) -> None:
        self._mind = OracleMind(desktop, task, self._rehearsal(task))
        self.conversation.protocol.begin(self._mind)

    def begin(self, task: TaskView) -> None:
        self.agent.begin(task)

    def act(self, observation: Observation) -> Action | Decision:
        if self._mind is not None:
            self._mind.seen(observation)
        return self.agent.act(observation)

    def close(self) -> None:
        self.agent.close()
