"""Agents that always do the same: a task which they solve is known to be broken, and a service can be tried with them."""

from __future__ import annotations

from operant.agents.base import Agent
from operant.types import Action, Observation

__all__ = ["DoneAgent", "FailAgent", "NoopAgent", "TypingAgent"]

MOMENT_S = 0.1
WORDS = 8  # in a line


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
    """Types the words of the instruction again and again, eight a line, so that there is always something to see."""

    def act(self, observation: Observation) -> Action:
        words = observation.instruction.split() or ["word"]
        word = words[observation.step % len(words)]
        return Action.type(f"{word}\n" if observation.step % WORDS == WORDS - 1 else f"{word} ")
