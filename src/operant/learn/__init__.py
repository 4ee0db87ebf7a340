"""Learning: advantages, PPO, curricula, checkpoints. Environments and policies are handed in, never imported."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from operant.learn.trainer import PPOTrainer

__all__ = ["PPOTrainer"]

_HOMES = {"PPOTrainer": "operant.learn.trainer"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
