"""The clipped objective, with its corrections for data of older policies.

Three policies may be at play: the behaviour that drew the tokens (mu), the proximal policy just before the
update, and the one being trained. Plain PPO takes mu as proximal. Decoupled PPO clips around the proximal
policy and weighs each token by proximal / mu; truncated importance sampling caps that weight.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from operant.agents.vlm.wrapper import JudgedTokens
from operant.learn.vlm.base import Batch, Metrics, check_ranges

__all__ = ["Clipping", "clipped_loss"]


@dataclass(frozen=True)
class Clipping:
    """Ratios are clipped to [1 - low, 1 + high]; a higher ``high`` lets rare tokens grow (clip-higher)."""

    low: float = 0.2
    high: float = 0.28
    decoupled: bool = False
    """Clip around the policy just before the update, and weigh by how far that is from the behaviour."""
    importance_cap: float | None = 2.0
    """The most that such a weight may be; None for no cap. Only with ``decoupled``."""

    def __post_init__(self) -> None:
        check_ranges(low=(self.low, 0.0, 1.0), high=(self.high, 0.0, 100.0))
        if self.importance_cap is not None:
            check_ranges(importance_cap=(self.importance_cap, 1e-6, 1e6))


def clipped_loss(judged: JudgedTokens, batch: Batch, clipping: Clipping) -> tuple[Tensor, Metrics]:
    """(examples, tokens): minus the clipped objective of each token, and how much was clipped."""
    proximal = batch.proximal if clipping.decoupled else batch.behaviour
    ratio = (judged.log_probs - proximal).exp()
    advantage = batch.advantage[:, None]
    clipped = ratio.clamp(1 - clipping.low, 1 + clipping.high)
    per_token = -torch.minimum(ratio * advantage, clipped * advantage)
    weight = torch.ones_like(ratio)
    if clipping.decoupled:
        weight = (proximal - batch.behaviour).exp()
        if clipping.importance_cap is not None:
            weight = weight.clamp_max(clipping.importance_cap)
        per_token = per_token * weight
    return per_token, _metrics(judged, ratio, clipped, weight)


def _metrics(judged: JudgedTokens, ratio: Tensor, clipped: Tensor, weight: Tensor) -> Metrics:
    with torch.no_grad():
        mask = judged.mask
        # Schulman's estimator: never negative, and exact to second order.
        kl = (ratio - 1 - ratio.log())[mask]
        return {
            "kl": kl.mean().item(),
            "clip_fraction": (ratio != clipped)[mask].float().mean().item(),
            "importance_weight": weight[mask].mean().item(),
        }
