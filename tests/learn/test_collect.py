"""Rollouts: nobody waits for the slowest, nothing is lost between two of them, and nothing false is learned from."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from operant.agents.trainable import Sampled, Screens, Tensors
from operant.errors import TrainingDiverged
from operant.learn.collect import Collector, Interrupted
from operant.testing.toys import ToyEnvironments, ToyPolicy
from operant.types import Action


def collector(env: Any, **options: Any) -> Collector:
    return Collector(env, **{"gamma": 0.9, "gae_lambda": 0.8, "seed": 3, **options})


@pytest.mark.parametrize("asynchronous", [False, True])
def test_every_step_is_there_once_with_what_was_known_when_it_was_made(asynchronous: bool) -> None:
    torch.manual_seed(0)
    policy, env = ToyPolicy(), ToyEnvironments(4)
    collecting = collector(env, asynchronous=asynchronous)
    for _ in range(3):
        collected = collecting.collect(policy, 40)
        rollout = collected.rollout
        assert 40 <= collected.steps == len(rollout) < 44
        with torch.no_grad():
            judged = policy.judge(rollout.observations, rollout.actions)
        assert torch.allclose(judged.log_prob, rollout.log_prob, atol=1e-6)
        assert torch.allclose(judged.value, rollout.value, atol=1e-6)
        assert sum(collected.kinds.values()) >= collected.steps - 4
        assert set(collected.kinds) <= {"0", "1", "2"}
        assert all(ended.task.startswith("toy/") for ended in collected.episodes)


def test_the_slow_one_does_not_keep_the_others_waiting() -> None:
    env = ToyEnvironments(4, slow=[2])
    collected = collector(env).collect(ToyPolicy(), 60)
    counts = np.bincount(env.log, minlength=4)
    assert counts[2] * 3 < counts[0]
    assert collected.steps == counts.sum()


def test_advantages_of_interleaved_environments_are_those_of_each_alone() -> None:
    """With gamma = lambda = 1, an advantage is the return that followed, less the value."""
    torch.manual_seed(1)
    policy, env = ToyPolicy(), ToyEnvironments(3, max_steps=1000)
    collecting = collector(env, gamma=1.0, gae_lambda=1.0, asynchronous=True)
    rollout = collecting.collect(policy, 90).rollout
    # Every episode ends in success, now or later: what follows is 1, or what the critic expects now.
    with torch.no_grad():
        now = policy.value(collecting._seen)
    expected = {1.0, *(float(value) for value in now)}
    for value in rollout.returns.tolist():
        assert min(abs(value - other) for other in expected) < 1e-5


@pytest.mark.parametrize("bootstrap", [False, True])
def test_what_follows_a_step_cap_is_nothing_or_what_the_critic_expects(bootstrap: bool) -> None:
    torch.manual_seed(1)
    policy, env = ToyPolicy(), ToyEnvironments(3, max_steps=1)
    collecting = collector(env, gamma=0.5, gae_lambda=1.0, bootstrap_truncated=bootstrap)
    rollout = collecting.collect(policy, 30).rollout
    failed = rollout.actions["type"] != rollout.observations["task"].argmax(1)
    assert failed.any()
    with torch.no_grad():
        last = policy.value({**rollout.observations, "clock": torch.ones(len(rollout), 1)})
    expected = (~failed).float() + (0.5 * last * failed if bootstrap else 0.0)
    assert torch.allclose(rollout.returns, expected, atol=1e-6)


def test_an_episode_lost_to_the_machine_teaches_nothing() -> None:
    env = ToyEnvironments(2, lost=[0, 1, 3])
    collected = collector(env, asynchronous=False).collect(ToyPolicy(), 12)
    lost = [ended for ended in collected.episodes if ended.discard]
    assert len(lost) == 3
    assert all(ended.outcome == "infra_error" and not ended.success for ended in lost)
    assert len(collected.rollout) == collected.steps - sum(ended.steps for ended in lost)


class Looking(ToyPolicy):
    """Notes the frames that it is given."""

    def __init__(self) -> None:
        super().__init__()
        self.given: list[Screens | None] = []

    def sample(self, observations: Tensors, screens: Screens | None = None, **options: Any) -> Sampled:
        self.given.append(screens)
        return super().sample(observations, **options)


def test_policies_are_given_the_frames_behind_the_observations() -> None:
    class Seen:
        def __init__(self, index: int) -> None:
            self.screen = np.full((2, 2, 3), index, np.uint8)

    policy, env = Looking(), ToyEnvironments(4)
    env.observations = [Seen(index) for index in range(4)]  # type: ignore[attr-defined]
    collector(env).collect(policy, 8)
    assert policy.given[0] is not None
    assert [int(screen[0, 0, 0]) for screen in policy.given[0]] == [0, 1, 2, 3]
    assert policy.given[1] is not None
    assert [int(screen[0, 0, 0]) for screen in policy.given[1]] == [0, 1]
    blind = Looking()
    collector(ToyEnvironments(4)).collect(blind, 8)
    assert blind.given[0] is None


def test_whoever_watches_is_told_of_every_action_beforehand() -> None:
    seen: list[int] = []
    env = ToyEnvironments(2)
    collected = collector(env, asynchronous=False, watch=lambda index, action: seen.append(index)).collect(
        ToyPolicy(), 10
    )
    assert seen == [0, 1] * (collected.steps // 2)


def test_kinds_of_actions_have_names_where_somebody_gave_them() -> None:
    collecting = collector(ToyEnvironments(2), action_names=["click", "type", "key"])
    assert set(collecting.collect(ToyPolicy(), 40).kinds) <= {"click", "type", "key"}
    assert collecting._kind(Action.wait()) == "wait"


def test_asking_to_stop_ends_it_between_steps() -> None:
    asked = iter([False, False, True])
    with pytest.raises(Interrupted):
        collector(ToyEnvironments(2), stop=lambda: next(asked)).collect(ToyPolicy(), 100)


def test_a_policy_that_is_not_finite_is_said_to_be() -> None:
    policy = ToyPolicy()
    with torch.no_grad():
        policy.worth.bias.fill_(torch.nan)
    with pytest.raises(TrainingDiverged, match="not finite"):
        collector(ToyEnvironments(2)).collect(policy, 4)
