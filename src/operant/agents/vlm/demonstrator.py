"""An oracle whose steps are written down as the model should have answered them: data for a cold start.

What is performed is what the answer says, not what the oracle meant: a demonstration that succeeds proves that
its format and its coordinates are good enough for the task.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from operant.agents.base import Decision, PrivilegedAgent, TaskView
from operant.agents.oracle import OracleAgent
from operant.agents.vlm.answers import Answers
from operant.agents.vlm.families import Units
from operant.agents.vlm.prompt import Conversation, as_shown
from operant.agents.vlm.trajectory import Generation, Turn
from operant.config.vlm import PromptSettings
from operant.errors import AgentError
from operant.types import Observation, Size

if TYPE_CHECKING:
    from operant.desktop.protocol import Desktop
    from operant.tasks.task import Task

__all__ = ["Demonstrator"]


class Demonstrator(PrivilegedAgent):
    """Plays with a task's oracle and keeps ``turns`` of prompts and answers.

    ``shown`` and ``units`` are those of the model that shall learn, ``tokens`` its tokenizer.
    """

    def __init__(
        self,
        prompt: PromptSettings,
        units: Units,
        shown: Callable[[Size], Size],
        tokens: Callable[[str], list[int]],
    ) -> None:
        self.prompt = prompt
        self.units = units
        self.shown = shown
        self.tokens = tokens
        self.turns: list[Turn] = []
        self._oracle = OracleAgent()
        self._answers: Answers | None = None
        self._conversation: Conversation | None = None

    def attach(self, desktop: Desktop, task: Task) -> None:
        self._oracle.attach(desktop, task)

    def begin(self, task: TaskView) -> None:
        self._answers = Answers(self.prompt.action_format, self.units, self.shown(task.screen))
        self._conversation = Conversation(self.prompt, self.units, task.instruction, task.offer)
        self.turns = []

    def act(self, observation: Observation) -> Decision:
        if self._answers is None or self._conversation is None:
            raise AgentError("no task has begun")
        text = self._answers.render(self._oracle.act(observation))
        said = self._answers.parse(text)
        if len(said) != 1:
            raise AgentError(f"the oracle's action takes more than one step in {self.prompt.action_format}")
        image = as_shown(observation.screen, self._answers.shown)
        prompt = self._conversation.prompt(image, observation)
        self._conversation.add(image, observation, text)
        answer = Generation(text, tuple(self.tokens(text)), (), ())
        self.turns.append(Turn(prompt, answer))
        return Decision((said[0],), text, record={**answer.record(), **self._conversation.record()})

    def close(self) -> None:
        self._oracle.close()
