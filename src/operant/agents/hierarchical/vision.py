"""Networks that see the screen: a fine map to point at, and a few coarse tokens to think with.

``small`` is made for CPUs, EfficientNet and MobileNet are for those with more, and may begin with ImageNet weights; their
features are brought to the same shapes, so that nothing else changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from operant.agents.checkpoint_files import read_tensors
from operant.agents.hierarchical.meta_actions import GRID
from operant.agents.hierarchical.mobile import CLASSIFIER, MEAN, SPREAD, MobileNetwork, screens
from operant.agents.weights import check_weights
from operant.errors import CheckpointError, ConfigError

__all__ = ["CELL", "LOOKS", "load_published", "make_vision"]

#: Numbers that are known of each cell of the map.
CELL = 32
#: How many coarse tokens the screen is summed up in: columns and rows.
LOOKS = (5, 4)


class SmallVision(nn.Module):
    """Strided convolutions: 160x100 pixels -> 40x25 cells -> 20x13 -> 10x7, and back up to the cells.

    The map is thin on purpose: there are a thousand cells, and memory is what they cost.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, 24, 5, stride=4, padding=2), nn.GELU(), nn.Conv2d(24, CELL, 3, padding=1), nn.GELU()
        )
        self.middle = nn.Sequential(nn.Conv2d(CELL, 64, 3, stride=2, padding=1), nn.GELU())
        self.deep = nn.Sequential(nn.Conv2d(64, width, 3, stride=2, padding=1), nn.GELU())
        self.up = nn.Conv2d(64, CELL, 1)
        self.far_up = nn.Conv2d(width, CELL, 1)

    def forward(self, screen: Tensor) -> tuple[Tensor, Tensor]:
        """(batch, 3, height, width) in [0, 1] -> the map (batch, CELL, rows, columns) and the deep features."""
        fine = self.stem(screen)
        middle = self.middle(fine)
        deep = self.deep(middle)
        return _to_grid(fine) + _to_grid(self.up(middle)) + _to_grid(self.far_up(deep)), deep


class MobileVision(nn.Module):
    """A known network, with its features brought to the same shapes."""

    def __init__(self, name: str, width: int, weights: Path | None = None) -> None:
        super().__init__()
        self.body = MobileNetwork(name)
        self.fine = nn.Conv2d(self.body.fine_channels, CELL, 1)
        self.deep = nn.Conv2d(self.body.channels, width, 1)
        self.far_up = nn.Conv2d(width, CELL, 1)
        self.mean: Tensor
        self.spread: Tensor
        # What every published network expects; no weights, so no part of a checkpoint.
        self.register_buffer("mean", torch.tensor(MEAN)[:, None, None], persistent=False)
        self.register_buffer("spread", torch.tensor(SPREAD)[:, None, None], persistent=False)
        if weights is None:
            self.body.measure(self._normalised(screens()))
        else:
            load_published(self.body, name, weights)

    def _normalised(self, screen: Tensor) -> Tensor:
        return (screen - self.mean) / self.spread

    def forward(self, screen: Tensor) -> tuple[Tensor, Tensor]:
        fine, deep = self.body(self._normalised(screen))
        deep = self.deep(deep)
        return _to_grid(self.fine(fine)) + _to_grid(self.far_up(deep)), deep


def load_published(body: MobileNetwork, name: str, path: Path) -> None:
    """ImageNet weights as torchvision publishes them (.pth), or the same names in a .safetensors file."""
    hint = f"the weights that torchvision publishes for {name}"
    if not path.exists():
        raise ConfigError(f"encoder.vision_weights: there is no file {path}", hint=hint)
    try:
        if path.suffix == ".safetensors":
            from safetensors.torch import load_file

            found: Any = load_file(path)
        else:
            found = read_tensors(path, hint=hint)
    except CheckpointError as error:
        raise CheckpointError(f"encoder.vision_weights: {error.message}", hint=hint) from error
    except Exception as error:  # a damaged file may fail in any way
        reason = (str(error) or type(error).__name__).splitlines()[0][:120]
        raise CheckpointError(f"encoder.vision_weights: {path} can't be read: {reason}", hint=hint) from error
    if isinstance(found, Mapping):
        found = {key: part for key, part in found.items() if not str(key).startswith(CLASSIFIER)}
    check_weights(body, found, f"encoder.vision_weights: {path}", hint=hint)
    body.load_state_dict(found)


def _to_grid(picture: Tensor) -> Tensor:
    size = (GRID[1], GRID[0])
    return picture if picture.shape[-2:] == size else F.interpolate(picture, size, mode="nearest")


def make_vision(name: str, width: int, weights: Path | None = None) -> Any:
    return SmallVision(width) if name == "small" else MobileVision(name, width, weights)
