"""Agents that always do the same: a task which they solve is known to be broken, and a service can be tried with them."""

from __future__ import annotations

from operant.agents.base import Agent
from operant.types import Action, Observation

__all__ = ["DoneAgent", "FailAgent", "NoopAgent", "TypingAgent"]

MOMENT_S = 0.1


class NoopAgent(Agent):
    """Waits, a moment at a time, until the step cap ends the episode."""

    def act(self, observation: Observation) -> Action:
        return Action.wait(MOMENT_S)


class DoneAgent(Agent):
    """Says at once that it is done."""

    def act(self, observation: Observation) -> Action:
        return Action.done()


class FailAgent(Agent):
    """Says at once that it can't be done."""

    def act(self, observation: Observation) -> Action:
        return Action.fail("this agent always gives up")


class TypingAgent(Agent):
    """Types the instruction again and again, so that there is something to see."""

    def act(self, observation: Observation) -> Action:
        return Action.type(f"{observation.instruction}\n")
