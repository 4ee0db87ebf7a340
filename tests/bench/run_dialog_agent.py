"""An agent that opens the calculator by the run dialog and types the numbers of its instruction as a sum."""

from __future__ import annotations

import re

from operant.agents.base import Agent, TaskView
from operant.types import Action, Observation


class RunDialogAgent(Agent):
    """Knows how a full desktop works, and nothing else. Waits for each window that it needs."""

    def begin(self, task: TaskView) -> None:
        numbers = re.findall(r"\d+", task.instruction)
        self.left = [
            ("", Action.key("alt", "f2")),
            ("Run", Action.type("mate-calc")),
            ("Run", Action.key("enter")),
            *((("Calculator", Action.type("+".join(numbers))),) if numbers else ()),
            *((("Calculator", Action.key("enter")),) if numbers else ()),
            ("Calculator", Action.wait(1.0)),
        ]

    def act(self, observation: Observation) -> Action:
        if not self.left:
            return Action.done()
        window, action = self.left[0]
        if not any(window in one.title for one in observation.windows) and window:
            return Action.wait(1.0)
        self.left.pop(0)
        return action
