"""How episodes of a run are played: on which desktops, with which rewards and limits. Imports no model library."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from operant.agents.vlm.backends.base import Backend
from operant.config.desktop import DesktopConfig
from operant.config.vlm_training import VLMTrainingConfig
from operant.desktop.pool import DesktopPool
from operant.desktop.sandbox import SandboxDesktop
from operant.rollout.actors import Rewards, TaskRunner
from operant.train.vlm.tasks import desktop_config

__all__ = ["DesktopFactory", "desktop_pool", "task_runner"]

DesktopFactory: TypeAlias = Callable[[DesktopConfig], SandboxDesktop]
LEASE_S = 3600.0


def desktop_pool(config: VLMTrainingConfig, count: int, desktops: DesktopFactory | None) -> DesktopPool:
    factory = {} if desktops is None else {"factory": desktops}
    return DesktopPool(count, desktop_config(config.environment), ttl_s=LEASE_S, **factory)


def task_runner(
    config: VLMTrainingConfig, pool: DesktopPool, backend: Backend, directory: Path
) -> TaskRunner:
    """Plays episodes as the settings say."""
    actors = config.actor
    return TaskRunner(
        pool,
        backend,
        prompt=config.prompt,
        rewards=Rewards(actors.success_reward, actors.invalid_reward),
        max_steps=actors.max_steps_per_episode,
        end_on_success=actors.end_on_success,
        episodes=directory / "episodes" if actors.keep_episodes else None,
    )
