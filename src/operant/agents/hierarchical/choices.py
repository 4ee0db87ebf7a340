"""Choices of heads: drawn, or given and judged. The same code does both, so that they can't differ."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from operant.agents.trainable import Tensors

__all__ = ["Choices"]

#: The surest that a place can be: a twelfth of a box. Surer, and its gradients would drown those of all else.
LEAST_LOG_STD, MOST_LOG_STD = -2.5, 0.5


@dataclass
class Choices:
    """A batch of actions that is being put together, head by head.

    With ``given`` actions nothing is drawn: they are judged. ``used`` (batch,) says by 1 or 0 which rows use a
    head; log-probability and entropy count only there.
    """

    given: Tensors | None = None
    deterministic: bool = False
    generator: torch.Generator | None = None
    actions: Tensors = field(default_factory=dict)
    log_probs: Tensors = field(default_factory=dict)
    entropies: Tensors = field(default_factory=dict)

    @property
    def log_prob(self) -> Tensor:
        return torch.stack(list(self.log_probs.values())).sum(0)

    def index(
        self, head: str, logits: Tensor, used: Tensor | None = None, names: Tensor | None = None
    ) -> Tensor:
        """One of ``n``: logits (batch, n) -> (batch,). ``names`` are what the columns are called outside."""
        log_probs = F.log_softmax(logits.float(), -1)
        probs = log_probs.exp()
        if self.given is not None:
            chosen = self.given[head]
            if names is not None:
                chosen = torch.searchsorted(names, chosen).clamp(max=len(names) - 1)
        elif self.deterministic:
            chosen = log_probs.argmax(-1)
        else:
            chosen = torch.multinomial(probs, 1, generator=self.generator)[:, 0]
        entropy = -torch.where(probs > 0, probs * log_probs, torch.zeros_like(probs)).sum(-1)
        self._put(
            head,
            chosen if names is None else names[chosen],
            log_probs.gather(-1, chosen[:, None])[:, 0],
            entropy,
            used,
        )
        return chosen

    def pair(self, head: str, mean: Tensor, log_std: Tensor, used: Tensor | None = None) -> Tensor:
        """Two numbers, each of a normal distribution: (batch, 2)."""
        mean = mean.float()
        log_std = log_std.float().clamp(LEAST_LOG_STD, MOST_LOG_STD).expand_as(mean)
        chosen = mean
        if self.given is not None:
            chosen = self.given[head].float()
        elif not self.deterministic:
            noise = torch.randn(mean.shape, generator=self.generator, device=mean.device)
            chosen = mean + log_std.exp() * noise
        scaled = (chosen - mean) / log_std.exp()
        log_prob = (-0.5 * scaled.square() - log_std - 0.5 * math.log(2 * math.pi)).sum(-1)
        entropy = (log_std + 0.5 * (1 + math.log(2 * math.pi))).sum(-1)
        self._put(head, chosen, log_prob, entropy, used)
        return chosen

    def skip(self, like: Tensor, indices: Sequence[str] = (), pairs: Sequence[str] = ()) -> None:
        """Heads that no row of the batch uses: actions need something in their place."""
        for head in indices:
            self.actions[head] = torch.zeros(len(like), dtype=torch.int64, device=like.device)
        for head in pairs:
            self.actions[head] = torch.full((len(like), 2), 0.5, device=like.device)

    def _put(self, head: str, chosen: Tensor, log_prob: Tensor, entropy: Tensor, used: Tensor | None) -> None:
        self.actions[head] = chosen
        if used is not None:
            # Not a product: a head that is not used may be infinitely unlikely, and 0 times that is NaN.
            log_prob = torch.where(used > 0, log_prob, torch.zeros_like(log_prob))
            entropy = torch.where(used > 0, entropy, torch.zeros_like(entropy))
        self.log_probs[head], self.entropies[head] = log_prob, entropy
