"""Where a network calculates: the device by name, checked before anything starts, and how many threads it uses."""

from __future__ import annotations

import os

import torch

from operant.errors import ConfigError

__all__ = ["can_fuse", "pick_device", "use_threads"]


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


def use_threads(count: int | None) -> int:
    """So many for the network; by default half of the cores, since desktops need the others."""
    wanted = count if count is not None else max(1, (os.cpu_count() or 2) // 2)
    torch.set_num_threads(wanted)
    return wanted


def can_fuse(device: torch.device) -> bool:
    """Whether an optimiser can step in one operation. With one for each weight, a learner beside the threads of desktops
    waits for the interpreter a thousand times a step."""
    return device.type in ("cpu", "cuda")
