"""Something can really be learned on the fake desktop."""

from __future__ import annotations

import numpy as np
import pytest

from operant.config.desktop import DesktopConfig
from operant.envs.desktop_env import DesktopEnv
from operant.tasks.setup import Launch
from operant.tasks.task import Task
from operant.testing.fake_desktop import FakeDesktop
from operant.testing.fake_tasks import PanelLog
from operant.types import Action, Difficulty, Point


@pytest.mark.learning
def test_policy_gradient_finds_the_button() -> None:
    """REINFORCE with a softmax over a grid of clicks: from about one in ten to more than nine in ten."""
    columns, rows = 8, 5
    task = Task(
        id="fake/one-button-v1",
        instruction="Press OK.",
        difficulty=Difficulty.EASY,
        success=PanelLog(lines=("pressed OK",)),
        setup=(Launch(command=["panel", "button:OK", "button:Cancel"], place=(30, 60, 240, 100)),),
        max_steps=1,
    )
    env = DesktopEnv(
        tasks=[task],
        action_mode="canonical",
        factory=FakeDesktop.factory,
        desktop=DesktopConfig(width=320, height=200),
        size=(32, 20),
    )
    random = np.random.default_rng(0)
    preference = np.zeros(columns * rows)
    successes = []
    baseline = 0.0
    for _ in range(600):
        env.reset()
        chances = np.exp(preference - preference.max())
        chances /= chances.sum()
        cell = int(random.choice(len(chances), p=chances))
        point = Point((cell % columns + 0.5) / columns, (cell // columns + 0.5) / rows)
        _, reward, _, _, info = env.step(Action.click(point))
        advantage, baseline = float(reward) - baseline, baseline + 0.05 * (float(reward) - baseline)
        preference -= 0.8 * advantage * chances
        preference[cell] += 0.8 * advantage
        successes.append(info["is_success"])
    env.close()
    assert np.mean(successes[:40]) < 0.5
    assert np.mean(successes[-100:]) >= 0.9
