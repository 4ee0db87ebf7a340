"""Supervised fine-tuning: make the given answers more likely. The cold start, on an oracle's demonstrations."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from operant.agents.vlm.trajectory import Trajectory
from operant.agents.vlm.wrapper import JudgedTokens
from operant.learn.vlm.base import Algorithm, Batch, Example, Metrics, mean_over_tokens

__all__ = ["SFT"]


class SFT(Algorithm):
    """Learns every valid turn of every trajectory."""

    on_policy = False

    def __init__(self, *, epochs: int = 1) -> None:
        self.epochs = epochs

    def examples(
        self, trajectories: Sequence[Trajectory], values: Sequence[Sequence[float]]
    ) -> list[Example]:
        return [
            Example(turn, advantage=1.0, positive=trajectory.success)
            for trajectory in trajectories
            for turn in trajectory.turns
            if turn.valid
        ]

    def loss(self, judged: JudgedTokens, values: Tensor | None, batch: Batch) -> tuple[Tensor, Metrics]:
        return mean_over_tokens(-judged.log_probs, judged.mask, batch.tokens), {}
