"""A hosted agent whose model is the task's oracle, behind the vendor's real protocol.

The hosted agent is unmodified: it gets a base URL and talks HTTP. Only this wrapper sees behind the screen, to hand
the desktop and the task to the server.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from operant.agents.base import Agent, Decision, PrivilegedAgent, TaskView
from operant.testing.vendors.minds import OracleMind, Rehearsal
from operant.testing.vendors.server import Exchange, VendorConversation
from operant.types import Action, Observation

if TYPE_CHECKING:
    from operant.desktop.protocol import Desktop
    from operant.tasks.task import Task

__all__ = ["OracleBehindApi", "TurnTime"]


@dataclass(frozen=True)
class TurnTime:
    """How long one turn took, and what was exchanged meanwhile."""

    seconds: float
    exchanges: tuple[Exchange, ...]
    requests: int

    @property
    def client_s(self) -> float | None:
        """The agent's own time; None for a turn in which it also waited for a server that failed."""
        if self.requests != 1 or len(self.exchanges) != 1:
            return None
        return self.seconds - self.exchanges[0].seconds


class OracleBehindApi(PrivilegedAgent):
    """Plays with an agent that asks the server of ``conversation``."""

    def __init__(
        self,
        conversation: VendorConversation,
        agent: Agent,
        rehearsal: Callable[[Task], Rehearsal | None] = lambda task: None,
        on_close: Callable[[OracleBehindApi], None] = lambda agent: None,
    ) -> None:
        self.conversation = conversation
        self.agent = agent
        self.observation_type = agent.observation_type
        self.still_ms = agent.still_ms
        self.fingerprint = agent.fingerprint
        self._rehearsal = rehearsal
        self._on_close = on_close
        self._mind: OracleMind | None = None

        self.turns: list[TurnTime] = []
        """Of the episode."""

    def attach(self, desktop: Desktop, task: Task) -> None:
        self._mind = OracleMind(desktop, task, self._rehearsal(task))
        self.conversation.protocol.begin(self._mind)

    def preflight(self) -> None:
        self.agent.preflight()

    def begin(self, task: TaskView) -> None:
        self.turns = []
        self.agent.begin(task)

    def act(self, observation: Observation) -> Action | Decision:
        if self._mind is not None:
            self._mind.seen(observation)
        before = len(self.conversation.exchanges)
        began = time.perf_counter()
        turn = self.agent.act(observation)
        took = time.perf_counter() - began
        usage = turn.usage if isinstance(turn, Decision) else None
        self.turns.append(
            TurnTime(took, tuple(self.conversation.exchanges[before:]), usage.requests if usage else 0)
        )
        return turn

    def close(self) -> None:
        self._on_close(self)
        self.agent.close()
