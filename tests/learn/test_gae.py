"""Advantages against sums written out by hand, and against the definition by brute force."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from operant.learn.buffer import RolloutBuffer
from operant.learn.gae import estimate_advantages, following_values

GAMMA, LAMBDA = 0.9, 0.8


def f(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


def flags(*values: int) -> np.ndarray:
    return np.array(values, np.bool_)


def estimate(
    rewards: np.ndarray, values: np.ndarray, following: np.ndarray, over: np.ndarray, environments: np.ndarray
) -> np.ndarray:
    return estimate_advantages(rewards, values, following, over, environments, gamma=GAMMA, gae_lambda=LAMBDA)


class TestByHand:
    def test_an_episode_that_ends_is_worth_nothing_more(self) -> None:
        values, one = f(0.5, 0.6), np.zeros(2, np.int64)
        following = following_values(values, one, flags(0, 1), flags(0, 0), f(0, 0), f(9.0))
        assert following == pytest.approx([0.6, 0.0])
        advantages = estimate(f(0, 1), values, following, flags(0, 1), one)
        last = 1 - 0.6
        assert advantages == pytest.approx([0.9 * 0.6 - 0.5 + 0.72 * last, last])

    def test_an_episode_that_is_cut_off_is_worth_what_the_critic_expects(self) -> None:
        values, one = f(0.5, 0.6), np.zeros(2, np.int64)
        following = following_values(values, one, flags(0, 0), flags(0, 1), f(0, 0.7), f(9.0))
        assert following == pytest.approx([0.6, 0.7])
        advantages = estimate(f(0, 0), values, following, flags(0, 1), one)
        last = 0.9 * 0.7 - 0.6
        assert advantages == pytest.approx([0.9 * 0.6 - 0.5 + 0.72 * last, last])

    def test_the_end_of_a_rollout_is_followed_by_what_is_shown_now(self) -> None:
        values, one = (
            f(
                0.5,
            ),
            np.zeros(1, np.int64),
        )
        following = following_values(values, one, flags(0), flags(0), f(0), f(2.0))
        assert estimate(f(0.1), values, following, flags(0), one) == pytest.approx([0.1 + 1.8 - 0.5])

    def test_episodes_do_not_leak_into_each_other(self) -> None:
        values, one = f(0, 0), np.zeros(2, np.int64)
        following = following_values(values, one, flags(1, 0), flags(0, 0), f(0, 0), f(100.0))
        assert estimate(f(0, 0), values, following, flags(1, 0), one)[0] == 0.0


def test_environments_that_arrive_in_any_order_give_what_each_gives_alone() -> None:
    random = np.random.default_rng(0)
    count, envs = 60, 3
    environments = random.integers(envs, size=count)
    rewards, values = (random.normal(size=count).astype(np.float32) for _ in range(2))
    ends = random.normal(size=count).astype(np.float32)
    terminated = random.random(count) < 0.15
    truncated = ~terminated & (random.random(count) < 0.15)
    now = random.normal(size=envs).astype(np.float32)
    following = following_values(values, environments, terminated, truncated, ends, now)
    together = estimate(rewards, values, following, terminated | truncated, environments)

    for environment in range(envs):
        mine = np.flatnonzero(environments == environment)
        expected = []
        for start in range(len(mine)):  # the definition: discounted surprises until the episode is over
            total, weight = 0.0, 1.0
            for at in range(start, len(mine)):
                step = mine[at]
                if terminated[step]:
                    after = 0.0
                elif truncated[step]:
                    after = float(ends[step])
                else:
                    after = float(values[mine[at + 1]] if at + 1 < len(mine) else now[environment])
                total += weight * (rewards[step] + GAMMA * after - values[step])
                weight *= GAMMA * LAMBDA
                if terminated[step] or truncated[step]:
                    break
            expected.append(total)
        assert together[mine] == pytest.approx(expected, abs=1e-5)


class TestBuffer:
    def add(
        self, buffer: RolloutBuffer, envs: list[int], *, terminated: bool = False, truncated: bool = False
    ) -> None:
        count = len(envs)
        number = torch.tensor([float(len(buffer) + row) for row in range(count)])
        buffer.add(
            envs,
            {"x": number[:, None]},
            {"type": torch.zeros(count, dtype=torch.int64)},
            torch.zeros(count),
            torch.zeros(count),
            np.ones(count),
            np.full(count, terminated),
            np.full(count, truncated),
        )

    def test_steps_of_an_episode_lost_to_the_machine_are_left_out(self) -> None:
        buffer = RolloutBuffer(2)
        self.add(buffer, [0, 1], terminated=True)
        buffer.end_episode(0, None, discard=False)
        buffer.end_episode(1, None, discard=False)
        self.add(buffer, [0, 1])
        self.add(buffer, [0], truncated=True)
        buffer.end_episode(0, {"x": torch.zeros(1)}, discard=True)
        assert buffer.cut_off() is None
        rollout = buffer.finish(f(0, 0), f(), gamma=1.0, gae_lambda=1.0)
        assert rollout.observations["x"][:, 0].tolist() == [0, 1, 3]
        assert rollout.advantage.tolist() == [1, 1, 1]

    def test_where_episodes_were_cut_off_the_critic_is_asked_in_the_order_of_steps(self) -> None:
        buffer = RolloutBuffer(2)
        self.add(buffer, [1, 0], truncated=True)
        buffer.end_episode(0, {"x": torch.tensor([7.0])}, discard=False)
        buffer.end_episode(1, {"x": torch.tensor([5.0])}, discard=False)
        asked = buffer.cut_off()
        assert asked is not None
        assert asked["x"][:, 0].tolist() == [5, 7]
        rollout = buffer.finish(f(0, 0), f(50, 70), gamma=1.0, gae_lambda=1.0)
        assert rollout.returns.tolist() == [51, 71]

    def test_minibatches_are_all_rows_once(self) -> None:
        buffer = RolloutBuffer(1)
        for _ in range(10):
            self.add(buffer, [0])
        rollout = buffer.finish(f(0), f(), gamma=1.0, gae_lambda=1.0)
        parts = list(rollout.minibatches(3, np.random.default_rng(0)))
        assert sorted(len(part) for part in parts) == [3, 3, 4]
        rows = [int(value) for part in parts for value in part.observations["x"][:, 0]]
        assert sorted(rows) == list(range(10)) != rows
