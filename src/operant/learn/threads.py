"""How many threads a network uses beside desktops, and whether its optimiser steps in one operation."""

from __future__ import annotations

import os

import torch

__all__ = ["can_fuse", "use_threads"]


def use_threads(count: int | None) -> int:
    """So many for the network; by default half of the cores, since desktops need the others."""
    wanted = count if count is not None else max(1, (os.cpu_count() or 2) // 2)
    torch.set_num_threads(wanted)
    return wanted


def can_fuse(device: torch.device) -> bool:
    """Whether an optimiser can step in one operation. With one for each weight, a learner beside the threads of desktops
    waits for the interpreter a thousand times a step."""
    return device.type in ("cpu", "cuda")
