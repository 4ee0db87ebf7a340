"""A device that is not there: real numbers on the CPU under another name, which mix with nothing as those of a GPU do not.

``elsewhere`` moves a module to it. An operation that gets a tensor of the CPU beside one from here fails, as it would on
CUDA; so does ``.numpy()``. It goes by the name "meta", the only other device type that every build of PyTorch has.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map

__all__ = ["DEVICE", "elsewhere", "only_there"]

DEVICE = torch.device("meta")


class Remote(Tensor):
    """A tensor over there."""

    kept: Tensor

    @staticmethod
    def __new__(cls, kept: Tensor) -> Remote:
        made = Tensor._make_wrapper_subclass(
            cls, kept.size(), kept.stride(), kept.storage_offset(), dtype=kept.dtype, device=DEVICE
        )
        made.kept = kept
        return made

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return run(func, args, kwargs or {})

    def __repr__(self, **_: Any) -> str:
        return f"Remote({self.kept!r})"


class Device(TorchDispatchMode):
    """Makes new tensors over there where that is asked for."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return run(func, args, kwargs or {})


def run(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    device = kwargs.get("device")
    there = [one for one in tree_flatten((args, kwargs))[0] if isinstance(one, Tensor)]
    remote = any(isinstance(one, Remote) for one in there)
    moving = func in (torch.ops.aten._to_copy.default, torch.ops.aten.copy_.default)
    if remote and not moving:
        # As on CUDA, a number of the CPU may take part, and an index may.
        strangers = [one for one in there if not isinstance(one, Remote) and one.dim() > 0]
        indexing = func in (torch.ops.aten.index.Tensor, torch.ops.aten.index_put_.default)
        if strangers and not indexing:
            raise RuntimeError(f"{func}: tensors of two devices, {DEVICE} and cpu")
    plain = tree_map(lambda one: one.kept if isinstance(one, Remote) else one, (args, kwargs))
    if device is not None and torch.device(device).type == DEVICE.type:
        plain[1]["device"] = torch.device("cpu")
    out = func(*plain[0], **plain[1])
    if func is torch.ops.aten.copy_.default:
        return args[0]
    stays = remote if device is None else torch.device(device).type == DEVICE.type
    return tree_map(lambda one: Remote(one) if isinstance(one, Tensor) and stays else one, out)


def elsewhere(module: nn.Module) -> None:
    """Move all its weights."""
    for part in module.modules():
        for name, weight in list(part._parameters.items()):
            if weight is not None:
                part._parameters[name] = nn.Parameter(Remote(weight.data), weight.requires_grad)
        for name, buffer in list(part._buffers.items()):
            if buffer is not None:
                part._buffers[name] = Remote(buffer)


@contextmanager
def only_there() -> Iterator[None]:
    """While the module is used."""
    with Device(), mock.patch.object(torch, "tensor", made_here_and_moved):
        yield


def made_here_and_moved(data: Any, *, device: Any = None, tensor: Any = torch.tensor, **how: Any) -> Tensor:
    """``torch.tensor`` fills its tensor where no dispatch mode can see it."""
    made: Tensor = tensor(data, **how)
    return made if device is None else made.to(device)
