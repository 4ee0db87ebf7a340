"""Behaviour cloning: make what the oracle did likely.

The lessons of a collection are held in memory, screens and all; batches are of similar length, because a
batch is as long as its longest instruction. Knows neither where lessons come from (DAgger is cloning on a collection
that grows) nor what is in them: that is the policy's business.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar, cast

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.optim.lr_scheduler import LambdaLR
from torch.optim.swa_utils import AveragedModel

from operant.agents.trainable import Arrays, Augmentation, ImitablePolicy
from operant.errors import ConfigError, OperantError
from operant.learn.threads import can_fuse

__all__ = ["Cloning", "CloningReport", "Lessons"]

P = TypeVar("P", bound=ImitablePolicy)
WARM_UP = 0.03  # share of the time in which the learning rate rises
COOL_DOWN = 0.4  # share of the time at the end in which it falls
LOWEST = 0.02  # of the learning rate
AVERAGED_OVER = 10.0  # updates; at first the average covers a tenth of those there were


class Lessons:
    """All lessons of some episodes; a row is one of them. ``policy`` is the one that they are for."""

    def __init__(self, policy: ImitablePolicy) -> None:
        self._lengths_of = policy.lesson_lengths
        self._episodes: list[Arrays] = []
        self._tasks: list[str] = []
        self._place: list[tuple[int, int]] = []  # of each row: its episode, and where in it
        self._length: list[int] = []  # of each row: how many tokens and things it has
        self._augmentation: Augmentation | None = None

    def add(self, task: str, arrays: Arrays) -> None:
        """The arrays of one episode, as ``operant.rollout.lessons`` makes them; nothing if there are none."""
        if not arrays:
            return
        lengths = self._lengths_of(arrays)
        self._place += [(len(self._episodes), step) for step in range(len(lengths))]
        self._length += lengths.tolist()
        self._episodes.append(arrays)
        self._tasks.append(task)
        if self._augmentation is not None:
            self._augmentation.note(task, arrays)

    def __len__(self) -> int:
        return len(self._place)

    @property
    def episodes(self) -> int:
        return len(self._episodes)

    def tasks(self, rows: npt.NDArray[np.int64]) -> list[str]:
        """The task of each row."""
        return [self._tasks[self._place[row][0]] for row in rows]

    def augment(self, augmentation: Augmentation) -> None:
        """From now on, ``take`` may change what it gives."""
        self._augmentation = augmentation
        for task, arrays in zip(self._tasks, self._episodes, strict=True):
            augmentation.note(task, arrays)

    def take(self, rows: npt.NDArray[np.int64], random: np.random.Generator | None = None) -> Arrays:
        """Copies of some rows, as one batch; with ``random``, augmented."""
        parts = [(self._episodes[episode], step) for episode, step in (self._place[row] for row in rows)]
        batch = {name: np.stack([arrays[name][step] for arrays, step in parts]) for name in parts[0][0]}
        if self._augmentation is not None and random is not None:
            self._augmentation.apply(self.tasks(rows), batch, random)
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


class Cloning(Generic[P]):
    """Cloning of one policy; what is kept is the moving average of its weights."""

    def __init__(
        self,
        policy: P,
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
        self.average = average
        self.optimiser = torch.optim.AdamW(
            policy.parameters(),
            lr=learning_rate,
            weight_decay=weight_decay,
            betas=(0.9, 0.98),
            fused=can_fuse(policy.device),
        )
        self.random = np.random.default_rng(seed)
        self._progress = 0.0
        self._schedule = LambdaLR(self.optimiser, lambda _: _share_of_rate(self._progress))
        self._averaged = AveragedModel(policy, avg_fn=self._moving_average)
        self._averaged.update_parameters(policy)  # the first update only copies

    def learn(
        self,
        lessons: Lessons,
        *,
        epochs: int = 1,
        updates: int | None = None,
        seconds: float | None = None,
        on_progress: Callable[[int, float, float], None] = lambda epoch, loss, progress: None,
        stop: Callable[[], bool] = lambda: False,
    ) -> CloningReport:
        """So many epochs, or fewer if there were so many updates or time is up.

        The learning rate rises, stays, and falls over the last part.
        """
        report, began = CloningReport(), time.monotonic()
        self.policy.train()
        epochs_and_rows = (
            (epoch, rows) for epoch in range(epochs) for rows in lessons.batches(self.batch_size, self.random)
        )
        for epoch, rows in epochs_and_rows:
            used = (time.monotonic() - began) / seconds if seconds else 0.0
            # ``on_progress`` may add lessons.
            whole = max(1, epochs * -(-len(lessons) // self.batch_size))
            whole = whole if updates is None else min(whole, updates)
            self._progress = max(len(report.losses) / whole, used)
            if self._progress >= 1.0 or stop():
                break
            report.losses.append(self._update(lessons, rows))
            on_progress(epoch, report.losses[-1], self._progress)
        self.policy.load_state_dict(self.averaged.state_dict())
        self.policy.eval()
        report.seconds = time.monotonic() - began
        return report

    @property
    def averaged(self) -> P:
        """A copy of the policy with the averaged weights."""
        return cast(P, self._averaged.module)

    def _update(self, lessons: Lessons, rows: npt.NDArray[np.int64]) -> float:
        seen, actions = self.policy.lesson_batch(lessons.take(rows, self.random), self.random)
        loss = self.policy.imitation_loss(seen, actions).mean()
        if not torch.isfinite(loss):
            raise OperantError(
                "the loss of behaviour cloning is not a number", hint="lower the learning rate"
            )
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.policy.parameters(), self.max_grad_norm)
        self.optimiser.step()
        self._schedule.step()
        self._averaged.update_parameters(self.policy)
        return float(loss.detach())

    def _moving_average(self, averaged: Tensor, current: Tensor, updates: Tensor | int) -> Tensor:
        weight = max(1.0 - self.average, 1.0 / (1.0 + float(updates) / AVERAGED_OVER))
        return torch.lerp(averaged, current.detach(), weight)

    @torch.no_grad()
    def accuracy(self, lessons: Lessons, rows: Sequence[int] | npt.NDArray[np.int64]) -> dict[str, float]:
        """The share of rows in which the likeliest choice of each head is the oracle's, where it is used."""
        self.policy.eval()
        right: dict[str, list[float]] = {}
        for start in range(0, len(rows), self.batch_size):
            batch = lessons.take(np.asarray(rows[start : start + self.batch_size]))
            hits = self.policy.imitation_hits(*self.policy.lesson_batch(batch, self.random))
            for head, found in hits.items():
                right.setdefault(head, []).extend(found)
        return {head: float(np.mean(found)) for head, found in right.items() if found}


def _share_of_rate(progress: float) -> float:
    """The learning rate as a share of its highest value: a short rise, a plateau and a long fall."""
    return max(LOWEST, min(1.0, 0.05 + progress / WARM_UP, (1.0 - progress) / COOL_DOWN))
