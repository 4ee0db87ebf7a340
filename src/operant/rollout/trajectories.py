"""Trajectories: a view of episodes that a vision-language model played, as what learning needs of them.

The prompts are made again from what was observed, with the settings that the model was asked under. Token ids,
log-probabilities and versions of the weights are in the steps' records, since they can't be made again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from operant.agents.vlm.answers import Answers
from operant.agents.vlm.prompt import Conversation, as_shown, offer_of
from operant.agents.vlm.trajectory import Generation, Turn
from operant.errors import ResultsError
from operant.types import ActionResult, Size

if TYPE_CHECKING:
    from operant.agents.vlm.families import Units
    from operant.config.vlm import PromptSettings
    from operant.rollout.episode import Episode, Step

__all__ = ["turns_of"]


def turns_of(
    episode: Episode, prompt: PromptSettings, units: Units, shown: Callable[[Size], Size]
) -> list[Turn]:
    """The turns of an episode as the agent kept them while it played, without rewards.

    ``units`` and ``shown`` are those of the model. ``ResultsError`` for an episode without token ids.
    """
    form = prompt.action_format
    offer = offer_of(episode.steps[0].record) if episode.steps else None
    conversation = Conversation(prompt, units, episode.instruction, offer)
    before: Step | None = None
    answers: Answers | None = None
    turns: list[Turn] = []
    for step, observation in zip(episode.steps, episode.observations(), strict=False):
        if step.record.get("continued"):
            before = step
            continue  # an answer with several actions
        if before is not None and before.action is not None:
            done = ActionResult(before.action, text=str(before.info.get("result", "")))
            observation = replace(observation, results=(done,))
        before = step
        if answers is None:
            height, width = observation.screen.shape[:2]
            answers = Answers(form, units, shown(Size(width, height)))
        image = as_shown(observation.screen, answers.shown)
        asked = conversation.prompt(image, observation)
        conversation.add(image, observation, step.response)
        turns.append(Turn(asked, _generation(episode, step.response, step.record), step.action is not None))
    return turns


def _generation(episode: Episode, text: str, record: Mapping[str, Any]) -> Generation:
    try:
        return Generation.of_record(text, record)
    except KeyError as error:
        raise ResultsError(
            f"{episode.directory}: a step without {error}",
            hint="only episodes of the agent vlm can be learned from as trajectories",
        ) from error
