"""Learning from the oracles: behaviour cloning on a collection, and DAgger, which makes the collection grow.

DAgger's rounds: the learner plays training instances while the oracle says what it would have done, those
lessons join the collection, and cloning goes on over everything. Each stage can run alone.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from operant.agents.hierarchical.policy import HierarchicalPolicy
from operant.agents.hierarchical.viewpoint import HierarchicalViewpoint
from operant.learn.imitation import Cloning, Lessons
from operant.rollout.collection import collect_demonstrations
from operant.rollout.demonstrations import list_demonstrations, read_demonstration
from operant.tasks.template import Template
from operant.types import Action, Observation

__all__ = ["Round", "clone", "dagger", "load_or_make", "read_lessons"]

Tell = Callable[[str], None]


@dataclass
class Round:
    """What a round of DAgger brought."""

    number: int
    episodes: int
    success_rate: float
    """Of the learner, on the training instances of this round, before it learned from them."""
    lessons: int
    loss: float
    by_task: dict[str, float] = field(default_factory=dict)


def read_lessons(directories: Sequence[Path], lessons: Lessons | None = None, tell: Tell = print) -> Lessons:
    """Everything that was recorded there; files that can't be read are named and left out."""
    lessons = lessons if lessons is not None else Lessons()
    for directory in directories:
        for path in list_demonstrations(directory):
            about, arrays = read_demonstration(path)
            lessons.add(str(about["task"]), arrays)
    tell(f"{len(lessons)} lessons of {lessons.episodes} episodes")
    return lessons


def clone(
    policy: HierarchicalPolicy,
    lessons: Lessons,
    out: Path,
    *,
    minutes: float,
    learning_rate: float = 1e-3,
    batch_size: int = 32,
    seed: int = 0,
    tell: Tell = print,
    every: int = 50,
) -> float:
    """Clone for so long, save, and return the mean loss of the last updates."""
    cloning = Cloning(policy, learning_rate=learning_rate, batch_size=batch_size, seed=seed)
    began, recent = time.monotonic(), [0.0]

    def note(epoch: int, loss: float, progress: float) -> None:
        recent.append(loss)
        if len(recent) % every == 0:
            mean = float(np.mean(recent[-every:]))
            tell(
                f"cloning {progress:4.0%} | epoch {epoch + 1} | update {len(recent)} | loss {mean:.3f} | "
                f"{len(recent) * batch_size / (time.monotonic() - began):.0f} lessons/s"
            )

    cloning.learn(lessons, epochs=10_000, seconds=minutes * 60, tell=note)
    policy.save(out)
    return float(np.mean(recent[-every:]))


def dagger(
    policy: HierarchicalPolicy,
    templates: Sequence[Template],
    directories: Sequence[Path],
    out: Path,
    *,
    rounds: int,
    episodes: int,
    minutes: float,
    learning_rate: float = 5e-4,
    beta: float = 0.3,
    first_seed: int = 10_000,
    workers: int = 3,
    tell: Tell = print,
) -> list[Round]:
    """``rounds`` times: play ``episodes`` instances of every template, then clone for ``minutes``.

    ``beta`` is the share of steps that the oracle takes in the first round; it falls to nothing by the last. A
    template that the learner always solves is played half as often. The first of the directories grows.
    """
    lessons = read_lessons(directories, tell=tell)
    rate = dict.fromkeys((template.id for template in templates), 0.0)
    report: list[Round] = []
    lock = threading.Lock()

    def learner(observation: Observation) -> Action:
        with lock:  # one network, one thread at a time
            return policy.act(observation, deterministic=True)

    for number in range(rounds):
        tasks = [
            template.instance(first_seed + number * 1000 + k, "train")
            for k in range(episodes)
            for template in templates
            if rate[template.id] < 1.0 or (k + number) % 2 == 0
        ]
        share = beta * (1 - number / max(1, rounds - 1)) if rounds > 1 else beta
        place = directories[0].with_name(f"{directories[0].name}-round-{first_seed}-{number}")
        policy.eval()
        played = collect_demonstrations(
            tasks, place, HierarchicalViewpoint(policy.config),
            workers=workers, learner=learner, beta=share, keep_failures=True,
        )  # fmt: skip
        rate.update({task: float(np.mean(seen)) for task, seen in played.by_task.items()})
        read_lessons([place], lessons, tell)
        loss = clone(
            policy, lessons, out, minutes=minutes, learning_rate=learning_rate, seed=number, tell=tell
        )
        success = played.successes / max(1, played.episodes)
        report.append(Round(number, played.episodes, success, len(lessons), loss, dict(rate)))
        tell(f"round {number + 1} of {rounds}: {success:.1%} of {played.episodes} episodes solved before")
        _write(out.with_suffix(".rounds.json"), report)
    return report


def _write(path: Path, report: list[Round]) -> None:
    rows: list[dict[str, Any]] = [vars(one) for one in report]
    path.write_text(json.dumps(rows, indent=1))


def load_or_make(checkpoint: Path | None) -> HierarchicalPolicy:
    """A policy to learn with: that of a checkpoint, or a new one."""
    return HierarchicalPolicy() if checkpoint is None else HierarchicalPolicy.load(checkpoint)
