"""How much better a turn was than expected: over steps with a critic, or within a group without one."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

__all__ = ["gae", "group_advantages", "leave_one_out", "length_lambda", "normalised", "returns"]

EPSILON = 1e-6


def gae(rewards: Sequence[float], values: Sequence[float], gamma: float, lam: float) -> list[float]:
    """Generalised advantages of the steps of one episode that has ended.

    A step cap is an end like any other: the prompt tells the step number and the criteria decide at the cap,
    so there is no value to expect after it.
    """
    advantages = [0.0] * len(rewards)
    following = carried = 0.0
    for step in reversed(range(len(rewards))):
        surprise = rewards[step] + gamma * following - values[step]
        carried = surprise + gamma * lam * carried
        advantages[step] = carried
        following = values[step]
    return advantages


def length_lambda(steps: int, alpha: float) -> float:
    """A policy's lambda that grows with the episode: 1 - 1 / (alpha * steps), never below 0."""
    return max(0.0, 1.0 - 1.0 / (alpha * max(steps, 1)))


def returns(rewards: Sequence[float], gamma: float) -> list[float]:
    """The discounted sum of what follows each step, its own reward included."""
    total = 0.0
    sums = []
    for reward in reversed(rewards):
        total = reward + gamma * total
        sums.append(total)
    return sums[::-1]


def normalised(values: Sequence[float], *, spread: bool = True) -> list[float]:
    """Mean 0 and, with ``spread``, standard deviation 1; equal values become 0."""
    if not values:
        return []
    mean = statistics.fmean(values)
    deviation = statistics.pstdev(values, mean) if spread else 1.0
    return [(value - mean) / (deviation + EPSILON) if spread else value - mean for value in values]


def group_advantages(rewards: Sequence[Sequence[float]], *, spread: bool = True) -> list[list[float]]:
    """Step-level group advantages: each step's reward against all steps of all rollouts of the group."""
    flat = iter(normalised([reward for rollout in rewards for reward in rollout], spread=spread))
    return [[next(flat) for _ in rollout] for rollout in rewards]


def leave_one_out(scores: Sequence[float]) -> list[float]:
    """Each rollout's score against the mean of the others'; 0 for one that is alone."""
    if len(scores) < 2:
        return [0.0] * len(scores)
    total = sum(scores)
    return [score - (total - score) / (len(scores) - 1) for score in scores]
