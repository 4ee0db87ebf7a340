"""The worker: carries a meta-action out.

For a point of the coarse map it first looks at the screen around it at full resolution and moves the point
onto whatever is there (learned); for a widget whose box is known there is nothing to correct.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from operant.agents.hierarchical.choices import Choices
from operant.agents.hierarchical.config import HierarchicalConfig
from operant.agents.hierarchical.crop import cut
from operant.agents.trainable import Screens, Tensors

__all__ = ["Worker"]


class Worker(nn.Module):
    def __init__(self, config: HierarchicalConfig) -> None:
        super().__init__()
        width = config.encoder.width
        self.size, self.reach = config.worker.crop, config.worker.reach
        self.enabled = config.worker.refine
        self.look = nn.Sequential(
            nn.Conv2d(3, 24, 5, stride=2, padding=2), nn.GELU(),
            nn.Conv2d(24, 48, 3, stride=2, padding=1), nn.GELU(),
            nn.Conv2d(48, 64, 3, stride=2, padding=1), nn.GELU(),
            nn.AdaptiveAvgPool2d(8), nn.Flatten(), nn.Linear(64 * 64, width), nn.GELU(),
        )  # fmt: skip
        last = nn.Linear(width, 2)
        nn.init.orthogonal_(last.weight, 0.01)
        nn.init.zeros_(last.bias)
        self.correct = nn.Sequential(nn.Linear(2 * width, width), nn.GELU(), last)
        self.log_std = nn.Parameter(torch.full((2,), -2.0))

    def crops(self, screens: Screens, points: Tensor, wanted: Tensor) -> Tensor:
        """What lies around each point that is wanted; black for the others."""
        out = np.zeros((len(points), self.size, self.size, 3), np.uint8)
        for index, screen in enumerate(screens):
            if wanted[index]:
                height, width = screen.shape[:2]
                x, y = (float(value) for value in points[index])
                out[index] = cut(screen, int(x * width), int(y * height), self.size)
        return torch.from_numpy(out).to(points.device)

    def forward(self, summary: Tensor, crops: Tensor, used: Tensor, choices: Choices) -> Tensor:
        """Corrections in units of the reach. Only what is used is looked at."""
        rows = torch.nonzero(used)[:, 0]
        picture = crops[rows].permute(0, 3, 1, 2).to(summary.dtype) / 255.0
        mean = torch.tanh(self.correct(torch.cat([summary[rows], self.look(picture)], -1)))
        means = torch.zeros(len(summary), 2, dtype=mean.dtype, device=mean.device).index_copy(0, rows, mean)
        return choices.pair("refine", means, self.log_std, used)

    def moved(self, points: Tensor, refine: Tensor, used: Tensor, seen: Tensors) -> Tensor:
        """The points after the correction."""
        size = seen["size"].float().clamp(min=1.0)
        step = refine.clamp(-1.0, 1.0) * self.reach / size
        return (points + step * used[:, None]).clamp(0.0, 1.0 - 1e-6)
