"""Steps of a rollout as they arrive, and what PPO makes of them: a batch of tensors with advantages.

Knows neither what is inside observations and actions nor which environments they come from; it keeps dictionaries of
tensors, one row a step.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from operant.agents.trainable import Tensors
from operant.learn.gae import estimate_advantages, following_values

__all__ = ["Rollout", "RolloutBuffer", "take"]


def take(tensors: Tensors, rows: Tensor | Sequence[int] | slice) -> Tensors:
    """Those rows of every tensor."""
    return {name: tensor[rows] for name, tensor in tensors.items()}


@dataclass(frozen=True)
class Rollout:
    """What an update learns from: one row a step, those that are no experience left out."""

    observations: Tensors
    actions: Tensors
    log_prob: Tensor
    value: Tensor
    advantage: Tensor
    returns: Tensor

    def __len__(self) -> int:
        return len(self.log_prob)

    def rows(self, rows: Tensor | Sequence[int] | slice) -> Rollout:
        return Rollout(
            take(self.observations, rows),
            take(self.actions, rows),
            self.log_prob[rows],
            self.value[rows],
            self.advantage[rows],
            self.returns[rows],
        )

    def to(self, device: torch.device) -> Rollout:
        return Rollout(
            {name: tensor.to(device) for name, tensor in self.observations.items()},
            {name: tensor.to(device) for name, tensor in self.actions.items()},
            self.log_prob.to(device),
            self.value.to(device),
            self.advantage.to(device),
            self.returns.to(device),
        )

    def in_order(self, size: int) -> Iterator[Rollout]:
        """All rows as they are, so many at a time."""
        for start in range(0, len(self), size):
            yield self.rows(slice(start, start + size))

    def minibatches(self, count: int, random: np.random.Generator) -> Iterator[Rollout]:
        """All rows in a new order, in so many parts of nearly the same size."""
        for part in np.array_split(random.permutation(len(self)), count):
            yield self.rows(torch.from_numpy(part))


class RolloutBuffer:
    """Grows by whatever arrives; ``finish`` makes the rollout. Rows lie on the CPU."""

    def __init__(self, num_envs: int) -> None:
        self.num_envs = num_envs
        self.clear()

    def clear(self) -> None:
        self._observations: list[Tensors] = []
        self._actions: list[Tensors] = []
        self._log_prob: list[Tensor] = []
        self._value: list[Tensor] = []
        self._environments: list[int] = []
        self._rewards: list[float] = []
        self._terminated: list[bool] = []
        self._truncated: list[bool] = []
        self._valid: list[bool] = []
        self._episode: list[list[int]] = [[] for _ in range(self.num_envs)]
        self._cut_off: dict[int, Tensors] = {}

    def __len__(self) -> int:
        return len(self._rewards)

    def add(
        self,
        environments: Sequence[int],
        observations: Tensors,
        actions: Tensors,
        log_prob: Tensor,
        value: Tensor,
        rewards: npt.NDArray[np.float64],
        terminated: npt.NDArray[np.bool_],
        truncated: npt.NDArray[np.bool_],
    ) -> None:
        """One step of each of these environments."""
        for environment in environments:
            self._episode[environment].append(len(self._environments))
            self._environments.append(environment)
        self._observations.append(observations)
        self._actions.append(actions)
        self._log_prob.append(log_prob)
        self._value.append(value)
        self._rewards.extend(float(reward) for reward in rewards)
        self._terminated.extend(bool(flag) for flag in terminated)
        self._truncated.extend(bool(flag) for flag in truncated)
        self._valid.extend(True for _ in environments)

    def end_episode(self, environment: int, last: Tensors | None, *, discard: bool) -> None:
        """The step that was added last in this environment was its episode's last; ``last`` is what came of it."""
        steps = self._episode[environment]
        if discard:
            for step in steps:
                self._valid[step] = False
        elif last is not None and steps and self._truncated[steps[-1]]:
            self._cut_off[steps[-1]] = last
        self._episode[environment] = []

    def cut_off(self) -> Tensors | None:
        """The observations at which episodes were cut off, as one batch in the order of their steps."""
        if not self._cut_off:
            return None
        ordered = [self._cut_off[step] for step in sorted(self._cut_off)]
        return {name: torch.stack([one[name] for one in ordered]) for name in ordered[0]}

    def finish(
        self,
        now: npt.NDArray[np.float32],
        cut_off: npt.NDArray[np.float32],
        *,
        gamma: float,
        gae_lambda: float,
    ) -> Rollout:
        """The rollout, given the values of what is shown now (by environment) and of ``cut_off()``."""
        value = torch.cat(self._value)
        values = value.numpy().astype(np.float32)
        environments = np.array(self._environments, np.int64)
        terminated, truncated = np.array(self._terminated), np.array(self._truncated)
        ends = np.zeros(len(values), np.float32)
        ends[sorted(self._cut_off)] = cut_off
        following = following_values(values, environments, terminated, truncated, ends, now)
        advantages = estimate_advantages(
            np.array(self._rewards, np.float32),
            values,
            following,
            terminated | truncated,
            environments,
            gamma=gamma,
            gae_lambda=gae_lambda,
        )
        advantage = torch.from_numpy(advantages)
        whole = Rollout(
            _joined(self._observations),
            _joined(self._actions),
            torch.cat(self._log_prob),
            value,
            advantage,
            advantage + value,
        )
        valid = torch.tensor(self._valid)
        return whole if bool(valid.all()) else whole.rows(valid)


def _joined(parts: list[Tensors]) -> Tensors:
    return {name: torch.cat([part[name] for part in parts]) for name in parts[0]}
