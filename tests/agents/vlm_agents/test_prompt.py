"""The conversation of an episode: which screens and answers the model is reminded of."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from operant.actions.coordinates import Units
from operant.agents.vlm.answers import Answers
from operant.agents.vlm.prompt import Conversation, Prompt, as_shown
from operant.calls.offer import FunctionOffer
from operant.config.vlm import AnswerFormat, PromptSettings
from operant.types import Action, ActionResult, Observation, Point, Size, Window


def picture(value: int) -> np.ndarray:
    return np.full((10, 16, 3), value, np.uint8)


def seen(step: int, error: str | None = None) -> Observation:
    return Observation(picture(step), "Save it.", step, 9, Point(0, 0), error=error)


def ask(
    settings: PromptSettings, steps: int, error: str | None = None, offer: FunctionOffer | None = None
) -> Prompt:
    conversation = Conversation(settings, Units.THOUSANDTHS, "Save it.", offer)
    for step in range(steps):
        conversation.add(picture(step), seen(step), f"answer {step}")
    return conversation.prompt(picture(steps), seen(steps, error))


def said(prompt: Prompt) -> str:
    return "|".join(
        f"{message['role']}:" + "".join(part.get("text", "#") for part in message["content"])
        for message in prompt.messages
    )


def test_the_first_prompt_has_the_format_the_task_and_the_screen() -> None:
    prompt = ask(PromptSettings(system="the format"), 0)
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


@pytest.mark.parametrize(
    ("format", "example"),
    [
        (
            "json",
            '{"kind": "call", "function": "files.rename", "kwargs": {"path": "a.txt", "name": "b.txt"}}',
        ),
        ("computer_rl_visual", "Files.rename(path='a.txt', name='b.txt')"),
    ],
)
def test_functions_are_listed_with_this_screen_only(format: AnswerFormat, example: str) -> None:
    settings = PromptSettings(action_format=format)
    conversation = Conversation(settings, Units.THOUSANDTHS, "Save it.", FunctionOffer("both"))
    editor = Window(1, "a", "Mousepad", None, 0, 0, 10, 10, focused=True)
    first = replace(seen(0), windows=(editor,))
    told = said(conversation.prompt(picture(0), first))
    assert example in told
    assert "mousepad.save() -> str: Save the document to its file." in told
    assert "files.move(source: str, target: str" in told
    assert "galculator" not in told
    conversation.add(picture(0), first, example)
    assert Answers(format, Units.THOUSANDTHS, Size(16, 10)).parse(example) == [
        Action.call("files.rename", {"path": "a.txt", "name": "b.txt"})
    ]
    done = ActionResult(Action.call("files.find"), text="a.txt")
    later = said(conversation.prompt(picture(1), replace(seen(1), results=(done,))))
    assert "mousepad.save" not in later
    assert later.count("files.move(") == 1
    assert "Your last call answered: a.txt\nStep 2 of 9." in later


def test_no_functions_are_listed_where_none_can_be_called() -> None:
    without = said(ask(PromptSettings(), 0))
    assert "call" not in without
    assert said(ask(PromptSettings(), 0, offer=FunctionOffer("gui"))) == without
    assert "Call functions" not in said(
        ask(PromptSettings(action_format="ui_tars"), 0, offer=FunctionOffer("api"))
    )
    assert "nothing else, such as" in said(ask(PromptSettings(), 0, offer=FunctionOffer("api")))
