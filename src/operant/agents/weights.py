"""Whether weights fit a network: by name and by shape, before anything of the network is changed.

Knows nothing of files, nor of what the network is for.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from torch import Tensor, nn

from operant.errors import CheckpointError

__all__ = ["check_weights"]

NAMED = 3  # differences that a message names before it only counts them
WRAPPED = "module."  # what DataParallel and DistributedDataParallel put before every name


def check_weights(module: nn.Module, weights: Any, where: str, *, hint: str) -> None:
    """Raise unless ``weights`` has every name of the module, no other, and each with its shape."""
    if not isinstance(weights, Mapping) or not all(
        isinstance(name, str) and isinstance(part, Tensor) for name, part in weights.items()
    ):
        raise CheckpointError(f"{where} holds no weights by name", hint="a state dict: names and tensors")
    own = {name: tuple(part.shape) for name, part in module.state_dict().items()}
    given = {name: tuple(part.shape) for name, part in weights.items()}
    missing = [name for name in own if name not in given]
    extra = [name for name in given if name not in own]
    reshaped = [
        f"{name} ({_size(given[name])} there, {_size(own[name])} here)"
        for name in own
        if name in given and given[name] != own[name]
    ]
    told = [
        f"{what} {_listed(names)}"
        for what, names in (("it lacks", missing), ("it also has", extra), ("shapes differ:", reshaped))
        if names
    ]
    if not told:
        return
    if given and all(name.startswith(WRAPPED) for name in given):
        hint = f"it was saved from a wrapped network: save wrapper.module, or cut {WRAPPED!r} from the names"
    raise CheckpointError(f"{where} was made for another network: {'; '.join(told)}", hint=hint)


def _listed(names: Collection[str]) -> str:
    first = ", ".join(list(names)[:NAMED])
    return first if len(names) <= NAMED else f"{first} and {len(names) - NAMED} more"


def _size(shape: tuple[int, ...]) -> str:
    return "x".join(map(str, shape)) or "a number"
