"""Step-level GRPO: a step's advantage is its reward against all steps of all rollouts of the same task.

A step's reward is 1 if it is well-formed and its rollout succeeded, else 0. Groups that all succeeded or all
failed teach nothing and are left out, and others collected in their place (dynamic sampling). A group without a
success may borrow a stored one, which keeps the log-probabilities it was drawn with.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor

from operant.agents.vlm.trajectory import Trajectory
from operant.agents.vlm.wrapper import JudgedTokens
from operant.learn.vlm.advantages import group_advantages
from operant.learn.vlm.base import (
    Algorithm,
    Batch,
    Example,
    Metrics,
    by_group,
    check_ranges,
    mean_over_tokens,
    mean_over_turns,
)
from operant.learn.vlm.replay import SuccessReplay
from operant.learn.vlm.surrogate import Clipping, clipped_loss

__all__ = ["GRPO", "step_rewards"]

SAME = 1e-9


class GRPO(Algorithm):
    """Group-relative policy optimisation over steps."""

    def __init__(
        self,
        *,
        clip_low: float = 0.2,
        clip_high: float = 0.28,
        epochs: int = 1,
        dynamic_sampling: bool = True,
        spread: bool = True,
        per_token: bool = False,
        entropy_weight: float = 0.0,
        replay: SuccessReplay | bool = False,
        decoupled: bool = False,
        importance_cap: float | None = 2.0,
    ) -> None:
        check_ranges(epochs=(epochs, 1, 1000))
        self.clipping = Clipping(clip_low, clip_high, decoupled, importance_cap)
        self.needs_proximal = decoupled
        self.epochs = epochs
        self.dynamic_sampling = dynamic_sampling
        self.spread = spread
        """Divide by the group's standard deviation."""
        self.per_token = per_token
        """Let each token count the same, instead of each step."""
        self.entropy_weight = entropy_weight
        self.replay = SuccessReplay() if replay is True else (replay or None)

    def keeps(self, group: Sequence[Trajectory]) -> bool:
        group = self._with_replay(group)
        rewards = [reward for trajectory in group for reward in step_rewards(trajectory)]
        if len(group) < 2 or not rewards or statistics.pstdev(rewards) < SAME:
            return False
        return not self.dynamic_sampling or len({trajectory.success for trajectory in group}) == 2

    def examples(
        self, trajectories: Sequence[Trajectory], values: Sequence[Sequence[float]]
    ) -> list[Example]:
        made: list[Example] = []
        for group in by_group(trajectories):
            if not self.keeps(group):
                continue
            completed = self._with_replay(group)
            rewards = [step_rewards(trajectory) for trajectory in completed]
            for trajectory, gains in zip(
                completed, group_advantages(rewards, spread=self.spread), strict=True
            ):
                made += [
                    Example(turn, gain, positive=trajectory.success)
                    for turn, gain in zip(trajectory.turns, gains, strict=True)
                ]
        if self.replay is not None:
            self.replay.add(trajectories)
        return made

    def _with_replay(self, group: Sequence[Trajectory]) -> list[Trajectory]:
        """A group that all failed, with a stored success in place of its last rollout."""
        if self.replay is None or len(group) < 2 or any(trajectory.success for trajectory in group):
            return list(group)
        stored = self.replay.recall(group[0])
        return list(group) if stored is None else [*group[:-1], stored]

    def loss(self, judged: JudgedTokens, values: Tensor | None, batch: Batch) -> tuple[Tensor, Metrics]:
        per_token, metrics = clipped_loss(judged, batch, self.clipping)
        if self.entropy_weight:
            per_token = per_token - self.entropy_weight * judged.entropy
        if self.per_token:
            return mean_over_tokens(per_token, judged.mask, batch.tokens), metrics
        return mean_over_turns(per_token, judged.mask, batch.turns), metrics

    def state(self) -> dict[str, Any]:
        return {} if self.replay is None else {"replay": self.replay.state()}

    def restore(self, state: Mapping[str, Any]) -> None:
        if self.replay is not None and "replay" in state:
            self.replay.restore(state["replay"])


def step_rewards(trajectory: Trajectory) -> list[float]:
    """1 for each well-formed step of a success."""
    return [float(trajectory.success and turn.valid) for turn in trajectory.turns]
