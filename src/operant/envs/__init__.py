"""Environments: one task on one desktop, the Gymnasium environments over it, and many of them at once.

Importing this registers ``operant/Desktop-v0``. Gymnasium itself looks for no plug-ins any more, so either
import it first or let Gymnasium do so: ``gymnasium.make("operant.envs:operant/Desktop-v0")``.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import gymnasium

if TYPE_CHECKING:
    from operant.envs.desktop_env import DesktopEnv
    from operant.envs.flat import FlatDesktop
    from operant.envs.rewards import Reward, RewardHackAlarm
    from operant.envs.task_environment import TaskEnvironment
    from operant.envs.task_source import TaskSource
    from operant.envs.vector import DesktopVectorEnv

__all__ = [
    "ENV_ID", "DesktopEnv", "DesktopVectorEnv", "FlatDesktop", "Reward", "RewardHackAlarm", "TaskEnvironment",
    "TaskSource",
]  # fmt: skip

ENV_ID = "operant/Desktop-v0"

if ENV_ID not in gymnasium.registry:
    gymnasium.register(
        ENV_ID,
        entry_point="operant.envs.desktop_env:DesktopEnv",
        vector_entry_point="operant.envs.vector:DesktopVectorEnv",
    )

_HOMES = {
    "DesktopEnv": "operant.envs.desktop_env",
    "DesktopVectorEnv": "operant.envs.vector",
    "FlatDesktop": "operant.envs.flat",
    "Reward": "operant.envs.rewards",
    "RewardHackAlarm": "operant.envs.rewards",
    "TaskEnvironment": "operant.envs.task_environment",
    "TaskSource": "operant.envs.task_source",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
