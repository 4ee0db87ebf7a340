"""Agents that stand in for trained ones: they answer many at once, fail on demand, or take their time."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence

import numpy as np

from operant.agents.base import Agent, Decision
from operant.agents.batched import BatchedAgent
from operant.service.inference.models import Model
from operant.service.inference.predictor import AgentPredictor, Predictor
from operant.types import Action, Observation, Point


class Brightest(BatchedAgent):
    """Clicks the brightest pixel; remembers how many it was asked at once."""

    fingerprint = "brightest-1"
    parameter_count = 7

    def __init__(self, delay_s: float = 0.0) -> None:
        self.batches: list[int] = []
        self.delay_s = delay_s
        self.closed = False

    def act_all(
        self, observations: Sequence[Observation], *, deterministic: Sequence[bool]
    ) -> list[Action | Decision]:
        assert not self.closed
        self.batches.append(len(observations))
        time.sleep(self.delay_s)
        if any("poison" in one.instruction for one in observations):
            raise RuntimeError("spoiled")
        return [self._one(one) for one in observations]

    def _one(self, seen: Observation) -> Decision:
        light = seen.screen.sum(axis=2)
        height, width = light.shape
        y, x = np.unravel_index(int(light.argmax()), light.shape)
        point = Point((int(x) + 0.5) / width, (int(y) + 0.5) / height)
        return Decision((Action.click(point),), record={"log_prob": -0.5, "value": 0.25})

    def close(self) -> None:
        self.closed = True


class Waiting(Agent):
    """Waits before each action until it is let go."""

    def __init__(self, gate: threading.Event) -> None:
        self.gate = gate

    def act(self, observation: Observation) -> Action:
        self.gate.wait(10.0)
        return Action.wait(0.01)


class Typist(Agent):
    """Types the instruction, then says that it is done."""

    def act(self, observation: Observation) -> Action:
        return Action.type(observation.instruction) if observation.step == 0 else Action.done()


def always(agent: type[Agent] | None = None, **kwargs: object) -> object:
    """Predictors that are all of one kind, whatever they are called."""

    def make(model: Model) -> Predictor:
        return AgentPredictor(model.name, lambda: (agent or Brightest)(**kwargs))  # type: ignore[arg-type]

    return make
