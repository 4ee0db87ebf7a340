"""Generalised advantage estimation (Schulman et al., 2016) over steps of several environments, in any order of arrival.

An episode that was cut off goes on being worth what the critic expects of its last observation; one that
ended is worth nothing more; and the last step of a rollout is followed by whatever its environment shows now.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["estimate_advantages", "following_values"]

Floats = npt.NDArray[np.float32]


def following_values(
    values: Floats,
    environments: npt.NDArray[np.int64],
    terminated: npt.NDArray[np.bool_],
    truncated: npt.NDArray[np.bool_],
    cut_off: Floats,
    now: Floats,
) -> Floats:
    """What the critic expects after each step.

    ``cut_off`` holds, where ``truncated``, the value of the observation that the episode was cut off at, and ``now``
    the value of what each environment shows at the end of the rollout.
    """
    following = np.zeros_like(values)
    next_of = now.astype(values.dtype).copy()
    for step in range(len(values) - 1, -1, -1):
        environment = environments[step]
        if truncated[step]:
            following[step] = cut_off[step]
        elif not terminated[step]:
            following[step] = next_of[environment]
        next_of[environment] = values[step]
    return following


def estimate_advantages(
    rewards: Floats,
    values: Floats,
    following: Floats,
    over: npt.NDArray[np.bool_],
    environments: npt.NDArray[np.int64],
    *,
    gamma: float,
    gae_lambda: float,
) -> Floats:
    """How much better each step was than expected; ``over`` marks the last step of an episode."""
    surprises = rewards + gamma * following - values
    advantages = np.zeros_like(values)
    later = np.zeros(int(environments.max(initial=0)) + 1, np.float64)
    for step in range(len(values) - 1, -1, -1):
        environment = environments[step]
        rest = 0.0 if over[step] else later[environment]
        later[environment] = surprises[step] + gamma * gae_lambda * rest
        advantages[step] = later[environment]
    return advantages
