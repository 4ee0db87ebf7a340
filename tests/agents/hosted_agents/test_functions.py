"""What hosted models are told of functions that they may call."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from operant.agents.base import TaskView
from operant.agents.hosted.agent import HostedAgent
from operant.agents.hosted.base import CallResult, Dialogue, ModelReply, Seen
from operant.config.hosted import HostedSettings
from operant.types import ActionMode, Observation, Point, Size, Window

WINDOW = Window(1, "a", "Mousepad", None, 0, 0, 10, 10, focused=True)


class Deaf(Dialogue):
    """Keeps what it was shown, and says that the task is done."""

    def begin(self, instruction: str, shown: Size, seen: Seen) -> None:
        self.seen = seen

    def answer(self, results: Sequence[CallResult], seen: Seen) -> None: ...

    def remark(self, why: str, seen: Seen) -> None: ...

    def send(self, timeout_s: float) -> ModelReply:
        return ModelReply(text="done")

    def look_up(self, timeout_s: float) -> None: ...


def told(actions: ActionMode, *, can_call: bool = True, everything: bool = False) -> str:
    settings = HostedSettings(vendor="chat", model="m")
    dialogue = Deaf(settings, "")
    dialogue.calls_by = "words" if can_call else ""
    agent = HostedAgent(settings, dialogue)
    agent.begin(TaskView("Do it.", 5, Size(64, 64), actions=actions, all_functions=everything))
    screen = np.zeros((64, 64, 3), np.uint8)
    agent.act(Observation(screen, "Do it.", 0, 5, Point(0.5, 0.5), windows=(WINDOW,)))
    return dialogue.seen.text


def test_models_that_have_words_for_calls_are_told_of_functions() -> None:
    assert told("gui") == ""
    assert told("both", can_call=False) == ""
    focused = told("both")
    assert "mousepad.save() -> str: Save the document to its file." in focused
    assert "files.move(" in focused
    assert "galculator.calculate" not in focused
    assert "galculator.calculate" in told("api", everything=True)
