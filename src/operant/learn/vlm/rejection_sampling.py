"""Rejection sampling: supervised learning of the episodes whose reward passes a threshold."""

from __future__ import annotations

from collections.abc import Sequence

from operant.agents.vlm.trajectory import Trajectory
from operant.learn.vlm.base import Example
from operant.learn.vlm.sft import SFT

__all__ = ["RejectionSampling"]


class RejectionSampling(SFT):
    """Learns the valid turns of trajectories with a total reward above the threshold."""

    def __init__(self, reward_threshold: float = 0.0, *, epochs: int = 1) -> None:
        super().__init__(epochs=epochs)
        self.reward_threshold = reward_threshold

    def examples(
        self, trajectories: Sequence[Trajectory], values: Sequence[Sequence[float]]
    ) -> list[Example]:
        return super().examples([one for one in trajectories if self._passes(one)], values)

    def keeps(self, group: Sequence[Trajectory]) -> bool:
        return any(self._passes(trajectory) for trajectory in group)

    def _passes(self, trajectory: Trajectory) -> bool:
        return trajectory.total_reward() > self.reward_threshold
