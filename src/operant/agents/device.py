"""Where a network calculates: the device by name, checked before anything starts."""

from __future__ import annotations

import torch

from operant.errors import ConfigError

__all__ = ["pick_device"]


def pick_device(name: str) -> torch.device:
    """``cpu``, ``cuda``, ``cuda:1``, ``mps``; ``auto`` takes a GPU if there is one."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        there = ["cpu", *(f"cuda:{number}" for number in range(torch.cuda.device_count()))]
        if torch.backends.mps.is_available():
            there.append("mps")
        raise ConfigError(
            f"there is no device {name!r} here", hint=f"devices of this machine: {', '.join(there)}"
        ) from error
    return device
