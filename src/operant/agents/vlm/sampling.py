"""Drawing tokens so that the learner can compute the very same probabilities afterwards.

The policy is softmax(logits / temperature) over the tokens that an answer may hold; marks of pictures and of
turns are never drawn. A draw takes one number of the request's own generator, so that it does not depend on who
else is in the batch and leaves torch's global randomness alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from transformers import LogitsProcessor

__all__ = ["GREEDY_BELOW", "Drawing", "policy_log_probs", "suppressed_tokens"]

#: Below this temperature the most likely token is taken.
GREEDY_BELOW = 1e-3


def suppressed_tokens(tokenizer: Any, width: int, ends: Sequence[int]) -> Tensor:
    """(width,) bool: tokens that an answer never holds. ``ends`` are those that end one."""
    suppressed = torch.zeros(width, dtype=torch.bool)
    suppressed[[token for token in tokenizer.all_special_ids if token < width]] = True
    suppressed[len(tokenizer) :] = True  # rows that only round the embedding's size up
    suppressed[list(ends)] = False
    return suppressed


def policy_log_probs(logits: Tensor, temperature: float, suppressed: Tensor) -> Tensor:
    """Log-probabilities of the policy, in float32. Greedy policies are judged at temperature 1."""
    scale = temperature if temperature >= GREEDY_BELOW else 1.0
    masked = (logits.float() / scale).masked_fill(suppressed, float("-inf"))
    return torch.log_softmax(masked, dim=-1)


class Drawing(LogitsProcessor):  # type: ignore[misc]
    """Chooses each next token of a batch itself and notes how likely it was."""

    def __init__(self, temperature: float, suppressed: Tensor, seeds: Sequence[int]) -> None:
        self.temperature = temperature
        self.suppressed = suppressed
        self.log_probs: list[Tensor] = []
        self._generators = [torch.Generator().manual_seed(seed & (2**63 - 1)) for seed in seeds]

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        log_probs = policy_log_probs(scores, self.temperature, self.suppressed)
        greedy = self.temperature < GREEDY_BELOW
        chosen = log_probs.argmax(dim=-1) if greedy else self._draw(log_probs)
        self.log_probs.append(log_probs.gather(1, chosen[:, None])[:, 0])
        only = torch.full_like(scores, float("-inf"))
        return only.scatter(1, chosen[:, None], 0.0)

    def _draw(self, log_probs: Tensor) -> Tensor:
        drawn = [torch.rand(1, generator=generator, dtype=torch.float64) for generator in self._generators]
        reached = log_probs.double().exp().cumsum(dim=-1)
        mark = torch.stack(drawn).to(reached.device) * reached[:, -1:]
        # The first token whose running total is beyond the mark; its own probability is above 0.
        return torch.searchsorted(reached, mark, right=True)[:, 0].clamp_max(reached.shape[1] - 1)
