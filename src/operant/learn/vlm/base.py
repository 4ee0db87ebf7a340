"""What an algorithm is: it chooses what to learn from trajectories, and says how wrong the policy is about it.

Everything an algorithm sees are turns with their sampled tokens. Losses are sums over a micro-batch divided by
the size of the whole batch, so that accumulated gradients are those of one large batch.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from operant.agents.vlm.prompt import Prompt
from operant.agents.vlm.trajectory import Trajectory, Turn
from operant.agents.vlm.wrapper import JudgedTokens
from operant.errors import ConfigError

__all__ = ["Algorithm", "Batch", "Example", "Policy", "by_group"]

Metrics = dict[str, float]


class Policy(Protocol):
    """What training needs of a model; ``VLMWrapper`` offers it."""

    @property
    def width(self) -> int: ...

    def judge(
        self, prompts: Sequence[Prompt], answers: Sequence[Sequence[int]], *, temperature: float | None = None
    ) -> JudgedTokens: ...

    def trainable(self) -> Mapping[str, nn.Parameter]: ...


@dataclass(frozen=True, eq=False)
class Example:
    """One turn with what an algorithm made of it."""

    turn: Turn
    advantage: float = 0.0
    target: float = 0.0
    """What the critic should have said."""
    value: float = 0.0
    """What it said."""
    proximal: tuple[float, ...] | None = None
    """Log-probabilities of the tokens just before the update, if the algorithm asked for them."""
    positive: bool = False
    """Of an episode that succeeded."""


@dataclass(frozen=True, eq=False)
class Batch:
    """Examples as tensors: (examples, tokens) padded on the right, or (examples,)."""

    behaviour: Tensor
    proximal: Tensor
    advantage: Tensor
    target: Tensor
    value: Tensor
    positive: Tensor
    turns: int
    """In the whole batch of which this may be a part."""
    tokens: int

    @classmethod
    def of(cls, examples: Sequence[Example], turns: int, tokens: int, device: torch.device) -> Batch:
        longest = max(len(example.turn.answer.token_ids) for example in examples)

        def padded(rows: Iterable[Sequence[float]]) -> Tensor:
            return torch.tensor([[*row, *[0.0] * (longest - len(row))] for row in rows], device=device)

        def column(values: Iterable[float]) -> Tensor:
            return torch.tensor(list(values), device=device, dtype=torch.float32)

        behaviour = [example.turn.answer.log_probs for example in examples]
        return cls(
            behaviour=padded(behaviour),
            proximal=padded(
                old if example.proximal is None else example.proximal
                for example, old in zip(examples, behaviour, strict=True)
            ),
            advantage=column(example.advantage for example in examples),
            target=column(example.target for example in examples),
            value=column(example.value for example in examples),
            positive=column(float(example.positive) for example in examples),
            turns=turns,
            tokens=tokens,
        )


class Algorithm(ABC):
    """One way to learn. Instances may remember things between updates; ``state`` is what a checkpoint keeps."""

    epochs: int = 1
    """Passes over the examples of an update."""
    needs_critic: bool = False
    needs_proximal: bool = False
    """Wants log-probabilities of the policy as it was just before the update."""
    on_policy: bool = True
    """Needs the log-probabilities that tokens were drawn with."""

    @abstractmethod
    def examples(
        self, trajectories: Sequence[Trajectory], values: Sequence[Sequence[float]]
    ) -> list[Example]:
        """What to learn from; empty if there is nothing. ``values`` are the critic's, if there is one."""

    @abstractmethod
    def loss(self, judged: JudgedTokens, values: Tensor | None, batch: Batch) -> tuple[Tensor, Metrics]:
        """How wrong the policy (and the critic) is, with what people want to see of it."""

    def keeps(self, group: Sequence[Trajectory]) -> bool:
        """Whether there is something to learn from these rollouts of one task; others are collected instead."""
        return True

    def state(self) -> dict[str, Any]:
        return {}

    def restore(self, state: Mapping[str, Any]) -> None:
        if state:
            raise ConfigError(f"{type(self).__name__} has no use for {', '.join(state)}")


def by_group(trajectories: Sequence[Trajectory]) -> list[list[Trajectory]]:
    """Rollouts of the same task instance together, in order of their first."""
    groups: dict[str, list[Trajectory]] = {}
    for trajectory in trajectories:
        groups.setdefault(trajectory.group or trajectory.task, []).append(trajectory)
    return list(groups.values())


def mean_over_turns(per_token: Tensor, mask: Tensor, turns: int) -> Tensor:
    """Each turn counts once, however long its answer is."""
    return ((per_token * mask).sum(dim=1) / mask.sum(dim=1)).sum() / turns


def mean_over_tokens(per_token: Tensor, mask: Tensor, tokens: int) -> Tensor:
    """Each token counts once."""
    return (per_token * mask).sum() / tokens


def check_ranges(**bounds: tuple[float, float, float]) -> None:
    """Name -> (value, least, most)."""
    for name, (value, least, most) in bounds.items():
        if not least <= value <= most:
            raise ConfigError(f"{name} is {value:g}", hint=f"it goes from {least:g} to {most:g}")
