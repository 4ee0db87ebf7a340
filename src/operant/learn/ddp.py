"""Several processes that learn one policy: gradients are averaged by DistributedDataParallel, decisions are shared.

``Peers()`` is a process on its own, and everything here then costs nothing. ``join_peers`` reads the variables that
``torchrun`` sets.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, TypeVar, cast

import torch
import torch.distributed as dist
from loguru import logger
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from operant.agents.trainable import Tensors, TrainablePolicy
from operant.errors import ConfigError

__all__ = ["Judge", "Peers", "join_peers", "leave_peers", "meet_peers", "unwrap"]

SEVERAL = "for several GPUs: torchrun --nproc-per-node 2 -m operant.train --device cuda"

T = TypeVar("T")


class Judge(nn.Module):
    """A policy's ``judge`` as a ``forward``, which is what DistributedDataParallel watches."""

    def __init__(self, policy: TrainablePolicy) -> None:
        super().__init__()
        self.policy = policy

    def forward(self, observations: Tensors, actions: Tensors) -> tuple[Tensor, Tensor, Tensors]:
        judged = self.policy.judge(observations, actions)
        return judged.log_prob, judged.value, judged.entropy


@dataclass(frozen=True)
class Peers:
    """The processes that learn together, seen from one of them."""

    rank: int = 0
    size: int = 1
    device: torch.device = field(default_factory=lambda: torch.device("cpu"))

    @property
    def leads(self) -> bool:
        """Whether this is the one that logs and saves."""
        return self.rank == 0

    def wrap(self, module: nn.Module) -> nn.Module:
        if self.size == 1:
            return module
        ids = [self.device.index] if self.device.type == "cuda" else None
        # A batch without a click leaves whatever aims clicks without gradients.
        return DistributedDataParallel(module, device_ids=ids, find_unused_parameters=True)

    def sum(self, *values: float) -> list[float]:
        if self.size == 1:
            return list(values)
        total = torch.tensor(values, dtype=torch.float64, device=self.device)
        dist.all_reduce(total)
        return [float(value) for value in total]

    def mean(self, value: float) -> float:
        return self.sum(value)[0] / self.size

    def any(self, flag: bool) -> bool:
        return self.sum(float(flag))[0] > 0

    def smallest(self, count: int) -> int:
        if self.size == 1:
            return count
        least = torch.tensor([count], device=self.device)
        dist.all_reduce(least, op=dist.ReduceOp.MIN)
        return int(least[0])

    def share(self, items: Sequence[T]) -> list[T]:
        """The part of these that this process looks after; together they are all."""
        return list(items[self.rank :: self.size])

    def collect(self, share: Sequence[T]) -> list[T]:
        """All items again, in order, of which each process has its ``share``."""
        shares = self._exchange(share)
        return [shares[index % self.size][index // self.size] for index in range(sum(map(len, shares)))]

    def collect_all(self, items: Sequence[T]) -> list[T]:
        """The items of all processes, whatever they are."""
        return [item for part in self._exchange(items) for item in part]

    def _exchange(self, items: Sequence[T]) -> list[list[T]]:
        if self.size == 1:
            return [list(items)]
        parts: list[Any] = [None] * self.size
        dist.all_gather_object(parts, list(items))
        return parts

    def sum_gradients(self, parameters: Sequence[nn.Parameter]) -> None:
        """Give every process the sum of all gradients, in one message; one that has none adds nothing."""
        if self.size == 1:
            return
        for parameter in parameters:
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
        gradients = [cast(Tensor, parameter.grad) for parameter in parameters]
        flat = torch.cat([gradient.float().flatten() for gradient in gradients])
        dist.all_reduce(flat)
        for gradient, part in zip(
            gradients, torch.split(flat, [one.numel() for one in gradients]), strict=True
        ):
            gradient.copy_(part.view_as(gradient))

    def agree(self, parameters: Sequence[nn.Parameter]) -> None:
        """All processes take over what the first one has."""
        if self.size > 1:
            for parameter in parameters:
                dist.broadcast(parameter.data, 0)

    def moments(self, values: Tensor) -> tuple[float, float]:
        """Mean and standard deviation of the values of all processes together."""
        many = values.double()
        count, total, squares = self.sum(len(many), float(many.sum()), float((many**2).sum()))
        if count == 0:
            return 0.0, 0.0
        mean = total / count
        return mean, max(0.0, squares / count - mean**2) ** 0.5


def unwrap(policy: Any) -> TrainablePolicy:
    """The policy inside ``nn.DataParallel``, which would split nothing: rollouts and updates call the policy itself."""
    if isinstance(policy, nn.DataParallel):
        logger.warning("nn.DataParallel is left out, and one device trains; {}", SEVERAL)
        policy = policy.module
    if isinstance(policy, DistributedDataParallel):
        raise ConfigError(
            "the policy is wrapped in DistributedDataParallel, which the trainer does itself",
            hint=f"PPOTrainer(policy, env, peers=join_peers('cuda')); {SEVERAL}",
        )
    if not isinstance(policy, TrainablePolicy):
        raise ConfigError(
            f"{type(policy).__name__} can't be trained: it is no TrainablePolicy",
            hint="operant.agents.trainable says what it must offer",
        )
    return policy


def join_peers(device: str = "cpu") -> Peers:
    """The processes that ``torchrun`` started, or this one alone."""
    try:
        size, rank = int(os.environ.get("WORLD_SIZE", "1")), int(os.environ.get("RANK", "0"))
        local = int(os.environ.get("LOCAL_RANK", "0"))
    except ValueError as error:
        raise ConfigError(f"WORLD_SIZE, RANK and LOCAL_RANK are numbers: {error}") from error
    if size == 1:
        return Peers(device=torch.device(device))
    on = torch.device("cuda", local) if device == "cuda" else torch.device(device)
    dist.init_process_group("nccl" if on.type == "cuda" else "gloo")
    return Peers(rank, size, on)


def meet_peers(rank: int, size: int, address: str, device: torch.device, timeout_s: float) -> Peers:
    """Meet the others at ``tcp://host:port`` of the first one."""
    backend = "nccl" if device.type == "cuda" else "gloo"
    wait = timedelta(seconds=timeout_s)
    dist.init_process_group(backend, init_method=address, rank=rank, world_size=size, timeout=wait)
    return Peers(rank, size, device)


def leave_peers(peers: Peers) -> None:
    if peers.size > 1:
        dist.destroy_process_group()
