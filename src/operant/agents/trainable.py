"""What a policy must offer to be trained: sample actions with their log-probabilities, and judge old ones.

Observations and actions are dictionaries of tensors, batch first, exactly as the policy's own coder wrote
them; the trainer stores and slices them without knowing what is inside. ``screens`` are the full-size
frames behind the observations, for policies that look at a part of them more closely once they know where;
whatever a policy took from them must be in the actions, so that ``judge`` needs no frames.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

__all__ = [
    "Arrays",
    "Augmentation",
    "ImitablePolicy",
    "Judged",
    "Sampled",
    "Screens",
    "Tensors",
    "TrainablePolicy",
]

Arrays = dict[str, npt.NDArray[Any]]
Tensors = dict[str, Tensor]
Screens = Sequence[npt.NDArray[np.uint8]]


@dataclass(frozen=True)
class Sampled:
    """Actions for a batch of observations, with what learning wants to know of them."""

    actions: Tensors
    log_prob: Tensor
    """(batch,): the sum over the heads that each action uses."""
    value: Tensor
    """(batch,)"""


@dataclass(frozen=True)
class Judged:
    """What the policy thinks now of actions that were taken earlier. Gradients flow."""

    log_prob: Tensor
    value: Tensor
    entropy: Tensors = field(default_factory=dict)
    """head -> (batch,): 0 where the action did not use that head."""


class TrainablePolicy(nn.Module, ABC):
    """An actor and a critic in one module."""

    @property
    @abstractmethod
    def critic(self) -> nn.Module:
        """What only the critic uses: (batch, n) of ``summarise`` -> (batch, 1)."""

    @abstractmethod
    def sample(
        self,
        observations: Tensors,
        screens: Screens | None = None,
        *,
        deterministic: bool = False,
        generator: torch.Generator | None = None,
    ) -> Sampled:
        """Choose actions; no gradients."""

    @abstractmethod
    def judge(self, observations: Tensors, actions: Tensors) -> Judged:
        """Log-probability, value and entropy of given actions."""

    @abstractmethod
    def summarise(self, observations: Tensors) -> Tensor:
        """(batch, n): what the critic goes by."""

    def lengths(self, observations: Tensors) -> Tensor | None:
        """(batch,): how long each row is, if a batch costs as much as its longest; the trainer sorts by it."""
        return None

    def value(self, observations: Tensors) -> Tensor:
        """(batch,): what the critic expects from here."""
        value: Tensor = self.critic(self.summarise(observations))[:, 0]
        return value.float()

    @abstractmethod
    def to_environment(self, actions: Tensors) -> list[Any]:
        """What an environment's ``step`` or ``send`` takes, one for each row."""


class Augmentation(Protocol):
    """Changes lessons so that more can be learned from the same ones."""

    def note(self, task: str, arrays: Arrays) -> None:
        """Learn of an episode's lessons before any is changed."""

    def apply(self, tasks: Sequence[str], batch: Arrays, random: np.random.Generator) -> None:
        """Change some rows of a batch in place; ``tasks`` are those of the rows."""


class ImitablePolicy(TrainablePolicy):
    """A policy that can be cloned from lessons, whose arrays only it understands.

    The arrays of an episode are those of ``operant.rollout.lessons``: ``seen.*``, ``label.*``, ``patch``.
    """

    @property
    @abstractmethod
    def device(self) -> torch.device: ...

    @abstractmethod
    def lesson_lengths(self, lessons: Arrays) -> npt.NDArray[np.int64]:
        """(lessons,): how long each is, since a batch costs as much as its longest."""

    @abstractmethod
    def augmentation(self) -> Augmentation | None:
        """How lessons may be changed; None if in no way."""

    @abstractmethod
    def lesson_batch(self, lessons: Arrays, random: np.random.Generator) -> tuple[Tensors, Tensors]:
        """Observations and actions of a batch of lessons, on the policy's device."""

    @abstractmethod
    def imitation_loss(self, observations: Tensors, actions: Tensors) -> Tensor:
        """(batch,): how unlikely the oracle's actions are. Gradients flow."""

    @abstractmethod
    def imitation_hits(self, observations: Tensors, actions: Tensors) -> dict[str, list[float]]:
        """head -> 1 for each row that uses it and whose likeliest choice is the oracle's, otherwise 0."""
