"""MobileNetV3-small and EfficientNet-B0 with torchvision's parameter names, so that its ImageNet weights load.

Written out because torchvision's builds are tied to one build of PyTorch each, and a network is all we need
of it. Tables as in the papers (Howard et al. 2019, table 2; Tan and Le 2019, table 1). The classifier is left out.
Knows nothing of files.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

__all__ = ["CLASSIFIER", "MEAN", "NETWORKS", "SPREAD", "MobileNetwork", "screens"]

#: Of ImageNet's pictures, by which published networks expect theirs to be normalised: red, green, blue.
MEAN, SPREAD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
#: Where the names of a published network begin that features have no use for.
CLASSIFIER = "classifier."


@dataclass(frozen=True)
class BlockStage:
    """So many inverted residuals; the first has the stride."""

    kernel: int
    inside: int
    """Channels of the first one's depthwise convolution; the others keep the ratio to what comes in."""
    channels: int
    stride: int
    repeats: int = 1
    squeeze: bool = True
    activation: type[nn.Module] = nn.SiLU


@dataclass(frozen=True)
class Network:
    stem: int
    activation: type[nn.Module]
    last: int
    """Channels of the convolution at the end."""
    epsilon: float
    """Of its batch normalisation."""
    stages: tuple[BlockStage, ...]
    efficient: bool
    """Whether it squeezes as EfficientNet does, and names blocks by stage."""


def _mobile(kernel: int, inside: int, channels: int, squeeze: bool, hard: bool, stride: int) -> BlockStage:
    return BlockStage(kernel, inside, channels, stride, 1, squeeze, nn.Hardswish if hard else nn.ReLU)


NETWORKS: dict[str, Network] = {
    "efficientnet_b0": Network(
        stem=32,
        activation=nn.SiLU,
        last=1280,
        epsilon=1e-5,
        efficient=True,
        stages=(
            BlockStage(3, 32, 16, 1, 1),
            BlockStage(3, 96, 24, 2, 2),
            BlockStage(5, 144, 40, 2, 2),
            BlockStage(3, 240, 80, 2, 3),
            BlockStage(5, 480, 112, 1, 3),
            BlockStage(5, 672, 192, 2, 4),
            BlockStage(3, 1152, 320, 1, 1),
        ),
    ),
    "mobilenet_v3_small": Network(
        stem=16,
        activation=nn.Hardswish,
        last=576,
        epsilon=1e-3,
        efficient=False,
        stages=(
            _mobile(3, 16, 16, True, False, 2),
            _mobile(3, 72, 24, False, False, 2),
            _mobile(3, 88, 24, False, False, 1),
            _mobile(5, 96, 40, True, True, 2),
            _mobile(5, 240, 40, True, True, 1),
            _mobile(5, 240, 40, True, True, 1),
            _mobile(5, 120, 48, True, True, 1),
            _mobile(5, 144, 48, True, True, 1),
            _mobile(5, 288, 96, True, True, 2),
            _mobile(5, 576, 96, True, True, 1),
            _mobile(5, 576, 96, True, True, 1),
        ),
    ),
}


class StoredNorm(nn.BatchNorm2d):
    """Batch normalisation by its stored statistics, also while it learns.

    A policy must think the same of an observation alone and in a batch. The statistics come with published weights;
    without those they are measured once (``MobileNetwork.measure``).
    """

    measuring = False

    def forward(self, picture: Tensor) -> Tensor:
        mean, var = self.running_mean, self.running_var
        if self.measuring and mean is not None and var is not None:
            spread = picture.var((0, 2, 3))
            mean.copy_(picture.mean((0, 2, 3)))
            # A channel that these pictures happen to leave nearly still must not explode on others.
            var.copy_(spread.clamp(min=float(spread.mean())))
        return F.batch_norm(picture, mean, var, self.weight, self.bias, eps=self.eps)


class Squeeze(nn.Module):
    """Weighs channels by what the whole picture shows."""

    def __init__(self, channels: int, inside: int, *, hard: bool) -> None:
        super().__init__()
        self.fc1, self.fc2 = nn.Conv2d(channels, inside, 1), nn.Conv2d(inside, channels, 1)
        self.hard = hard

    def forward(self, picture: Tensor) -> Tensor:
        inner = self.fc1(F.adaptive_avg_pool2d(picture, 1))
        outer = self.fc2(F.relu(inner) if self.hard else F.silu(inner))
        return picture * (F.hardsigmoid(outer) if self.hard else outer.sigmoid())


class InvertedResidual(nn.Module):
    """Expand, look around in each channel, squeeze, and come back narrow."""

    def __init__(self, before: int, inside: int, stage: BlockStage, stride: int, network: Network) -> None:
        super().__init__()
        unit = partial(_unit, epsilon=network.epsilon)
        parts: list[nn.Module] = []
        if inside != before:
            parts.append(unit(before, inside, activation=stage.activation))
        parts.append(unit(inside, inside, stage.kernel, stride, groups=inside, activation=stage.activation))
        if stage.squeeze and network.efficient:
            parts.append(Squeeze(inside, max(1, before // 4), hard=False))
        elif stage.squeeze:
            parts.append(Squeeze(inside, _eights(inside / 4), hard=True))
        last = unit(inside, stage.channels)
        self.block = nn.Sequential(*parts, last)
        self.skips = stride == 1 and before == stage.channels
        if self.skips and isinstance(last[1], StoredNorm):
            # It begins as its skip alone, and grows: without published weights, depth would blow signals up.
            nn.init.zeros_(last[1].weight)

    def forward(self, picture: Tensor) -> Tensor:
        out: Tensor = self.block(picture)
        return out + picture if self.skips else out


def _unit(
    before: int,
    after: int,
    kernel: int = 1,
    stride: int = 1,
    *,
    epsilon: float,
    groups: int = 1,
    activation: type[nn.Module] | None = None,
) -> nn.Sequential:
    layers: list[nn.Module] = [
        nn.Conv2d(before, after, kernel, stride, kernel // 2, groups=groups, bias=False),
        StoredNorm(after, epsilon),
    ]
    return nn.Sequential(*layers, *([activation()] if activation is not None else []))


def _eights(channels: float) -> int:
    """The nearest multiple of eight, at least eight and not less than nine tenths."""
    near = max(8, int(channels + 4) // 8 * 8)
    return near if near >= 0.9 * channels else near + 8


class MobileNetwork(nn.Module):
    """The features of one of ``NETWORKS``, where the picture is an eighth as large, and at the end."""

    def __init__(self, name: str) -> None:
        super().__init__()
        network = NETWORKS[name]
        layers: list[nn.Module] = [
            _unit(3, network.stem, 3, 2, epsilon=network.epsilon, activation=network.activation)
        ]
        before, shrunk, self.fine_after, self.fine_channels = network.stem, 2, 1, network.stem
        for stage in network.stages:
            inside, blocks = stage.inside, []
            ratio = inside // before
            for repeat in range(stage.repeats):
                stride = stage.stride if repeat == 0 else 1
                blocks.append(InvertedResidual(before, inside, stage, stride, network))
                before, shrunk = stage.channels, shrunk * stride
                inside = ratio * before
            layers.append(nn.Sequential(*blocks) if network.efficient else blocks[0])
            if shrunk <= 8:
                self.fine_after, self.fine_channels = len(layers), before
        layers.append(_unit(before, network.last, epsilon=network.epsilon, activation=network.activation))
        self.features = nn.Sequential(*layers)
        self.channels = network.last
        for part in self.modules():
            if isinstance(part, nn.Conv2d):
                nn.init.kaiming_normal_(part.weight, mode="fan_out")
                if part.bias is not None:
                    nn.init.zeros_(part.bias)

    def forward(self, picture: Tensor) -> tuple[Tensor, Tensor]:
        fine = picture
        for count, layer in enumerate(self.features, 1):
            picture = layer(picture)
            if count == self.fine_after:
                fine = picture
        return fine, picture

    @torch.no_grad()
    def measure(self, pictures: Tensor) -> None:
        """Store the statistics of these, layer by layer: where a network without published weights begins."""
        norms = [part for part in self.modules() if isinstance(part, StoredNorm)]
        for norm in norms:
            norm.measuring = True
        try:
            self(pictures)
        finally:
            for norm in norms:
                norm.measuring = False


def screens(count: int = 12, width: int = 160, height: int = 96) -> Tensor:
    """Made-up screens to measure on, always the same: dark, coloured and white ones with boxes and text-like noise."""
    random = torch.Generator().manual_seed(0)
    pictures = torch.rand(count, 3, 1, 1, generator=random).repeat(1, 1, height, width)
    for number, picture in enumerate(pictures):
        picture[:] = (picture * 0.2, picture, 1 - picture * 0.1)[number % 3]
        for box in range(number * 3):
            x, y, w, h, *colour = torch.rand(7, generator=random).tolist()
            left, top = int(x * width), int(y * height)
            part = picture[:, top : top + math.ceil(h * height / 3), left : left + math.ceil(w * width / 2)]
            part[:] = torch.tensor(colour)[:, None, None]
            if box % 2:
                part *= 1 - x * torch.rand(part.shape[1:], generator=random).round()
    return pictures
