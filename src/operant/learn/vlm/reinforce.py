"""REINFORCE with a clipped objective and no critic: against the mean of the batch, or of the group's others."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from torch import Tensor

from operant.agents.vlm.trajectory import Trajectory
from operant.agents.vlm.wrapper import JudgedTokens
from operant.learn.vlm.advantages import leave_one_out, normalised, returns
from operant.learn.vlm.base import (
    Algorithm,
    Batch,
    Example,
    Metrics,
    by_group,
    check_ranges,
    mean_over_tokens,
)
from operant.learn.vlm.surrogate import Clipping, clipped_loss

__all__ = ["RLOO", "ReinforcePlusPlus"]


class _Reinforce(Algorithm):
    def __init__(
        self,
        *,
        gamma: float = 1.0,
        clip_low: float = 0.2,
        clip_high: float = 0.2,
        epochs: int = 1,
        decoupled: bool = False,
        importance_cap: float | None = 2.0,
    ) -> None:
        check_ranges(gamma=(gamma, 0, 1), epochs=(epochs, 1, 1000))
        self.gamma = gamma
        self.epochs = epochs
        self.clipping = Clipping(clip_low, clip_high, decoupled, importance_cap)
        self.needs_proximal = decoupled

    @abstractmethod
    def advantages(self, trajectories: Sequence[Trajectory]) -> list[list[float]]:
        """One for each turn of each trajectory."""

    def examples(
        self, trajectories: Sequence[Trajectory], values: Sequence[Sequence[float]]
    ) -> list[Example]:
        return [
            Example(turn, gain, positive=trajectory.success)
            for trajectory, gains in zip(trajectories, self.advantages(trajectories), strict=True)
            for turn, gain in zip(trajectory.turns, gains, strict=True)
        ]

    def loss(self, judged: JudgedTokens, values: Tensor | None, batch: Batch) -> tuple[Tensor, Metrics]:
        per_token, metrics = clipped_loss(judged, batch, self.clipping)
        return mean_over_tokens(per_token, judged.mask, batch.tokens), metrics


class ReinforcePlusPlus(_Reinforce):
    """Returns, normalised over all turns of the batch: needs no groups."""

    def advantages(self, trajectories: Sequence[Trajectory]) -> list[list[float]]:
        sums = [returns([turn.reward for turn in one.turns], self.gamma) for one in trajectories]
        flat = iter(normalised([value for one in sums for value in one]))
        return [[next(flat) for _ in one] for one in sums]


class RLOO(_Reinforce):
    """Each rollout's total reward against the mean of the other rollouts of its task."""

    def keeps(self, group: Sequence[Trajectory]) -> bool:
        return len({trajectory.total_reward() for trajectory in group}) > 1

    def advantages(self, trajectories: Sequence[Trajectory]) -> list[list[float]]:
        gains: dict[int, float] = {}
        for group in by_group(trajectories):
            scores = [returns([turn.reward for turn in one.turns], self.gamma)[0] for one in group]
            gains |= {id(one): gain for one, gain in zip(group, leave_one_out(scores), strict=True)}
        return [[gains[id(one)]] * len(one) for one in trajectories]
