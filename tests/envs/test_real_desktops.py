"""The environments on real desktops: seeds to the pixel, a whole episode, and many at once."""

from __future__ import annotations

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from operant.apps.view import View
from operant.envs.desktop_env import DesktopEnv
from operant.envs.rewards import CriteriaProgress, Reward
from operant.envs.vector import DesktopVectorEnv
from operant.types import Action

pytestmark = pytest.mark.x11


def test_the_same_seed_gives_the_same_first_frame_bit_for_bit() -> None:
    one, other = DesktopEnv(difficulty="EASY"), DesktopEnv(difficulty="EASY")
    try:
        for seed in range(4):
            (first, info), (again, other_info) = one.reset(seed=seed), other.reset(seed=seed)
            assert info == other_info
            assert np.array_equal(one.observation.screen, other.observation.screen), info["task"]
            assert all(np.array_equal(first[name], again[name]) for name in first)
            # And on a desktop that has been used meanwhile.
            for _ in range(3):
                if any(one.step(one.action_space.sample())[2:4]):
                    break
            used, _ = one.reset(seed=seed)
            assert np.array_equal(one.observation.screen, other.observation.screen), info["task"]
            assert all(np.array_equal(first[name], used[name]) for name in first)
    finally:
        one.close()
        other.close()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*normalized space")
def test_gymnasiums_check() -> None:
    env = DesktopEnv(difficulty="EASY")
    try:
        check_env(env, skip_render_check=True)
    finally:
        env.close()


def test_an_oracle_earns_one() -> None:
    env = DesktopEnv(difficulty="EASY", action_mode="canonical", reward=Reward([CriteriaProgress(gamma=1.0)]))
    try:
        env.reset(seed=1)
        while True:
            assert env._stage is not None
            assert env.task.oracle is not None
            action = env.task.oracle.act(View(env._stage.desktop, env.observation.last_action))
            *_, terminated, truncated, info = env.step(action)
            if terminated or truncated:
                break
        assert info["outcome"] == "success", info
        assert info["episode_terms"]["success"] == 1.0
    finally:
        env.close()


def test_many_at_once_and_one_of_them_dies() -> None:
    env = DesktopVectorEnv(3, difficulty="EASY", action_mode="canonical", spares=1)
    try:
        env.reset(seed=0)
        env.step([Action.wait()] * 3)
        victim = env._slots[1].ready.stage.desktop
        victim._supervised.process.kill()
        outcomes: list[str] = []
        for _ in range(20):
            infos = env.step([env.single_action_space.sample() for _ in range(3)])[4]
            if "final_info" in infos:
                outcomes += [outcome for outcome in infos["final_info"]["outcome"] if outcome]
            if "infra_error" in outcomes:
                break
        assert "infra_error" in outcomes
        assert env.stats.discarded == 1
        for _ in range(3):
            _, _, terminated, _, _ = env.step([Action.done()] * 3)
            assert terminated.all()
    finally:
        env.close()
