"""EfficientNet-B0 and MobileNetV3-small are the published ones: names, shapes, and what they make of a picture.

The state dicts and the reference are written here from the papers' tables and the published names, without any of
the code that they test.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from safetensors.torch import save_file
from torch import Tensor

from operant.agents.hierarchical.config import EncoderConfig, HierarchicalConfig
from operant.agents.hierarchical.policy import HierarchicalPolicy
from operant.agents.hierarchical.vision import make_vision
from operant.errors import CheckpointError, ConfigError
from operant.types import Observation

torch.set_num_threads(1)

Weights = dict[str, Tensor]
Activation = Callable[[Tensor], Tensor]

# Tan and Le 2019, table 1: expansion, kernel, stride, channels, layers.
EFFICIENTNET_B0 = (
    (1, 3, 1, 16, 1),
    (6, 3, 2, 24, 2),
    (6, 5, 2, 40, 2),
    (6, 3, 2, 80, 3),
    (6, 5, 1, 112, 3),
    (6, 5, 2, 192, 4),
    (6, 3, 1, 320, 1),
)
# Howard et al. 2019, table 2: kernel, expansion size, channels, squeezed to, hard swish, stride.
MOBILENET_V3_SMALL = (
    (3, 16, 16, 8, False, 2),
    (3, 72, 24, 0, False, 2),
    (3, 88, 24, 0, False, 1),
    (5, 96, 40, 24, True, 2),
    (5, 240, 40, 64, True, 1),
    (5, 240, 40, 64, True, 1),
    (5, 120, 48, 32, True, 1),
    (5, 144, 48, 40, True, 1),
    (5, 288, 96, 72, True, 2),
    (5, 576, 96, 144, True, 1),
    (5, 576, 96, 144, True, 1),
)
# Of the whole published networks, classifier included.
PARAMETERS = {"efficientnet_b0": 5_288_548, "mobilenet_v3_small": 2_542_856}
NAMES = sorted(PARAMETERS)


class Block:
    """An inverted residual, by the names of its weights."""

    def __init__(
        self,
        name: str,
        before: int,
        inside: int,
        after: int,
        kernel: int,
        stride: int,
        squeeze: int,
        hard: bool,
    ) -> None:
        self.name, self.before, self.inside, self.after = name, before, inside, after
        self.kernel, self.stride, self.squeeze, self.hard = kernel, stride, squeeze, hard


def blocks(name: str) -> list[Block]:
    found, before = [], 32 if name == "efficientnet_b0" else 16
    if name == "efficientnet_b0":
        for stage, (expand, kernel, stride, after, layers) in enumerate(EFFICIENTNET_B0, 1):
            for layer in range(layers):
                where, step = f"features.{stage}.{layer}.block", stride if layer == 0 else 1
                found.append(
                    Block(where, before, expand * before, after, kernel, step, before // 4, hard=False)
                )
                before = after
    else:
        for row, (kernel, inside, after, squeeze, hard, stride) in enumerate(MOBILENET_V3_SMALL, 1):
            found.append(Block(f"features.{row}.block", before, inside, after, kernel, stride, squeeze, hard))
            before = after
    return found


def published(name: str) -> Weights:
    """Random weights under the names and with the shapes of the published file."""
    random = torch.Generator().manual_seed(5)
    weights: Weights = {}

    def some(*shape: int, low: float = 0.5, high: float = 1.5) -> Tensor:
        return low + (high - low) * torch.rand(*shape, generator=random)

    def convolution(where: str, before: int, after: int, kernel: int = 1, groups: int = 1) -> None:
        fan = before // groups * kernel**2
        shape = (after, before // groups, kernel, kernel)
        weights[f"{where}.0.weight"] = torch.randn(*shape, generator=random) / math.sqrt(fan)
        for part, low in (("weight", 0.5), ("bias", -0.5), ("running_mean", -0.5), ("running_var", 0.5)):
            weights[f"{where}.1.{part}"] = some(after, low=low, high=low + 1)
        weights[f"{where}.1.num_batches_tracked"] = torch.tensor(7)

    def linear(where: str, before: int, after: int, *kernel: int) -> None:
        weights[f"{where}.weight"] = torch.randn(after, before, *kernel, generator=random) / math.sqrt(before)
        weights[f"{where}.bias"] = some(after, low=-0.5, high=0.5)

    rows = blocks(name)
    convolution("features.0", 3, rows[0].before, 3)
    for block in rows:
        number = 0
        if block.inside != block.before:
            convolution(f"{block.name}.{number}", block.before, block.inside)
            number += 1
        convolution(f"{block.name}.{number}", block.inside, block.inside, block.kernel, block.inside)
        number += 1
        if block.squeeze:
            linear(f"{block.name}.{number}.fc1", block.inside, block.squeeze, 1, 1)
            linear(f"{block.name}.{number}.fc2", block.squeeze, block.inside, 1, 1)
            number += 1
        convolution(f"{block.name}.{number}", block.inside, block.after)
    if name == "efficientnet_b0":
        convolution("features.8", 320, 1280)
        linear("classifier.1", 1280, 1000)
    else:
        convolution("features.12", 96, 576)
        linear("classifier.0", 576, 1024)
        linear("classifier.3", 1024, 1000)
    return weights


def reference(name: str, weights: Weights, picture: Tensor) -> Tensor:
    """The features of pictures (batch, 3, height, width) in [0, 1]."""
    efficient = name == "efficientnet_b0"
    epsilon = 1e-5 if efficient else 1e-3

    def swish(x: Tensor) -> Tensor:
        return x * x.sigmoid()

    def hard_swish(x: Tensor) -> Tensor:
        return x * (x + 3).clamp(0, 6) / 6

    def convolution(
        where: str, x: Tensor, act: Activation | None, stride: int = 1, groups: int = 1
    ) -> Tensor:
        kernel = weights[f"{where}.0.weight"]
        x = F.conv2d(x, kernel, None, stride, kernel.shape[-1] // 2, 1, groups)
        mean, var, scale, shift = (
            weights[f"{where}.1.{part}"][:, None, None]
            for part in ("running_mean", "running_var", "weight", "bias")
        )
        x = (x - mean) / (var + epsilon).sqrt() * scale + shift
        return x if act is None else act(x)

    mean = torch.tensor([0.485, 0.456, 0.406])[:, None, None]
    spread = torch.tensor([0.229, 0.224, 0.225])[:, None, None]
    ends: Activation = swish if efficient else hard_swish
    x = convolution("features.0", (picture - mean) / spread, ends, stride=2)
    for block in blocks(name):
        act: Activation = swish if efficient else hard_swish if block.hard else torch.relu
        before, number = x, 0
        if block.inside != block.before:
            x = convolution(f"{block.name}.0", x, act)
            number = 1
        x = convolution(f"{block.name}.{number}", x, act, block.stride, block.inside)
        number += 1
        if block.squeeze:
            whole = x.mean((2, 3))
            for part in ("fc1", "fc2"):
                where = f"{block.name}.{number}.{part}"
                whole = whole @ weights[f"{where}.weight"][..., 0, 0].T + weights[f"{where}.bias"]
                if part == "fc1":
                    whole = swish(whole) if efficient else whole.relu()
            gate = whole.sigmoid() if efficient else (whole + 3).clamp(0, 6) / 6
            x = x * gate[..., None, None]
            number += 1
        x = convolution(f"{block.name}.{number}", x, None)
        if block.stride == 1 and block.before == block.after:
            x = x + before
    return convolution("features.8" if efficient else "features.12", x, ends)


def settings(name: str, weights: Path | None) -> HierarchicalConfig:
    return HierarchicalConfig(
        encoder=EncoderConfig(
            vision=name,  # type: ignore[arg-type]
            vision_weights=weights,
            width=32,
            heads=2,
            widgets=8,
            vocabulary=64,
            text_layers=1,
            joint_layers=1,
        )
    )


def written(name: str, path: Path, weights: Weights | None = None) -> Path:
    weights = published(name) if weights is None else weights
    if path.suffix == ".safetensors":
        save_file(weights, path)
    else:
        torch.save(weights, path)
    return path


@pytest.mark.parametrize("name", NAMES)
def test_the_table_here_is_that_of_the_published_network(name: str) -> None:
    buffers = ("running_mean", "running_var", "num_batches_tracked")
    total = sum(part.numel() for key, part in published(name).items() if not key.endswith(buffers))
    assert total == PARAMETERS[name]


@pytest.mark.parametrize("suffix", [".pth", ".safetensors"])
@pytest.mark.parametrize("name", NAMES)
def test_published_weights_load_and_features_equal_the_reference(
    name: str, suffix: str, tmp_path: Path
) -> None:
    weights = published(name)
    vision = make_vision(name, 32, written(name, tmp_path / f"w{suffix}", weights)).double()
    picture = torch.rand(2, 3, 100, 160, dtype=torch.float64)
    expected = reference(name, {key: part.double() for key, part in weights.items()}, picture)
    for training in (False, True):
        _, found = vision.train(training).body(vision._normalised(picture))
        assert found.shape == (2, 1280 if name == "efficientnet_b0" else 576, 4, 5)
        torch.testing.assert_close(found, expected, rtol=1e-6, atol=1e-6 * float(expected.abs().max()))
    torch.testing.assert_close(vision(picture)[1], vision.deep(expected), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_a_policy_begins_with_them_and_its_checkpoint_needs_them_no_more(
    name: str, tmp_path: Path, observations: list[Observation]
) -> None:
    path = written(name, tmp_path / "imagenet.pth")
    policy = HierarchicalPolicy(settings(name, path)).eval()
    assert torch.equal(
        policy.encoder.vision.body.features[0][0].weight, published(name)["features.0.0.weight"]
    )
    policy.save(tmp_path / "agent.pt")
    path.unlink()
    again = HierarchicalPolicy.from_checkpoint(tmp_path / "agent.pt")
    assert again.fingerprint == policy.fingerprint
    assert again.config.encoder.vision_weights is None
    assert again.act(observations[:2]) == policy.act(observations[:2])
    # The settings of a run still name the file when it is resumed.
    assert (
        HierarchicalPolicy.from_checkpoint(tmp_path / "agent.pt", settings(name, path)).config == again.config
    )
    assert policy.load(tmp_path / "agent.pt").config.encoder.vision_weights == path


@pytest.mark.parametrize("name", NAMES)
def test_alone_or_in_a_batch_while_it_learns(name: str) -> None:
    vision = make_vision(name, 32).train()
    pictures = torch.rand(3, 3, 100, 160)
    for alone, together in zip(vision(pictures[1:2]), vision(pictures), strict=True):
        most = float(together.detach().abs().max())
        torch.testing.assert_close(alone[0], together[1], rtol=1e-3, atol=1e-3 * most)


@pytest.mark.parametrize("name", NAMES)
def test_without_weights_signals_neither_vanish_nor_explode(
    name: str, observations: list[Observation]
) -> None:
    policy = HierarchicalPolicy(settings(name, None))
    screen = policy.perceive(observations)["screen"].permute(0, 3, 1, 2) / 255
    for part in policy.encoder.vision(screen):
        assert 0.01 < float(part.detach().std()) < 10


class TestWrongWeights:
    def refused(self, path: Path, error: type[Exception], name: str = "efficientnet_b0") -> Any:
        with pytest.raises(error) as caught:
            HierarchicalPolicy(settings(name, path))
        return caught.value

    def test_a_file_that_is_not_there(self, tmp_path: Path) -> None:
        error = self.refused(tmp_path / "absent.pth", ConfigError)
        assert "there is no file" in error.message
        assert "torchvision publishes for efficientnet_b0" in error.hint

    @pytest.mark.parametrize("suffix", [".pth", ".safetensors"])
    def test_a_damaged_file(self, tmp_path: Path, suffix: str) -> None:
        path = written("efficientnet_b0", tmp_path / f"w{suffix}")
        path.write_bytes(path.read_bytes()[:1000])
        said = "is damaged" if suffix == ".pth" else "can't be read"
        assert said in self.refused(path, CheckpointError).message

    def test_of_another_network(self, tmp_path: Path) -> None:
        path = written("mobilenet_v3_small", tmp_path / "w.pth")
        error = self.refused(path, CheckpointError)
        assert "was made for another network: it lacks features.1.0.block" in error.message
        assert "shapes differ" in error.message

    def test_missing_and_extra_names(self, tmp_path: Path) -> None:
        weights = published("efficientnet_b0")
        weights["features.9.0.weight"] = weights.pop("features.8.0.weight")
        path = written("efficientnet_b0", tmp_path / "w.pth", weights)
        message = self.refused(path, CheckpointError).message
        assert "it lacks features.8.0.weight; it also has features.9.0.weight" in message

    def test_no_state_dict(self, tmp_path: Path) -> None:
        torch.save([1, 2], tmp_path / "w.pth")
        assert "no weights by name" in self.refused(tmp_path / "w.pth", CheckpointError).message

    def test_for_the_small_network(self, tmp_path: Path) -> None:
        with pytest.raises(ConfigError, match="not for small"):
            EncoderConfig.build(vision_weights=tmp_path / "w.pth")
