"""A short run on real desktops, one of which dies under it."""

from __future__ import annotations

from typing import Any

import pytest

from operant.config.desktop import DesktopConfig
from operant.envs.desktop_env import start_desktop
from operant.learn.checkpoint import load_checkpoint
from operant.train.run import train

from .conftest import Settings

pytestmark = pytest.mark.x11


@pytest.mark.slow
def test_a_desktop_that_is_killed_costs_an_episode_and_nothing_else(settings: Settings) -> None:
    started: list[Any] = []

    def factory(config: DesktopConfig) -> Any:
        started.append(start_desktop(config))
        return started[-1]

    victims: list[Any] = []

    class Killing:
        """Kills the first desktop that is being played on, at its second action."""

        def __call__(self, config: DesktopConfig) -> Any:
            desktop = factory(config)
            perform, done = desktop.perform, [0]

            def performing(action: Any) -> Any:
                done[0] += 1
                if done[0] == 2 and not victims:
                    victims.append(desktop)
                    desktop._supervised.process.kill()
                return perform(action)

            desktop.perform = performing
            return desktop

    config = settings(
        training={"total_timesteps": 40, "buffer_size": 20},
        environment={"tasks": ("core/calculator-type-sum-v1",), "spares": 1},
        desktop={"width": 1280, "height": 800},
    )
    result = train(config, factory=Killing())
    assert victims
    assert result.step >= 40
    assert result.discarded == 1
    assert result.checkpoint is not None
    assert load_checkpoint(result.checkpoint)["progress"]["discarded"] == 1
    assert len(started) > 3  # another one took its place
