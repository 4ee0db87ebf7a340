"""Each loss and advantage against a slow reference that is written from its formula, in plain floats."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable

import pytest
import torch

from operant.agents.vlm.trajectory import Trajectory, Turn
from operant.errors import ConfigError
from operant.learn.vlm.advantages import (
    gae,
    group_advantages,
    leave_one_out,
    length_lambda,
    normalised,
    returns,
)
from operant.learn.vlm.base import Algorithm, Batch, Example
from operant.learn.vlm.grpo import GRPO
from operant.learn.vlm.ppo import PPO
from operant.learn.vlm.reinforce import RLOO, ReinforcePlusPlus
from operant.learn.vlm.rejection_sampling import RejectionSampling
from operant.learn.vlm.sft import SFT

from .tabular import TabularPolicy, context_of, random_trajectories

POLICY = TabularPolicy(1)
TRAJECTORIES = random_trajectories(POLICY)
EPSILON = 1e-6


# The pieces of the references.


def log_prob(turn: Turn, position: int) -> float:
    row = POLICY.logits.detach()[context_of(turn.prompt), position].double().tolist()
    return row[turn.answer.token_ids[position]] - math.log(sum(math.exp(value) for value in row))


def entropy(turn: Turn, position: int) -> float:
    row = POLICY.logits.detach()[context_of(turn.prompt), position].double().tolist()
    total = sum(math.exp(value) for value in row)
    chances = [math.exp(value) / total for value in row]
    return -sum(chance * math.log(chance) for chance in chances)


def clipped(now: float, old: float, advantage: float, low: float, high: float) -> float:
    ratio = math.exp(now - old)
    if advantage >= 0:
        return -min(ratio, 1 + high) * advantage
    return -max(ratio, 1 - low) * advantage


def pairs(trajectories: list[Trajectory]) -> list[tuple[Trajectory, int, Turn]]:
    return [(one, step, turn) for one in trajectories for step, turn in enumerate(one.turns)]


def over_turns(per_turn: list[list[float]]) -> float:
    return statistics.fmean(statistics.fmean(tokens) for tokens in per_turn)


def over_tokens(per_turn: list[list[float]]) -> float:
    flat = [value for tokens in per_turn for value in tokens]
    return sum(flat) / len(flat)


# What is tested.


def total_loss(
    algorithm: Algorithm,
    *,
    values: Callable[[Turn], float] | None = None,
    critic: torch.Tensor | None = None,
    proximal: Callable[[Turn], tuple[float, ...]] | None = None,
    parts: int = 1,
) -> float:
    """The algorithm's loss of all trajectories, in so many micro-batches."""
    from dataclasses import replace

    expected = [[values(turn) for turn in one.turns] for one in TRAJECTORIES] if values else []
    examples = algorithm.examples(TRAJECTORIES, expected)
    if proximal is not None:
        examples = [replace(example, proximal=proximal(example.turn)) for example in examples]
    tokens = sum(len(example.turn.answer.token_ids) for example in examples)
    size = math.ceil(len(examples) / parts)
    total = 0.0
    for start in range(0, len(examples), size):
        part = examples[start : start + size]
        judged = POLICY.judge(
            [example.turn.prompt for example in part], [example.turn.answer.token_ids for example in part]
        )
        said = None if critic is None else critic[[context_of(example.turn.prompt) for example in part]]
        batch = Batch.of(part, len(examples), tokens, torch.device("cpu"))
        total += algorithm.loss(judged, said, batch)[0].item()
    return total


@pytest.mark.parametrize("lam", [0.0, 0.5, 0.95, 1.0])
def test_gae_is_the_sum_of_discounted_surprises(lam: float) -> None:
    rewards, values, gamma = [0.0, 0.5, -0.1, 1.0], [0.3, 0.2, -0.4, 0.7], 0.9
    surprise = [
        rewards[t] + gamma * (values[t + 1] if t + 1 < len(values) else 0.0) - values[t] for t in range(4)
    ]
    reference = [sum((gamma * lam) ** (k - t) * surprise[k] for k in range(t, 4)) for t in range(4)]
    assert gae(rewards, values, gamma, lam) == pytest.approx(reference)


def test_lambda_1_gives_returns_and_lambda_0_one_step() -> None:
    rewards, values = [0.0, 0.0, 1.0], [0.2, 0.4, 0.9]
    ones = gae(rewards, values, 0.9, 1.0)
    assert [a + v for a, v in zip(ones, values, strict=True)] == pytest.approx(returns(rewards, 0.9))
    assert returns(rewards, 0.9) == pytest.approx([0.81, 0.9, 1.0])
    assert gae(rewards, values, 1.0, 0.0) == pytest.approx([0.2, 0.5, 0.1])


def test_lambda_grows_with_the_episode() -> None:
    assert length_lambda(1, 0.05) == 0.0
    assert length_lambda(100, 0.05) == pytest.approx(0.8)


def test_small_advantages() -> None:
    assert leave_one_out([1.0, 0.0, 0.0]) == pytest.approx([1.0, -0.5, -0.5])
    assert leave_one_out([1.0]) == [0.0]
    assert normalised([]) == []
    assert normalised([2.0, 2.0]) == [0.0, 0.0]
    assert group_advantages([[1.0, 1.0], [0.0]], spread=False) == [
        pytest.approx([1 / 3, 1 / 3]),
        pytest.approx([-2 / 3]),
    ]


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("per_token", [False, True])
@pytest.mark.parametrize("entropy_weight", [0.0, 0.05])
def test_grpo(parts: int, per_token: bool, entropy_weight: float) -> None:
    per_turn = []
    for group in ("one", "two"):
        members = [one for one in TRAJECTORIES if one.group == group]
        rewards = {
            (id(one), step): 1.0 if one.success and turn.valid else 0.0 for one, step, turn in pairs(members)
        }
        mean = sum(rewards.values()) / len(rewards)
        spread = math.sqrt(sum((value - mean) ** 2 for value in rewards.values()) / len(rewards))
        for one, step, turn in pairs(members):
            advantage = (rewards[id(one), step] - mean) / (spread + EPSILON)
            per_turn.append(
                [
                    clipped(log_prob(turn, k), turn.answer.log_probs[k], advantage, 0.2, 0.28)
                    - entropy_weight * entropy(turn, k)
                    for k in range(len(turn.answer.token_ids))
                ]
            )
    reference = over_tokens(per_turn) if per_token else over_turns(per_turn)
    found = total_loss(GRPO(per_token=per_token, entropy_weight=entropy_weight), parts=parts)
    assert found == pytest.approx(reference, abs=1e-5)


def proximal_of(turn: Turn) -> tuple[float, ...]:
    return tuple(value + 0.4 * (-1) ** position for position, value in enumerate(turn.answer.log_probs))


@pytest.mark.parametrize("cap", [None, 1.2])
def test_decoupled_ppo_and_truncated_importance_sampling(cap: float | None) -> None:
    algorithm = ReinforcePlusPlus(decoupled=True, importance_cap=cap, clip_low=0.2, clip_high=0.3)
    assert algorithm.needs_proximal
    sums = {
        (id(one), step): sum(turn.reward for turn in one.turns[step:]) for one, step, _ in pairs(TRAJECTORIES)
    }
    mean = statistics.fmean(sums.values())
    spread = statistics.pstdev(sums.values())
    per_turn = []
    for one, step, turn in pairs(TRAJECTORIES):
        advantage = (sums[id(one), step] - mean) / (spread + EPSILON)
        row = []
        for k, old in enumerate(turn.answer.log_probs):
            weight = math.exp(proximal_of(turn)[k] - old)
            weight = weight if cap is None else min(weight, cap)
            row.append(weight * clipped(log_prob(turn, k), proximal_of(turn)[k], advantage, 0.2, 0.3))
        per_turn.append(row)
    assert total_loss(algorithm, proximal=proximal_of, parts=2) == pytest.approx(
        over_tokens(per_turn), abs=1e-5
    )


def test_rloo() -> None:
    per_turn = []
    for one in TRAJECTORIES:
        others = [two.total_reward() for two in TRAJECTORIES if two.group == one.group and two is not one]
        advantage = one.total_reward() - statistics.fmean(others)
        per_turn += [
            [
                clipped(log_prob(turn, k), old, advantage, 0.2, 0.2)
                for k, old in enumerate(turn.answer.log_probs)
            ]
            for turn in one.turns
        ]
    assert total_loss(RLOO(), parts=3) == pytest.approx(over_tokens(per_turn), abs=1e-5)


def value_of(turn: Turn) -> float:
    return 0.1 * context_of(turn.prompt)


@pytest.mark.parametrize("decoupled_lambda", [False, True])
@pytest.mark.parametrize("value_clip", [None, 0.05])
def test_ppo(decoupled_lambda: bool, value_clip: float | None) -> None:
    gamma, lam, high = 0.9, 0.8, 0.28
    algorithm = PPO(
        0.2,
        gamma,
        lam,
        clip_high=high,
        decoupled_lambda=decoupled_lambda,
        value_clip=value_clip,
        entropy_weight=0.01,
        success_nll_weight=0.1,
    )
    advantages, targets = {}, {}
    for one in TRAJECTORIES:
        values = [value_of(turn) for turn in one.turns]
        for step in range(len(values)):
            own = critics = 0.0
            for later in range(step, len(values)):
                following = values[later + 1] if later + 1 < len(values) else 0.0
                surprise = one.turns[later].reward + gamma * following - values[later]
                own += (gamma * lam) ** (later - step) * surprise
                critics += (gamma * (1.0 if decoupled_lambda else lam)) ** (later - step) * surprise
            advantages[id(one), step] = own
            targets[id(one), step] = values[step] + critics
    mean, spread = statistics.fmean(advantages.values()), statistics.pstdev(advantages.values())
    critic = torch.linspace(-0.5, 0.8, 6)
    policy, wrong = [], []
    for one, step, turn in pairs(TRAJECTORIES):
        advantage = (advantages[id(one), step] - mean) / (spread + EPSILON)
        policy.append(
            [
                clipped(log_prob(turn, k), old, advantage, 0.2, high)
                - 0.01 * entropy(turn, k)
                - (0.1 * log_prob(turn, k) if one.success else 0.0)
                for k, old in enumerate(turn.answer.log_probs)
            ]
        )
        said, target, before = critic[context_of(turn.prompt)].item(), targets[id(one), step], value_of(turn)
        error = (said - target) ** 2
        if value_clip is not None:
            near = before + max(-value_clip, min(value_clip, said - before))
            error = max(error, (near - target) ** 2)
        wrong.append(0.5 * error)
    reference = over_turns(policy) + 0.5 * statistics.fmean(wrong)
    assert total_loss(algorithm, values=value_of, critic=critic, parts=3) == pytest.approx(
        reference, abs=1e-5
    )


def test_ppo_teaches_its_critic_first_if_told() -> None:
    critic = torch.full((6,), 0.3)
    plain = PPO(warmup_updates=1, value_weight=0.0)
    assert total_loss(plain, values=value_of, critic=critic) == 0.0
    assert total_loss(plain, values=value_of, critic=critic) != 0.0


def test_sft_and_rejection_sampling() -> None:
    def nll(members: list[Trajectory]) -> float:
        return over_tokens(
            [
                [-log_prob(turn, k) for k in range(len(turn.answer.token_ids))]
                for one in members
                for turn in one.turns
                if turn.valid
            ]
        )

    assert total_loss(SFT(), parts=4) == pytest.approx(nll(TRAJECTORIES), abs=1e-5)
    won = [one for one in TRAJECTORIES if one.total_reward() > 0]
    assert 0 < len(won) < len(TRAJECTORIES)
    assert total_loss(RejectionSampling(reward_threshold=0.0)) == pytest.approx(nll(won), abs=1e-5)
    assert RejectionSampling(reward_threshold=1.0).examples(TRAJECTORIES, []) == []


def test_grpo_leaves_out_groups_that_teach_nothing() -> None:
    won = [one for one in TRAJECTORIES if one.success]
    lost = [one for one in TRAJECTORIES if not one.success]
    assert not GRPO().keeps(won)
    assert not GRPO().keeps(lost)
    assert not GRPO(dynamic_sampling=False).keeps(lost)
    assert not GRPO().keeps(TRAJECTORIES[:1])
    assert GRPO().keeps([won[0], lost[0]])
    assert GRPO().examples(lost, []) == []


def test_grpo_borrows_a_stored_success_with_its_log_probabilities() -> None:
    from dataclasses import replace

    won = replace(next(one for one in TRAJECTORIES if one.success), task="t", group="old", seed=3)
    lost = [replace(one, task="t", group="new", seed=3) for one in TRAJECTORIES if not one.success][:2]
    algorithm = GRPO(replay=True)
    assert not algorithm.keeps(lost)
    algorithm.examples([won], [])
    assert algorithm.keeps(lost)
    examples = algorithm.examples(lost, [])
    borrowed = [example for example in examples if example.positive]
    assert [example.turn for example in borrowed] == list(won.turns)
    assert all(example.advantage > 0 for example in borrowed if example.turn.valid)
    other = [replace(one, seed=4) for one in lost]
    assert not algorithm.keeps(other)


def test_wrong_settings_are_refused() -> None:
    with pytest.raises(ConfigError, match="gamma is 2"):
        PPO(gamma=2)
    with pytest.raises(ConfigError, match="decoupled_lambda"):
        PPO(length_alpha=0.05)
    with pytest.raises(ConfigError, match="low is -1"):
        GRPO(clip_low=-1)


def test_a_batch_pads_on_the_right() -> None:
    examples = [Example(turn) for one in TRAJECTORIES for turn in one.turns]
    batch = Batch.of(examples, 1, 1, torch.device("cpu"))
    lengths = [len(example.turn.answer.token_ids) for example in examples]
    assert batch.behaviour.shape == (len(examples), max(lengths))
    assert (batch.behaviour[0, lengths[0] :] == 0).all()
    assert torch.equal(batch.proximal, batch.behaviour)
