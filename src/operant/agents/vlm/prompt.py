"""What the model is asked at each step: the task, the last screens with the answers given, and this screen.

A prompt is a conversation with pictures, in the shape that chat templates and OpenAI-compatible servers take.
It is kept with what was answered, so that learning sees exactly what was seen; nothing of it is trained on.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

from operant.actions.coordinates import Units
from operant.agents.vlm.answers import can_call, explanation
from operant.calls.catalog import function_lines
from operant.calls.offer import FunctionOffer
from operant.config.vlm import PromptSettings
from operant.errors import ModelError
from operant.types import Observation, Size

__all__ = ["Conversation", "Picture", "Prompt", "as_picture", "as_shown", "offer_of"]

Picture = npt.NDArray[np.uint8]
Message = dict[str, Any]
MOST_RESULT = 2000  # characters of what a call answered
IMAGE: dict[str, Any] = {"type": "image"}


@dataclass(frozen=True, eq=False)
class Prompt:
    """A conversation that ends with the user's turn; ``images`` are its pictures in order."""

    messages: tuple[Message, ...]
    images: tuple[Picture, ...]

    @classmethod
    def of(cls, image: Picture, text: str) -> Prompt:
        """One picture and one sentence."""
        content = [IMAGE, {"type": "text", "text": text}]
        return cls(({"role": "user", "content": content},), (image,))


@dataclass(frozen=True)
class _Past:
    image: Picture
    answer: str
    note: str


class Conversation:
    """The prompts of one episode. Add each answer before asking for the next prompt."""

    def __init__(
        self, settings: PromptSettings, units: Units, instruction: str, offer: FunctionOffer | None = None
    ) -> None:
        self.settings = settings
        self.offer = offer if offer is not None and can_call(settings.action_format) else FunctionOffer()
        built_in = explanation(settings.action_format, units, self.offer.actions)
        self.system = built_in if settings.system is None else settings.system
        self.instruction = instruction
        self._past: deque[_Past] = deque()
        self._earlier: deque[str] = deque(maxlen=settings.earlier_actions)

    def prompt(self, image: Picture, observation: Observation) -> Prompt:
        """The prompt for this screen."""
        turns = [(past.image, past.note, past.answer) for past in self._past]
        # Only this screen's functions are listed: those of earlier ones are of no use any more.
        listed = self.offer.functions(observation.windows) if self.settings.list_functions else ()
        functions = function_lines(listed)
        note = self._note(observation)
        turns.append((image, f"{functions}\n{note}".strip() if functions else note, ""))
        messages: list[Message] = []
        if self.system:
            messages.append({"role": "system", "content": [{"type": "text", "text": self.system}]})
        for index, (_, note, answer) in enumerate(turns):
            text = (self._task() if index == 0 else "") + note
            content = [IMAGE, *([{"type": "text", "text": text}] if text else [])]
            messages.append({"role": "user", "content": content})
            if answer:
                messages.append({"role": "assistant", "content": [{"type": "text", "text": answer}]})
        return Prompt(tuple(messages), tuple(picture for picture, _, _ in turns))

    def add(self, image: Picture, observation: Observation, answer: str) -> None:
        """Remember what was answered to a screen."""
        if not self.settings.history:
            self._earlier.append(answer)
            return
        # An empty answer would leave two user's turns in a row, which most chat templates refuse.
        self._past.append(_Past(image, answer or "(nothing)", self._note(observation)))
        if len(self._past) > self.settings.history:
            self._earlier.append(self._past.popleft().answer)

    def record(self) -> dict[str, Any]:
        """What an episode has to keep for the same prompts to be made again: see ``offer_of``."""
        offer = self.offer
        return {} if offer.actions == "gui" else {"offered": [offer.actions, offer.everything]}

    def _task(self) -> str:
        earlier = "".join(f"{line}\n" for line in self._earlier)
        return f"Task: {self.instruction}\n" + (f"Done so far:\n{earlier}" if earlier else "")

    def _note(self, observation: Observation) -> str:
        told = observation.results[-1].text if observation.results and self.offer.actions != "gui" else ""
        result = f"Your last call answered: {told[:MOST_RESULT]}\n" if told else ""
        if not self.settings.show_progress:
            return result
        refused = f"Your last action was refused: {observation.error}\n" if observation.error else ""
        return f"{result}{refused}Step {observation.step + 1} of {observation.max_steps}."


def offer_of(record: Mapping[str, Any]) -> FunctionOffer:
    """The functions that were offered, from the record of any turn of an episode."""
    return FunctionOffer(*record.get("offered", ()))


def as_picture(given: Any) -> Picture:
    """A screenshot as an array, from an array or from a PIL picture of any mode."""
    if isinstance(given, Image.Image):
        return np.asarray(given.convert("RGB"))
    array = np.asarray(given)
    if array.dtype == np.uint8 and array.size:
        if array.ndim == 2:
            return np.repeat(array[:, :, None], 3, axis=2)
        if array.ndim == 3 and array.shape[2] in (3, 4):
            return array[:, :, :3]
    raise ModelError(
        f"an array of {array.dtype} and shape {array.shape} is no screenshot",
        hint="give a PIL picture or an array (height, width, 3) of uint8",
    )


def as_shown(screen: Picture, size: Size) -> Picture:
    """The screen at the size at which the model sees it."""
    if (screen.shape[1], screen.shape[0]) == (size.width, size.height):
        return screen
    return np.asarray(
        Image.fromarray(np.ascontiguousarray(screen)).resize((size.width, size.height), Image.Resampling.BOX)
    )
