"""The conversation of an episode: which screens and answers the model is reminded of."""

from __future__ import annotations

import numpy as np

from operant.agents.vlm.prompt import Conversation, Prompt, as_shown
from operant.config.vlm import PromptSettings
from operant.types import Observation, Point, Size


def picture(value: int) -> np.ndarray:
    return np.full((10, 16, 3), value, np.uint8)


def seen(step: int, error: str | None = None) -> Observation:
    return Observation(picture(step), "Save it.", step, 9, Point(0, 0), error=error)


def ask(settings: PromptSettings, steps: int, error: str | None = None) -> Prompt:
    conversation = Conversation(settings, "the format", "Save it.")
    for step in range(steps):
        conversation.add(picture(step), seen(step), f"answer {step}")
    return conversation.prompt(picture(steps), seen(steps, error))


def said(prompt: Prompt) -> str:
    return "|".join(
        f"{message['role']}:" + "".join(part.get("text", "#") for part in message["content"])
        for message in prompt.messages
    )


def test_the_first_prompt_has_the_format_the_task_and_the_screen() -> None:
    prompt = ask(PromptSettings(), 0)
    assert said(prompt) == "system:the format|user:#Task: Save it.\nStep 1 of 9."
    assert len(prompt.images) == 1


def test_the_last_k_screens_come_with_their_answers_and_the_rest_as_text() -> None:
    prompt = ask(PromptSettings(history=2, system=""), 4)
    assert said(prompt) == (
        "user:#Task: Save it.\nDone so far:\nanswer 0\nanswer 1\nStep 3 of 9.|assistant:answer 2"
        "|user:#Step 4 of 9.|assistant:answer 3|user:#Step 5 of 9."
    )
    assert [int(image[0, 0, 0]) for image in prompt.images] == [2, 3, 4]


def test_without_history_there_is_one_screen() -> None:
    prompt = ask(PromptSettings(history=0, earlier_actions=1, system="", show_progress=False), 3)
    assert said(prompt) == "user:#Task: Save it.\nDone so far:\nanswer 2\n"
    assert len(prompt.images) == 1


def test_a_refused_action_is_told() -> None:
    assert "refused: off the screen\nStep 2" in said(ask(PromptSettings(), 1, "off the screen"))


def test_screens_are_shown_at_the_asked_for_size() -> None:
    assert as_shown(picture(7), Size(8, 5)).shape == (5, 8, 3)
    same = picture(7)
    assert as_shown(same, Size(16, 10)) is same
