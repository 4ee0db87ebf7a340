"""How episodes of a run are played: on which desktops, with which rewards and limits. Imports no model library."""

from __future__ import annotations

import atexit
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

from operant.agents.base import Agent
from operant.agents.vlm.backends.base import Backend
from operant.config.desktop import DesktopConfig
from operant.config.vlm_training import VLMTrainingConfig
from operant.desktop.pool import DesktopPool
from operant.desktop.protocol import Desktop
from operant.desktop.providers import open_provider
from operant.desktop.sandbox import SandboxDesktop
from operant.envs.task_environment import TaskEnvironment
from operant.errors import ConfigError, MissingDependency
from operant.rollout.player import PooledDesktops
from operant.train.vlm.rollouts import Rewards, RolloutJob, RolloutPlayer

__all__ = ["DesktopFactory", "desktop_factory", "desktop_pool", "rollout_player"]

DesktopFactory: TypeAlias = Callable[[DesktopConfig], Desktop]
LEASE_S = 3600.0


def desktop_pool(config: VLMTrainingConfig, count: int, desktops: DesktopFactory | None) -> DesktopPool:
    """``desktops`` in place of those that the settings name."""
    factory = desktops or desktop_factory(config)
    return DesktopPool(count, config.desktop, ttl_s=LEASE_S, factory=factory)


def desktop_factory(config: VLMTrainingConfig) -> DesktopFactory:
    """Where desktops come from: this machine, or the servers that the settings name.

    Servers are asked at once, before a large model is loaded for nothing.
    """
    settings = config.environment
    if config.provider or config.path_to_vm:
        if settings.ui_env_urls:
            raise ConfigError(
                "environment.ui_env_urls and a provider both say where desktops are",
                hint="leave one of them out; the provider remote has urls of its own",
            )
        provider = open_provider(config, config.desktop, settings.desktops)
        atexit.register(provider.close)
        return provider.start
    if not settings.ui_env_urls:
        return SandboxDesktop
    access: dict[str, Any] = {
        "token_variable": settings.ui_env_token_variable,
        "timeout_s": settings.ui_env_timeout_s,
    }
    fleet: RemoteFleet | UiRlFleet
    try:
        if config.actor.session_type is not None:
            from operant.desktop.ui_rl import UiRlFleet

            fleet = UiRlFleet(settings.ui_env_urls, config.actor.session_type, **access)
        else:
            from operant.desktop.remote import RemoteFleet

            fleet = RemoteFleet(settings.ui_env_urls, **access)
    except ImportError as error:
        raise MissingDependency(
            f"remote desktops need {error.name}", hint='pip install "operant[remote]"'
        ) from error
    fleet.check(config.desktop)
    return fleet.lease


def rollout_player(
    config: VLMTrainingConfig,
    pool: DesktopPool,
    backend: Backend,
    directory: Path,
    make_agent: Callable[[RolloutJob], Agent] | None = None,
) -> RolloutPlayer:
    """Plays episodes as the settings say; ``make_agent`` in place of the model."""
    actors = config.actor
    # Windows take time to list. They are needed to know which application's functions to offer.
    with_windows = config.desktop.actions != "gui" and config.prompt.list_functions

    def environment(desktop: Desktop, agent: Agent) -> TaskEnvironment:
        return TaskEnvironment(desktop, end_on_success=actors.end_on_success, with_windows=with_windows)

    return RolloutPlayer(
        PooledDesktops(pool, environment),
        backend,
        prompt=config.prompt,
        rewards=Rewards(actors.success_reward, actors.invalid_reward),
        episodes=directory / "episodes" if actors.keep_episodes else None,
        make_agent=make_agent,
    )
