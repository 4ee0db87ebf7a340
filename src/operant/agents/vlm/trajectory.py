"""What learning needs of an episode: for each turn the prompt, the sampled tokens and how likely they were.

Token ids are the ones that were sampled; text is for people. Each token knows the version of the weights that
drew it. How episodes are played and kept is the business of ``operant.rollout``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from operant.agents.vlm.prompt import Prompt
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

    # For checkpoints: plain values and numpy arrays.

    def plain(self) -> dict[str, Any]:
        return {
            "task": self.task,
            "outcome": self.outcome.value,
            "group": self.group,
            "seed": self.seed,
            "id": self.id,
            "info": dict(self.info),
            "turns": [
                {
                    "messages": list(turn.prompt.messages),
                    "images": list(turn.prompt.images),
                    "text": turn.answer.text,
                    "token_ids": list(turn.answer.token_ids),
                    "log_probs": list(turn.answer.log_probs),
                    "versions": list(turn.answer.versions),
                    "finished": turn.answer.finished,
                    "valid": turn.valid,
                    "reward": turn.reward,
                }
                for turn in self.turns
            ],
        }

    @classmethod
    def from_plain(cls, form: Mapping[str, Any]) -> Trajectory:
        turns = [
            Turn(
                Prompt(tuple(turn["messages"]), tuple(turn["images"])),
                Generation(
                    turn["text"],
                    tuple(turn["token_ids"]),
                    tuple(turn["log_probs"]),
                    tuple(turn["versions"]),
                    turn["finished"],
                ),
                turn["valid"],
                turn["reward"],
            )
            for turn in form["turns"]
        ]
        return cls(
            form["task"],
            tuple(turns),
            Outcome(form["outcome"]),
            form["group"],
            form["seed"],
            form["id"],
            dict(form["info"]),
        )
