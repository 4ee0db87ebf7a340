"""MobileNetV3-small and EfficientNet-B0: two tables of the same block, the inverted residual.

Written out because torchvision's builds are tied to one build of PyTorch each, and a network is all we need
of it. Tables as in the papers (Howard et al. 2019, table 2; Tan and Le 2019, table 1).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

__all__ = ["NETWORKS", "MobileNetwork"]


@dataclass(frozen=True)
class Stage:
    """So many inverted residuals; the first has the stride."""

    kernel: int
    expanded: float
    """Channels inside, as a multiple of those that come in."""
    channels: int
    stride: int
    repeats: int = 1
    squeeze: bool = True
    activation: str = "silu"


def _mobile(
    kernel: int, inside: int, before: int, channels: int, squeeze: bool, hard: bool, stride: int
) -> Stage:
    return Stage(kernel, inside / before, channels, stride, 1, squeeze, "hardswish" if hard else "relu")


#: name -> (channels of the stem, its activation, stages)
NETWORKS: dict[str, tuple[int, str, tuple[Stage, ...]]] = {
    "efficientnet_b0": (
        32,
        "silu",
        (
            Stage(3, 1, 16, 1, 1),
            Stage(3, 6, 24, 2, 2),
            Stage(5, 6, 40, 2, 2),
            Stage(3, 6, 80, 2, 3),
            Stage(5, 6, 112, 1, 3),
            Stage(5, 6, 192, 2, 4),
            Stage(3, 6, 320, 1, 1),
        ),
    ),
    "mobilenet_v3_small": (
        16,
        "hardswish",
        (
            _mobile(3, 16, 16, 16, True, False, 2),
            _mobile(3, 72, 16, 24, False, False, 2),
            _mobile(3, 88, 24, 24, False, False, 1),
            _mobile(5, 96, 24, 40, True, True, 2),
            _mobile(5, 240, 40, 40, True, True, 1),
            _mobile(5, 240, 40, 40, True, True, 1),
            _mobile(5, 120, 40, 48, True, True, 1),
            _mobile(5, 144, 48, 48, True, True, 1),
            _mobile(5, 288, 48, 96, True, True, 2),
            _mobile(5, 576, 96, 96, True, True, 1),
            _mobile(5, 576, 96, 96, True, True, 1),
        ),
    ),
}
ACTIVATIONS: dict[str, type[nn.Module]] = {"silu": nn.SiLU, "relu": nn.ReLU, "hardswish": nn.Hardswish}


def _convolution(
    before: int, after: int, kernel: int, stride: int, groups: int, activation: str | None
) -> nn.Sequential:
    layers: list[nn.Module] = [
        nn.Conv2d(before, after, kernel, stride, kernel // 2, groups=groups, bias=False),
        # Normalised over each picture, not over the batch: acting alone and learning in batches must agree.
        nn.GroupNorm(1, after),
    ]
    return nn.Sequential(*layers, *([ACTIVATIONS[activation]()] if activation else []))


class Squeeze(nn.Module):
    """Weighs channels by what the whole picture shows."""

    def __init__(self, channels: int, inside: int) -> None:
        super().__init__()
        self.down, self.up = nn.Conv2d(channels, inside, 1), nn.Conv2d(inside, channels, 1)

    def forward(self, picture: Tensor) -> Tensor:
        whole = F.adaptive_avg_pool2d(picture, 1)
        return picture * self.up(F.silu(self.down(whole))).sigmoid()


class InvertedResidual(nn.Module):
    """Expand, look around in each channel, squeeze, and come back narrow."""

    def __init__(self, before: int, stage: Stage, stride: int) -> None:
        super().__init__()
        inside = round(before * stage.expanded)
        parts: list[nn.Module] = []
        if inside != before:
            parts.append(_convolution(before, inside, 1, 1, 1, stage.activation))
        parts.append(_convolution(inside, inside, stage.kernel, stride, inside, stage.activation))
        if stage.squeeze:
            parts.append(Squeeze(inside, max(8, before // 4)))
        parts.append(_convolution(inside, stage.channels, 1, 1, 1, None))
        self.parts = nn.Sequential(*parts)
        self.skips = stride == 1 and before == stage.channels

    def forward(self, picture: Tensor) -> Tensor:
        out: Tensor = self.parts(picture)
        return out + picture if self.skips else out


class MobileNetwork(nn.Module):
    """The features of one of ``NETWORKS``, where the picture is an eighth as large, and at the end."""

    def __init__(self, name: str) -> None:
        super().__init__()
        stem, activation, stages = NETWORKS[name]
        layers: list[nn.Module] = [_convolution(3, stem, 3, 2, 1, activation)]
        before, shrunk, self.fine_after, self.fine_channels = stem, 2, 0, stem
        for stage in stages:
            for repeat in range(stage.repeats):
                stride = stage.stride if repeat == 0 else 1
                layers.append(InvertedResidual(before, stage, stride))
                before, shrunk = stage.channels, shrunk * stride
                if shrunk <= 8:
                    self.fine_after, self.fine_channels = len(layers), before
        self.layers = nn.ModuleList(layers)
        self.channels = before

    def forward(self, picture: Tensor) -> tuple[Tensor, Tensor]:
        fine = picture
        for count, layer in enumerate(self.layers, 1):
            picture = layer(picture)
            if count == self.fine_after:
                fine = picture
        return fine, picture
