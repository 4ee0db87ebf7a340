"""An agent that answers many at once: what a service wants, because one large step is cheaper than many small.

Each answer depends on its own observation alone, so that questions of different people can be mixed.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from operant.agents.base import Agent, Decision
from operant.types import Action, Observation

__all__ = ["BatchedAgent"]


class BatchedAgent(Agent):
    """Subclass it and write ``act_all``."""

    deterministic: bool = True
    """Whether ``act`` takes the likeliest action instead of drawing one."""

    @abstractmethod
    def act_all(
        self, observations: Sequence[Observation], *, deterministic: Sequence[bool]
    ) -> list[Action | Decision]:
        """One answer for each. A ``Decision`` may tell ``confidence`` and ``value`` in its record."""

    def act(self, observation: Observation) -> Action | Decision:
        return self.act_all([observation], deterministic=[self.deterministic])[0]
