"""Behaviour cloning: make what the oracle did likely.

The lessons of a collection are held in memory, screens and all; batches are of similar length, because a
batch is as long as its longest instruction. Nothing here knows where lessons come from: DAgger is cloning
on a collection that grows.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from operant.agents.hierarchical.policy import HierarchicalPolicy
from operant.agents.trainable import Tensors
from operant.errors import ConfigError, OperantError

__all__ = ["Cloning", "CloningReport", "Lessons"]

Arrays = dict[str, npt.NDArray[Any]]
LOOKS_AT_WIDGETS = 0.1  # share of clicks on widgets that teach the worker too
HEADS = ("kind", "target", "first", "last", "key")


class Lessons:
    """All lessons of some episodes, as arrays with one row each."""

    def __init__(self) -> None:
        self._parts: list[Arrays] = []
        self._tasks: list[str] = []
        self._counts: list[int] = []
        self._all: Arrays | None = None

    def add(self, task: str, arrays: Arrays) -> None:
        """The arrays of one episode, as demonstrations store them."""
        if "seen.screen" not in arrays:
            return
        self._parts.append(arrays)
        self._counts.append(len(arrays["seen.screen"]))
        self._tasks.append(task)
        self._all = None

    def __len__(self) -> int:
        return sum(self._counts)

    @property
    def episodes(self) -> int:
        return len(self._counts)

    @property
    def tasks(self) -> npt.NDArray[np.str_]:
        """The task of every row."""
        return np.repeat(np.array(self._tasks), self._counts)

    @property
    def rows(self) -> Arrays:
        if self._all is None:
            if not self._parts:
                raise ConfigError("there is nothing to learn from", hint="run operant demos collect first")
            names = list(self._parts[0])
            self._all = {name: np.concatenate([part[name] for part in self._parts]) for name in names}
            start = 0
            for index, count in enumerate(self._counts):  # views, so that only one copy is kept
                self._parts[index] = {name: self._all[name][start : start + count] for name in names}
                start += count
        return self._all

    def batches(self, size: int, random: np.random.Generator) -> Iterator[npt.NDArray[np.int64]]:
        """Every row once, in batches of similar length and random order."""
        rows = self.rows
        length = (rows["seen.token_segment"] > 0).sum(1) + (rows["seen.row_segment"] > 0).sum(1)
        blurred = (length + random.integers(0, 24, len(length))) // 16
        order = np.lexsort((random.random(len(length)), blurred))
        chunks = [order[start : start + size] for start in range(0, len(order), size)]
        for index in random.permutation(len(chunks)):
            yield chunks[index]


@dataclass
class CloningReport:
    """How it went."""

    losses: list[float] = field(default_factory=list)
    seconds: float = 0.0


class Cloning:
    """Cloning of one policy; may be called again when there are more lessons."""

    def __init__(
        self,
        policy: HierarchicalPolicy,
        *,
        learning_rate: float = 1e-3,
        batch_size: int = 32,
        weight_decay: float = 0.01,
        max_grad_norm: float = 1.0,
        seed: int = 0,
    ) -> None:
        self.policy = policy
        self.batch_size = batch_size
        self.max_grad_norm = max_grad_norm
        self.learning_rate = learning_rate
        self.optimiser = torch.optim.AdamW(
            policy.parameters(), lr=learning_rate, weight_decay=weight_decay, betas=(0.9, 0.98)
        )
        self.random = np.random.default_rng(seed)

    def learn(
        self,
        lessons: Lessons,
        *,
        epochs: int = 1,
        seconds: float | None = None,
        tell: Callable[[int, float, float], None] = lambda epoch, loss, progress: None,
    ) -> CloningReport:
        """So many epochs, or fewer if time is up. The rate rises and falls once over the whole."""
        report, began = CloningReport(), time.monotonic()
        total = max(1, epochs * -(-len(lessons) // self.batch_size))
        self.policy.train()
        for epoch in range(epochs):
            for rows in lessons.batches(self.batch_size, self.random):
                used = (time.monotonic() - began) / seconds if seconds else 0.0
                progress = max(len(report.losses) / total, used)
                if progress >= 1.0:
                    break
                report.losses.append(self._update(lessons, rows, progress))
                tell(epoch, report.losses[-1], progress)
        self.policy.eval()
        report.seconds = time.monotonic() - began
        return report

    def _update(self, lessons: Lessons, rows: npt.NDArray[np.int64], progress: float) -> float:
        rate = self.learning_rate * min(1.0, 0.05 + progress / 0.05) * (1.0 - progress) ** 0.5
        for group in self.optimiser.param_groups:
            group["lr"] = max(rate, self.learning_rate * 0.02)
        seen, actions = self.batch(lessons, rows)
        loss = -self.policy.judge(seen, actions).log_prob.mean()
        if not torch.isfinite(loss):
            raise OperantError(
                "the loss of behaviour cloning is not a number", hint="lower the learning rate"
            )
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.policy.parameters(), self.max_grad_norm)
        self.optimiser.step()
        return float(loss.detach())

    def batch(self, lessons: Lessons, rows: npt.NDArray[np.int64]) -> tuple[Tensors, Tensors]:
        """Observations and actions of some rows; the worker's crops are cut anew each time, off centre."""
        arrays, device = lessons.rows, self.policy.device

        def part_of(prefix: str) -> Tensors:
            return {
                name.removeprefix(prefix): torch.from_numpy(part[rows]).to(device)
                for name, part in arrays.items()
                if name.startswith(prefix)
            }

        seen, actions = part_of("seen."), part_of("label.")
        worker = self.policy.config.worker
        size, reach = worker.crop, worker.reach
        moved = self.random.integers(-reach, reach + 1, (len(rows), 2))
        crops = [
            patch[reach + dy : reach + dy + size, reach + dx : reach + dx + size]
            for patch, (dx, dy) in zip(arrays["patch"][rows], moved, strict=True)
        ]
        actions["crop"] = torch.from_numpy(np.stack(crops)).to(device)
        actions["refine"] = torch.from_numpy(-moved.astype(np.float32) / reach).to(device)
        # The worker is asked about points of the map; of the others a few are enough to learn from.
        points = self.policy.manager.points[actions["kind"]]
        on_map = actions["target"] >= self.policy.perception.rows
        some = torch.from_numpy(self.random.random(len(rows)) < LOOKS_AT_WIDGETS).to(device)
        actions["refined"] = points * (on_map | some)
        return seen, actions

    @torch.no_grad()
    def accuracy(self, lessons: Lessons, rows: Sequence[int] | npt.NDArray[np.int64]) -> dict[str, float]:
        """The share of rows in which the likeliest choice of each head is the oracle's, where it is used."""
        self.policy.eval()
        right: dict[str, list[float]] = {}
        for start in range(0, len(rows), self.batch_size):
            seen, actions = self.batch(lessons, np.asarray(rows[start : start + self.batch_size]))
            chosen = self.policy.sample(seen, deterministic=True).actions
            used = self.policy.judge(seen, actions).entropy
            kind = (chosen["kind"] == actions["kind"]).float()
            for name in HEADS:
                if name in used:  # somebody in the batch uses it
                    hits = (chosen[name] == actions[name]).float() * kind
                    right.setdefault(name, []).extend(hits[(used[name] != 0) | (name == "kind")].tolist())
        return {name: float(np.mean(hits)) for name, hits in right.items() if hits}
