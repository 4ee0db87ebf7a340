"""Behaviour cloning: make what the oracle did likely.

The lessons of a collection are held in memory, screens and all; batches are of similar length, because a
batch is as long as its longest instruction. Nothing here knows where lessons come from: DAgger is cloning
on a collection that grows.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from operant.agents.hierarchical.policy import HierarchicalPolicy
from operant.agents.trainable import Tensors
from operant.errors import ConfigError, OperantError
from operant.learn.device import can_fuse
from operant.learn.renaming import Renaming

__all__ = ["Cloning", "CloningReport", "Lessons"]

Arrays = dict[str, npt.NDArray[Any]]
LOOKS_AT_WIDGETS = 0.1  # share of clicks on widgets that teach the worker too
FALLS = 0.4  # the last part of the time, over which the rate falls
HEADS = ("kind", "target", "first", "last", "key")
#: Heads that choose a place, and the surprise from which one is far off.
PLACES = frozenset({"offset", "end_offset", "spot", "end_spot", "refine"})
FAR_OFF = 2.0


class Lessons:
    """All lessons of some episodes; a row is one of them."""

    def __init__(self) -> None:
        self._episodes: list[Arrays] = []
        self._tasks: list[str] = []
        self._place: list[tuple[int, int]] = []  # of each row: its episode, and where in it
        self._length: list[int] = []  # of each row: how many tokens and things it has
        self._renaming: Renaming | None = None

    def add(self, task: str, arrays: Arrays) -> None:
        """The arrays of one episode, as demonstrations store them."""
        if "seen.screen" not in arrays:
            return
        lengths = (arrays["seen.token_segment"] > 0).sum(1) + (arrays["seen.row_segment"] > 0).sum(1)
        self._place += [(len(self._episodes), step) for step in range(len(lengths))]
        self._length += lengths.tolist()
        self._episodes.append(arrays)
        self._tasks.append(task)
        if self._renaming is not None:
            self._renaming.note(task, arrays)

    def __len__(self) -> int:
        return len(self._place)

    @property
    def episodes(self) -> int:
        return len(self._episodes)

    def tasks(self, rows: npt.NDArray[np.int64]) -> list[str]:
        """The task of each row."""
        return [self._tasks[self._place[row][0]] for row in rows]

    def rename(self, renaming: Renaming) -> None:
        """From now on, names are swapped now and then in what ``take`` gives."""
        self._renaming = renaming
        for task, arrays in zip(self._tasks, self._episodes, strict=True):
            renaming.note(task, arrays)

    def take(self, rows: npt.NDArray[np.int64], random: np.random.Generator | None = None) -> Arrays:
        """Copies of some rows, as one batch; with ``random``, names may be swapped."""
        parts = [(self._episodes[episode], step) for episode, step in (self._place[row] for row in rows)]
        batch = {name: np.stack([arrays[name][step] for arrays, step in parts]) for name in parts[0][0]}
        if self._renaming is not None and random is not None:
            seen = {
                name.removeprefix("seen."): part for name, part in batch.items() if name.startswith("seen.")
            }
            self._renaming.apply(self.tasks(rows), seen, random)
        return batch

    def batches(self, size: int, random: np.random.Generator) -> Iterator[npt.NDArray[np.int64]]:
        """As many as there are rows, in batches of similar length and random order.

        A task with few rows is drawn more often for each of them, or long tasks would be nearly all that is learned.
        """
        if not self._place:
            raise ConfigError("there is nothing to learn from", hint="run operant demos collect first")
        rows = self._draw(random)
        length = np.array(self._length)[rows]
        blurred = (length + random.integers(0, 24, len(length))) // 16
        order = rows[np.lexsort((random.random(len(length)), blurred))]
        chunks = [order[start : start + size] for start in range(0, len(order), size)]
        for index in random.permutation(len(chunks)):
            yield chunks[index]

    def _draw(self, random: np.random.Generator) -> npt.NDArray[np.int64]:
        """Rows by the square root of how many their task has: about so often, or once each if all are alike."""
        rows = random.permutation(len(self))
        tasks = self.tasks(rows)
        counts = Counter(tasks)
        weights = np.array([counts[task] for task in tasks]) ** -0.5
        passed = np.floor(np.cumsum(weights) / weights.sum() * len(self) + random.uniform(0.25, 0.75))
        return np.repeat(rows, np.diff(passed, prepend=0.0).astype(np.int64))


@dataclass
class CloningReport:
    """How it went."""

    losses: list[float] = field(default_factory=list)
    seconds: float = 0.0


class Cloning:
    """Cloning of one policy; what is kept is the moving average of its weights."""

    def __init__(
        self,
        policy: HierarchicalPolicy,
        *,
        learning_rate: float = 1e-3,
        batch_size: int = 32,
        weight_decay: float = 0.01,
        max_grad_norm: float = 1.0,
        average: float = 0.998,
        seed: int = 0,
    ) -> None:
        self.policy = policy
        self.batch_size = batch_size
        self.max_grad_norm = max_grad_norm
        self.learning_rate = learning_rate
        self.average = average
        self.updates = 0
        self.optimiser = torch.optim.AdamW(
            policy.parameters(),
            lr=learning_rate,
            weight_decay=weight_decay,
            betas=(0.9, 0.98),
            fused=can_fuse(policy.device),
        )
        self.random = np.random.default_rng(seed)
        self._averaged = [parameter.detach().clone() for parameter in policy.parameters()]

    def learn(
        self,
        lessons: Lessons,
        *,
        epochs: int = 1,
        seconds: float | None = None,
        tell: Callable[[int, float, float], None] = lambda epoch, loss, progress: None,
        stop: Callable[[], bool] = lambda: False,
    ) -> CloningReport:
        """So many epochs, or fewer if time is up. The rate rises, stays, and falls over the last part."""
        report, began = CloningReport(), time.monotonic()
        self.policy.train()
        epochs_and_rows = (
            (epoch, rows) for epoch in range(epochs) for rows in lessons.batches(self.batch_size, self.random)
        )
        for epoch, rows in epochs_and_rows:
            used = (time.monotonic() - began) / seconds if seconds else 0.0
            # Lessons may be added meanwhile, by whoever is told.
            whole = max(1, epochs * -(-len(lessons) // self.batch_size))
            progress = max(len(report.losses) / whole, used)
            if progress >= 1.0 or stop():
                break
            report.losses.append(self._update(lessons, rows, progress))
            tell(epoch, report.losses[-1], progress)
        self._keep_average()
        self.policy.eval()
        report.seconds = time.monotonic() - began
        return report

    @contextmanager
    def averaged(self) -> Iterator[HierarchicalPolicy]:
        """The policy with its averaged weights, as long as this lasts."""
        own = [parameter.detach().clone() for parameter in self.policy.parameters()]
        self._keep_average()
        try:
            yield self.policy
        finally:
            _write_weights(self.policy, own)

    def _keep_average(self) -> None:
        _write_weights(self.policy, self._averaged)

    def _update(self, lessons: Lessons, rows: npt.NDArray[np.int64], progress: float) -> float:
        rate = max(0.02, min(1.0, 0.05 + progress / 0.03, (1.0 - progress) / FALLS))
        for group in self.optimiser.param_groups:
            group["lr"] = rate * self.learning_rate
        seen, actions = self.batch(lessons, rows)
        choices = self.policy.judge_choices(self.policy.encoder(seen), seen, actions)
        loss = torch.stack([_surprise(head, part) for head, part in choices.log_probs.items()]).sum(0).mean()
        if not torch.isfinite(loss):
            raise OperantError(
                "the loss of behaviour cloning is not a number", hint="lower the learning rate"
            )
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.policy.parameters(), self.max_grad_norm)
        self.optimiser.step()
        self.updates += 1
        weight = max(1.0 - self.average, 1.0 / (1.0 + self.updates / 10.0))
        with torch.no_grad():
            torch._foreach_lerp_(self._averaged, list(self.policy.parameters()), weight)
        return float(loss.detach())

    def batch(self, lessons: Lessons, rows: npt.NDArray[np.int64]) -> tuple[Tensors, Tensors]:
        """Observations and actions of some rows; the worker's crops are cut anew each time, off centre."""
        arrays, device = lessons.take(rows, self.random if self.policy.training else None), self.policy.device

        def part_of(prefix: str) -> Tensors:
            return {
                name.removeprefix(prefix): torch.from_numpy(part).to(device)
                for name, part in arrays.items()
                if name.startswith(prefix)
            }

        seen, actions = part_of("seen."), part_of("label.")
        worker = self.policy.config.worker
        size, reach = worker.crop, worker.reach
        moved = self.random.integers(-reach, reach + 1, (len(rows), 2))
        crops = [
            patch[reach + dy : reach + dy + size, reach + dx : reach + dx + size]
            for patch, (dx, dy) in zip(arrays["patch"], moved, strict=True)
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


def _surprise(head: str, log_prob: Tensor) -> Tensor:
    """How unlikely the oracle's choice was. Of a place that is far off, only the logarithm counts.

    A title bar can be held anywhere and a cell clicked at its other end, and then the density of what is nearly certain
    is next to nothing: one such place would outweigh all other lessons of its batch.
    """
    surprise = -log_prob
    if head not in PLACES:
        return surprise
    return torch.where(surprise < FAR_OFF, surprise, FAR_OFF + torch.log1p((surprise - FAR_OFF).clamp(min=0)))


@torch.no_grad()
def _write_weights(policy: HierarchicalPolicy, weights: Sequence[torch.Tensor]) -> None:
    for parameter, value in zip(policy.parameters(), weights, strict=True):
        parameter.copy_(value)
