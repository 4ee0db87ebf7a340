"""Agents that are not trained but cost what trained ones cost: for benchmarks and for trying a service out.

numpy only, so that a service without PyTorch can be measured too.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from operant.agents.base import Agent, Decision
from operant.agents.batched import BatchedAgent
from operant.types import Action, Observation, Point

__all__ = ["StandInAgent", "TypingAgent"]

SEEN = (48, 80)  # rows and columns that the network sees of a screen
HIDDEN = 512
PLACES = (10, 16)


class StandInAgent(BatchedAgent):
    """A network of two layers and six million fixed random weights that clicks somewhere on a grid."""

    fingerprint = "stand-in-1"

    def __init__(self) -> None:
        random = np.random.default_rng(0)
        inputs, outputs = SEEN[0] * SEEN[1] * 3, PLACES[0] * PLACES[1]
        scale = np.float32(1 / np.sqrt(inputs))
        self._first = random.standard_normal((inputs, HIDDEN), np.float32) * scale
        self._second = random.standard_normal((HIDDEN, outputs), np.float32) / np.float32(np.sqrt(HIDDEN))
        self._value = random.standard_normal((HIDDEN, 1), np.float32) / np.float32(np.sqrt(HIDDEN))
        self.parameter_count = self._first.size + self._second.size + self._value.size
        self._random = random

    def act_all(
        self, observations: Sequence[Observation], *, deterministic: Sequence[bool]
    ) -> list[Action | Decision]:
        seen = np.stack([_look(one.screen) for one in observations])
        hidden = np.maximum(seen @ self._first, 0)
        scores = hidden @ self._second
        chances = np.exp(scores - scores.max(axis=1, keepdims=True))
        chances /= chances.sum(axis=1, keepdims=True)
        values = (hidden @ self._value)[:, 0]
        return [
            self._choose(chance, float(value), sure)
            for chance, value, sure in zip(chances, values, deterministic, strict=True)
        ]

    def _choose(self, chances: npt.NDArray[np.float32], value: float, sure: bool) -> Decision:
        place = (
            int(chances.argmax())
            if sure
            else int(self._random.choice(len(chances), p=chances / chances.sum()))
        )
        row, column = divmod(place, PLACES[1])
        point = Point((column + 0.5) / PLACES[1], (row + 0.5) / PLACES[0])
        return Decision(Action.click(point), record={"confidence": float(chances[place]), "value": value})


def _look(screen: npt.NDArray[np.uint8]) -> npt.NDArray[np.float32]:
    """The screen as the network sees it: every so many pixels."""
    rows = np.linspace(0, screen.shape[0] - 1, SEEN[0]).astype(int)
    columns = np.linspace(0, screen.shape[1] - 1, SEEN[1]).astype(int)
    seen: npt.NDArray[np.float32] = screen[rows[:, None], columns].astype(np.float32) / 255 - 0.5
    return seen.reshape(-1)


class TypingAgent(Agent):
    """Types the instruction again and again, so that there is something to see."""

    def act(self, observation: Observation) -> Action:
        return Action.type(observation.instruction + "\n" if observation.step % 20 else "\n")
