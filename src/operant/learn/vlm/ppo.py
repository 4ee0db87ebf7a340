"""PPO over turns: a critic on the model's own hidden state, GAE over steps, a clipped objective over tokens.

All tokens of an answer share the advantage of its turn. With ``decoupled_lambda`` the critic learns returns
(lambda 1) while the policy's advantages use their own lambda, which may grow with the episode's length.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from operant.agents.vlm.trajectory import Trajectory
from operant.agents.vlm.wrapper import JudgedTokens
from operant.errors import ConfigError
from operant.learn.vlm.advantages import gae, length_lambda, normalised
from operant.learn.vlm.base import Algorithm, Batch, Example, Metrics, check_ranges, mean_over_turns
from operant.learn.vlm.surrogate import Clipping, clipped_loss

__all__ = ["PPO"]


class PPO(Algorithm):
    """Proximal policy optimisation. ``warmup_updates`` is how many updates teach the critic alone."""

    needs_critic = True

    def __init__(
        self,
        clip_epsilon: float = 0.2,
        gamma: float = 0.99,
        gae_lambda: float = 0.95,
        *,
        clip_high: float | None = None,
        decoupled_lambda: bool = False,
        length_alpha: float | None = None,
        value_weight: float = 0.5,
        value_clip: float | None = None,
        entropy_weight: float = 0.0,
        success_nll_weight: float = 0.0,
        normalise_advantages: bool = True,
        epochs: int = 2,
        warmup_updates: int = 0,
        decoupled: bool = False,
        importance_cap: float | None = 2.0,
    ) -> None:
        check_ranges(gamma=(gamma, 0, 1), gae_lambda=(gae_lambda, 0, 1), epochs=(epochs, 1, 1000))
        if length_alpha is not None and not decoupled_lambda:
            raise ConfigError("length_alpha is for the policy's own lambda", hint="set decoupled_lambda")
        self.clipping = Clipping(
            clip_epsilon, clip_epsilon if clip_high is None else clip_high, decoupled, importance_cap
        )
        self.needs_proximal = decoupled
        self.gamma = gamma
        self.gae_lambda = gae_lambda
        self.decoupled_lambda = decoupled_lambda
        self.length_alpha = length_alpha
        self.value_weight = value_weight
        self.value_clip = value_clip
        self.entropy_weight = entropy_weight
        self.success_nll_weight = success_nll_weight
        self.normalise_advantages = normalise_advantages
        self.epochs = epochs
        self.warmup_updates = warmup_updates
        self._updates = 0

    def examples(
        self, trajectories: Sequence[Trajectory], values: Sequence[Sequence[float]]
    ) -> list[Example]:
        self._updates += 1
        made: list[Example] = []
        for trajectory, expected in zip(trajectories, values, strict=True):
            rewards = [turn.reward for turn in trajectory.turns]
            advantages = gae(rewards, expected, self.gamma, self._policy_lambda(len(rewards)))
            critics = gae(rewards, expected, self.gamma, 1.0) if self.decoupled_lambda else advantages
            for turn, advantage, gain, value in zip(
                trajectory.turns, advantages, critics, expected, strict=True
            ):
                made.append(
                    Example(turn, advantage, target=gain + value, value=value, positive=trajectory.success)
                )
        if not self.normalise_advantages:
            return made
        scaled = normalised([example.advantage for example in made])
        return [replace(example, advantage=value) for example, value in zip(made, scaled, strict=True)]

    def _policy_lambda(self, steps: int) -> float:
        if self.length_alpha is not None:
            return length_lambda(steps, self.length_alpha)
        return self.gae_lambda

    @property
    def warming_up(self) -> bool:
        return self._updates <= self.warmup_updates

    def loss(self, judged: JudgedTokens, values: Tensor | None, batch: Batch) -> tuple[Tensor, Metrics]:
        if values is None:
            raise ConfigError("PPO needs a critic")
        per_token, metrics = clipped_loss(judged, batch, self.clipping)
        policy = mean_over_turns(per_token, judged.mask, batch.turns)
        if self.entropy_weight:
            policy = policy - self.entropy_weight * mean_over_turns(judged.entropy, judged.mask, batch.turns)
        if self.success_nll_weight:
            wanted = -judged.log_probs * batch.positive[:, None]
            policy = policy + self.success_nll_weight * mean_over_turns(wanted, judged.mask, batch.turns)
        value = self._value_loss(values, batch)
        metrics |= {"value_loss": value.item() * batch.turns / len(values)}
        return (0.0 if self.warming_up else 1.0) * policy + self.value_weight * value, metrics

    def _value_loss(self, values: Tensor, batch: Batch) -> Tensor:
        wrong = (values - batch.target) ** 2
        if self.value_clip is not None:
            near = batch.value + (values - batch.value).clamp(-self.value_clip, self.value_clip)
            wrong = torch.maximum(wrong, (near - batch.target) ** 2)
        return 0.5 * wrong.sum() / batch.turns

    def state(self) -> dict[str, Any]:
        return {"updates": self._updates}

    def restore(self, state: Mapping[str, Any]) -> None:
        self._updates = int(state.get("updates", 0))
