"""The loss against sums written out, and what an update does when something is not as it should be."""

from __future__ import annotations

import copy
import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from operant.agents.trainable import Judged, Tensors
from operant.config.learning import PPOConfig
from operant.errors import ConfigError, TrainingDiverged
from operant.learn.buffer import Rollout
from operant.learn.ppo import PPOLearner, ppo_loss
from operant.testing.toys import ToyPolicy


def rollout(policy: ToyPolicy, count: int = 40, seed: int = 0) -> Rollout:
    random = torch.Generator().manual_seed(seed)
    tasks = torch.nn.functional.one_hot(torch.randint(3, (count,), generator=random), 3).float()
    observations = {"task": tasks, "clock": torch.rand((count, 1), generator=random)}
    sampled = policy.sample(observations, generator=random)
    advantage = torch.randn(count, generator=random)
    return Rollout(
        observations, sampled.actions, sampled.log_prob, sampled.value, advantage, advantage + sampled.value
    )


class TestLoss:
    def judge(self, batch: Rollout, seed: int = 1) -> Judged:
        random = torch.Generator().manual_seed(seed)
        moved = batch.log_prob + 0.4 * torch.randn(len(batch), generator=random)
        entropy = {name: torch.rand(len(batch), generator=random) for name in ("kind", "number")}
        return Judged(moved, batch.value + torch.randn(len(batch), generator=random), entropy)

    @pytest.mark.parametrize("value_clip", [None, 0.3])
    def test_it_is_what_the_paper_says_step_by_step(self, value_clip: float | None) -> None:
        config = PPOConfig(
            value_clip=value_clip,
            entropy_coefficient=0.02,
            entropy_coefficients={"number": 0.5},
            clip_epsilon=0.2,
        )
        batch = rollout(ToyPolicy())
        judged = self.judge(batch)
        policy = value = kl = clipped = 0.0
        for step in range(len(batch)):
            advantage = float(batch.advantage[step])
            ratio = math.exp(float(judged.log_prob[step]) - float(batch.log_prob[step]))
            near = min(max(ratio, 0.8), 1.2)
            policy -= min(ratio * advantage, near * advantage)
            error = (float(judged.value[step]) - float(batch.returns[step])) ** 2
            if value_clip is not None:
                old = float(batch.value[step])
                held = old + min(max(float(judged.value[step]) - old, -value_clip), value_clip)
                error = max(error, (held - float(batch.returns[step])) ** 2)
            value += 0.5 * error
            kl += ratio - 1 - math.log(ratio)
            clipped += abs(ratio - 1) > 0.2
        count = len(batch)
        kinds, numbers = (float(judged.entropy[name].mean()) for name in ("kind", "number"))
        loss = ppo_loss(judged, batch, config)
        assert float(loss.policy) == pytest.approx(policy / count, rel=1e-4)
        assert float(loss.value) == pytest.approx(value / count, rel=1e-4)
        assert float(loss.kl) == pytest.approx(kl / count, rel=1e-3)
        assert float(loss.clipped) == pytest.approx(clipped / count)
        expected = policy / count + 0.5 * value / count - 0.02 * kinds - 0.5 * numbers
        assert float(loss.total) == pytest.approx(expected, rel=1e-4)

    def test_at_the_old_policy_its_gradient_is_the_policy_gradient(self) -> None:
        policy = ToyPolicy()
        batch = rollout(policy)
        config = PPOConfig(value_coefficient=0.0, entropy_coefficient=0.0)
        ppo_loss(policy.judge(batch.observations, batch.actions), batch, config).total.backward()
        found = policy.kind.weight.grad
        assert found is not None
        found = found.clone()
        policy.zero_grad()
        log_prob = policy.judge(batch.observations, batch.actions).log_prob
        (-(log_prob * batch.advantage).mean()).backward()
        assert policy.kind.weight.grad is not None
        assert torch.allclose(found, policy.kind.weight.grad, atol=1e-6)

    def test_beyond_the_clip_nothing_pulls_further(self) -> None:
        batch = rollout(ToyPolicy(), 1).rows([0])
        batch = Rollout(
            batch.observations, batch.actions, torch.zeros(1), torch.zeros(1), torch.ones(1), torch.zeros(1)
        )
        log_prob = torch.tensor([0.5], requires_grad=True)
        config = PPOConfig(value_coefficient=0.0)
        ppo_loss(Judged(log_prob, torch.zeros(1)), batch, config).total.backward()
        assert log_prob.grad is not None
        assert float(log_prob.grad) == 0.0


class Ill(ToyPolicy):
    """Answers NaN for the first so many times, or with gradients that are."""

    def __init__(self, times: int, *, gradient: bool = False) -> None:
        super().__init__()
        self.times, self.gradient = times, gradient

    def judge(self, observations: Tensors, actions: Tensors) -> Judged:
        judged = super().judge(observations, actions)
        if self.times > 0 and torch.is_grad_enabled():
            self.times -= 1
            # The root of zero: a finite number with an infinite slope.
            broken = (judged.value * 0).sqrt() if self.gradient else judged.value * math.nan
            return Judged(judged.log_prob, judged.value + broken, judged.entropy)
        return judged


class TestUpdate:
    def test_it_moves_the_policy_and_says_how(self) -> None:
        torch.manual_seed(0)
        policy = ToyPolicy()
        before = copy.deepcopy(policy.state_dict())
        learned = PPOLearner(policy, PPOConfig(minibatch_size=10, target_kl=None)).update(rollout(policy))
        assert learned.gradient_steps == 16
        assert learned.skipped == 0
        assert not learned.stopped_early
        assert set(learned.entropy) == {"kind", "number"}
        assert any(not torch.equal(before[name], value) for name, value in policy.state_dict().items())
        assert math.isfinite(learned.loss)
        assert learned.grad_norm > 0

    def test_a_head_that_some_minibatches_do_not_use_is_no_trouble(self) -> None:
        class Sparing(ToyPolicy):
            def judge(self, observations: Tensors, actions: Tensors) -> Judged:
                judged = super().judge(observations, actions)
                used = judged.entropy if bool((actions["number"] > 1.5).any()) else {}
                return Judged(judged.log_prob, judged.value, used)

        torch.manual_seed(0)
        policy = Sparing()
        learned = PPOLearner(policy, PPOConfig(minibatch_size=5, target_kl=None)).update(rollout(policy))
        assert learned.gradient_steps == 32
        assert 0 < learned.entropy["kind"] < 1.2

    def test_it_stops_once_the_policy_has_moved_enough(self) -> None:
        torch.manual_seed(0)
        policy = ToyPolicy()
        ppo = PPOLearner(policy, PPOConfig(learning_rate=0.1, target_kl=0.01, minibatch_size=10))
        learned = ppo.update(rollout(policy))
        assert learned.stopped_early
        assert learned.gradient_steps < 16

    def test_experience_of_older_weights_is_learned_from_too(self) -> None:
        torch.manual_seed(0)
        policy = ToyPolicy()
        collected_before = rollout(policy)
        PPOLearner(policy, PPOConfig(learning_rate=0.1, target_kl=None, minibatch_size=10)).update(
            collected_before
        )
        learned = PPOLearner(policy, PPOConfig(learning_rate=0.1, target_kl=0.01, minibatch_size=10)).update(
            collected_before
        )
        assert learned.kl > 0.01
        assert learned.gradient_steps > 0

    @pytest.mark.parametrize("gradient", [False, True], ids=["loss", "gradient"])
    def test_what_is_not_finite_is_skipped_and_counted(self, gradient: bool) -> None:
        policy = Ill(2, gradient=gradient)
        learned = PPOLearner(policy, PPOConfig(minibatch_size=10, target_kl=None)).update(rollout(policy))
        assert (learned.skipped, learned.gradient_steps) == (2, 14)
        assert all(bool(torch.isfinite(part).all()) for part in policy.parameters())

    def test_too_much_of_it_ends_the_run(self) -> None:
        policy = Ill(1000)
        before = copy.deepcopy(policy.state_dict())
        with pytest.raises(TrainingDiverged, match="3 times in a row") as told:
            PPOLearner(policy, PPOConfig(minibatch_size=10, most_skipped=3)).update(rollout(policy))
        assert told.value.hint is not None
        assert all(torch.equal(before[name], value) for name, value in policy.state_dict().items())

    def test_a_rollout_without_experience_changes_nothing(self) -> None:
        policy = ToyPolicy()
        learned = PPOLearner(policy).update(rollout(policy).rows(torch.zeros(40, dtype=torch.bool)))
        assert learned.gradient_steps == 0

    @pytest.mark.parametrize("precision", ["bf16", "fp16"])
    def test_half_precision_learns_nearly_the_same(self, precision: str) -> None:
        torch.manual_seed(0)
        policy = ToyPolicy()
        other = copy.deepcopy(policy)
        batch = rollout(policy)
        config = {"minibatch_size": 40, "update_epochs": 1, "target_kl": None}
        full = PPOLearner(policy, PPOConfig(**config)).update(batch)
        half = PPOLearner(other, PPOConfig(**config, precision=precision)).update(batch)
        assert half.gradient_steps + half.skipped == 1
        assert half.loss == pytest.approx(full.loss, abs=0.05)
        assert all(part.dtype == torch.float32 for part in other.parameters())

    def test_gradient_checkpointing_is_asked_of_the_policy(self) -> None:
        policy = ToyPolicy()
        PPOLearner(policy, PPOConfig(gradient_checkpointing=True))
        assert policy.checkpointing
        policy.gradient_checkpointing = None  # type: ignore[assignment,method-assign]
        with pytest.raises(ConfigError, match="no gradient checkpointing"):
            PPOLearner(policy, PPOConfig(gradient_checkpointing=True))

    def test_advantages_are_normalised_over_the_whole_rollout(self) -> None:
        policy = ToyPolicy()
        prepared = PPOLearner(policy)._prepared(rollout(policy))
        assert float(prepared.advantage.mean()) == pytest.approx(0, abs=1e-6)
        assert float(prepared.advantage.std(correction=0)) == pytest.approx(1, abs=1e-5)


class Uneven(ToyPolicy):
    """A policy whose rows are of different length."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[int] = []

    def lengths(self, observations: Tensors) -> torch.Tensor:
        return (1000 * observations["clock"][:, 0]).long()

    def judge(self, observations: Tensors, actions: Tensors) -> Judged:
        self.asked.append(len(actions["type"]))
        judged = super().judge(observations, actions)
        used = {head: part for head, part in judged.entropy.items() if bool((part != 0).any())}
        return Judged(judged.log_prob, judged.value, used)


def test_rows_of_like_length_are_judged_together_and_it_comes_to_the_same() -> None:
    torch.manual_seed(0)
    plain, uneven = ToyPolicy(), Uneven()
    uneven.load_state_dict(plain.state_dict())
    batch = rollout(plain, 100)
    config = PPOConfig(minibatch_size=100, update_epochs=1)
    first, second = (PPOLearner(policy, config).update(batch) for policy in (plain, uneven))
    assert uneven.asked == [32, 32, 32, 4]
    assert second.loss == pytest.approx(first.loss, rel=1e-5)
    assert second.entropy == pytest.approx(first.entropy, rel=1e-5)
    for name, part in plain.state_dict().items():
        torch.testing.assert_close(uneven.state_dict()[name], part, rtol=1e-4, atol=1e-6)


class TestCritic:
    def test_it_learns_what_came_of_a_rollout_and_nothing_else_changes(self) -> None:
        torch.manual_seed(0)
        policy = ToyPolicy()
        batch = rollout(policy, 400)
        returns = batch.observations["task"][:, 0]  # known from the task alone
        batch = replace(batch, returns=returns)
        before = {name: part.clone() for name, part in policy.state_dict().items()}

        def off() -> float:
            with torch.no_grad():
                return float(((policy.value(batch.observations) - returns) ** 2).mean())

        error = off()
        learned = PPOLearner(policy, PPOConfig(minibatch_size=64)).fit_critic(batch)
        assert off() < 0.2 * error
        assert 0 < learned.value_loss < error
        changed = {name for name, part in policy.state_dict().items() if not torch.equal(part, before[name])}
        assert changed == {"worth.weight", "worth.bias"}

    def test_a_rollout_without_experience_teaches_nothing(self) -> None:
        policy = ToyPolicy()
        before = {name: part.clone() for name, part in policy.state_dict().items()}
        assert PPOLearner(policy).fit_critic(rollout(policy, 4).rows([])).gradient_steps == 0
        assert all(torch.equal(part, before[name]) for name, part in policy.state_dict().items())


@pytest.mark.learning
def test_a_bandit_is_learned() -> None:
    """The right one of three actions for each of three contexts: from a third to nearly always."""
    torch.manual_seed(0)
    policy = ToyPolicy()
    ppo = PPOLearner(policy, PPOConfig(learning_rate=0.02, minibatch_size=64, target_kl=None))
    random = torch.Generator().manual_seed(0)
    right = []
    for _ in range(40):
        context = torch.randint(3, (128,), generator=random)
        observations = {
            "task": torch.nn.functional.one_hot(context, 3).float(),
            "clock": torch.zeros(128, 1),
        }
        sampled = policy.sample(observations, generator=random)
        reward = (sampled.actions["type"] == context).float()
        right.append(float(reward.mean()))
        ppo.update(
            Rollout(
                observations, sampled.actions, sampled.log_prob, sampled.value, reward - sampled.value, reward
            )
        )
    assert right[0] < 0.6
    assert np.mean(right[-5:]) > 0.95
