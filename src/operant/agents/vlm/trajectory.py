"""What learning needs of an episode: for each turn the prompt, the sampled tokens and how likely they were.

Token ids are the ones that were sampled; text is for people. Each token knows the version of the weights that
drew it. How episodes are played and kept is the business of ``operant.rollout``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from operant.agents.vlm.prompt import Picture, Prompt
from operant.types import Outcome

__all__ = ["Generation", "Trajectory", "Turn"]


@dataclass(frozen=True)
class Generation:
    """One answer of a model."""

    text: str
    token_ids: tuple[int, ...]
    log_probs: tuple[float, ...]
    """Of each token, at the temperature and under the suppression it was drawn with."""
    versions: tuple[int, ...]
    """Of the weights that drew each token."""
    finished: bool = True
    """It said that it was done; otherwise the limit of tokens cut it off."""

    def record(self) -> dict[str, Any]:
        """What a step of an episode keeps of it besides its text: all that can't be made again."""
        return {
            "token_ids": list(self.token_ids),
            "log_probs": list(self.log_probs),
            "versions": list(self.versions),
            "finished": self.finished,
        }

    @classmethod
    def of_record(cls, text: str, record: Mapping[str, Any]) -> Generation:
        """``KeyError`` if the step was not a model's."""
        return cls(
            text,
            tuple(record["token_ids"]),
            tuple(record["log_probs"]),
            tuple(record["versions"]),
            bool(record["finished"]),
        )


@dataclass(frozen=True, eq=False)
class Turn:
    """One question and its answer."""

    prompt: Prompt
    answer: Generation
    valid: bool = True
    """The answer was an action that could be performed."""
    reward: float = 0.0


@dataclass(frozen=True, eq=False)
class Trajectory:
    """One episode's turns. ``group`` names rollouts of the same task instance under the same policy."""

    task: str
    turns: tuple[Turn, ...]
    outcome: Outcome
    group: str = ""
    seed: int = 0
    id: str = ""
    """Names the episode wherever it goes, so that nothing is trained on twice."""
    info: dict[str, float] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.turns)

    def total_reward(self) -> float:
        return sum(turn.reward for turn in self.turns)

    @property
    def instance(self) -> str:
        """The task with its seed: what stays the same over groups of later versions."""
        return f"{self.task}#{self.seed}"

    @property
    def success(self) -> bool:
        return self.outcome is Outcome.SUCCESS

    @property
    def oldest_version(self) -> int:
        """The oldest weights that had a part in it; 0 for an episode without a token."""
        return min((version for turn in self.turns for version in turn.answer.versions), default=0)

    def with_rewards(self, rewards: list[float]) -> Trajectory:
        """The same with other rewards, one for each turn."""
        turns = [replace(turn, reward=reward) for turn, reward in zip(self.turns, rewards, strict=True)]
        return replace(self, turns=tuple(turns))

    # To be kept: plain values, and each picture once.

    def plain(self) -> dict[str, Any]:
        """Values that JSON can hold, and under ``images`` the pictures that turns refer to by number."""
        images: dict[int, Picture] = {}
        for turn in self.turns:
            images |= {id(image): image for image in turn.prompt.images}
        numbers = {key: number for number, key in enumerate(images)}
        return {
            "task": self.task,
            "outcome": self.outcome.value,
            "group": self.group,
            "seed": self.seed,
            "id": self.id,
            "info": dict(self.info),
            "turns": [_plain(turn, numbers) for turn in self.turns],
            "images": list(images.values()),
        }

    @classmethod
    def from_plain(cls, form: Mapping[str, Any]) -> Trajectory:
        turns = tuple(_turn(turn, form["images"]) for turn in form["turns"])
        outcome = Outcome(form["outcome"])
        return cls(form["task"], turns, outcome, form["group"], form["seed"], form["id"], dict(form["info"]))


def _plain(turn: Turn, numbers: Mapping[int, int]) -> dict[str, Any]:
    return {
        "messages": list(turn.prompt.messages),
        "images": [numbers[id(image)] for image in turn.prompt.images],
        "text": turn.answer.text,
        **turn.answer.record(),
        "valid": turn.valid,
        "reward": turn.reward,
    }


def _turn(form: Mapping[str, Any], images: Sequence[Picture]) -> Turn:
    answer = Generation.of_record(form["text"], form)
    prompt = Prompt(tuple(form["messages"]), tuple(images[number] for number in form["images"]))
    return Turn(prompt, answer, form["valid"], form["reward"])
