"""An agent that opens the calculator by the run dialog and types the first sum of its instruction."""

from __future__ import annotations

import re

from operant.agents.base import Agent
from operant.types import Action, Observation


class RunDialogAgent(Agent):
    """Knows how a full desktop works, and nothing else."""

    def act(self, observation: Observation) -> Action:
        numbers = re.findall(r"\d+", observation.instruction)
        todo = [Action.key("alt", "f2"), Action.type("mate-calc"), Action.key("enter"), Action.wait(1.0)]
        if numbers:
            todo += [Action.type("+".join(numbers)), Action.key("enter"), Action.wait(0.5)]
        return todo[observation.step] if observation.step < len(todo) else Action.done()
