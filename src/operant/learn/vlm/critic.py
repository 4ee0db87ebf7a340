"""The critic: a small head on the model's hidden state after a prompt, before its answer."""

from __future__ import annotations

import torch
from torch import Tensor, nn

__all__ = ["ValueHead"]


class ValueHead(nn.Module):
    """What return to expect from here. Starts by expecting nothing, whatever it sees.

    Its error does not reach the model unless ``shared``: a random critic would spoil a pretrained one.
    """

    def __init__(self, width: int, *, hidden: int = 64, shared: bool = False) -> None:
        super().__init__()
        self.shared = shared
        self.layers = nn.Sequential(
            nn.LayerNorm(width), nn.Linear(width, hidden), nn.Tanh(), nn.Linear(hidden, 1)
        )
        last = self.layers[-1]
        assert isinstance(last, nn.Linear)
        nn.init.zeros_(last.weight)
        nn.init.zeros_(last.bias)

    def forward(self, state: Tensor) -> Tensor:
        """(turns, width) -> (turns,)"""
        seen = state if self.shared else state.detach()
        values: Tensor = self.layers(seen.to(torch.float32))
        return values[:, 0]
