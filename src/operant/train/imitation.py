"""Learning from the oracles: behaviour cloning on a collection, and DAgger, which makes the collection grow.

DAgger here is asynchronous: one process clones and never waits, the other plays training instances with the
latest weights, while the oracles say what they would have done (``train.playing``). Files are all they share.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

import numpy as np

from operant.agents.hierarchical.labeler import HierarchicalLabeler
from operant.agents.hierarchical.policy import HierarchicalPolicy
from operant.errors import ConfigError
from operant.learn.imitation import Cloning, Lessons
from operant.learn.interrupt import stop_on_signals
from operant.rollout.demonstrations import find_demonstrations, next_seed
from operant.rollout.lessons import LessonView, cache_directory
from operant.tasks.template import Template
from operant.train.playing import PlayingProcess, PlayingSettings
from operant.train.preflight import first_weights

__all__ = ["Demonstrations", "clone", "dagger", "load_or_make", "read_lessons"]

OnProgress = Callable[[str], None]
REFRESH_S = 120.0  # seconds between two looks for new episodes, and two saves


class Demonstrations:
    """Demonstrations below some directories as a policy's lessons; each episode is read once.

    With ``only``, those of other tasks are left out.
    """

    def __init__(
        self, policy: HierarchicalPolicy, only: Collection[str] | None = None, on_progress: OnProgress = print
    ) -> None:
        self.lessons = Lessons(policy)
        self._only = only
        self._view = LessonView(HierarchicalLabeler(policy.config), cache_directory())
        self._known: set[Path] = set()
        self._on_progress = on_progress

    def read(self, directories: Sequence[Path]) -> None:
        """Add the lessons of episodes that were not there before."""
        for path in find_demonstrations(directories, self._known):
            self._known.add(path)
            found = self._view.read(path)
            if self._only is None or found.task in self._only:
                self.lessons.add(found.task, found.arrays)
        if self._only is not None and not self.lessons.episodes:
            names = ", ".join(map(str, directories))
            raise ConfigError(
                f"no demonstration in {names} is of a task of the suite", hint="operant demos collect"
            )
        if not self.lessons.episodes:
            names = ", ".join(map(str, directories))
            raise ConfigError(
                f"there is nothing to learn from in {names}",
                hint="operant demos collect --out DIR records some",
            )
        self._on_progress(f"{len(self.lessons)} lessons of {self.lessons.episodes} episodes")


def read_lessons(
    policy: HierarchicalPolicy,
    directories: Sequence[Path],
    *,
    only: Collection[str] | None = None,
    on_progress: OnProgress = print,
) -> Lessons:
    """What was recorded there, as the policy perceives it: everything, or ``only`` demonstrations of these tasks."""
    demonstrations = Demonstrations(policy, only, on_progress)
    demonstrations.read(directories)
    return demonstrations.lessons


def clone(
    policy: HierarchicalPolicy,
    lessons: Lessons,
    out: Path,
    *,
    minutes: float | None = None,
    updates: int | None = None,
    learning_rate: float = 1e-3,
    batch_size: int = 32,
    seed: int = 0,
    on_progress: OnProgress = print,
) -> float:
    """Clone for so many updates or minutes, whichever is over first; save; return the mean loss of the last updates.

    Weights are saved on the way, too. Ctrl-C saves what was learned and raises ``KeyboardInterrupt``.
    """
    lessons.augment(policy.augmentation())
    cloning = Cloning(policy, learning_rate=learning_rate, batch_size=batch_size, seed=seed)
    saved, note, stop = time.monotonic(), _Reporter(batch_size, on_progress), threading.Event()

    def between(epoch: int, loss: float, progress: float) -> None:
        nonlocal saved
        note(epoch, loss, progress)
        if time.monotonic() - saved > REFRESH_S:
            cloning.averaged.save(out)
            saved = time.monotonic()

    with stop_on_signals(stop.set):
        cloning.learn(
            lessons,
            epochs=10_000 if updates is None else updates,
            updates=updates,
            seconds=None if minutes is None else minutes * 60,
            on_progress=between,
            stop=stop.is_set,
        )
        _finish(policy, out, interrupted=stop.is_set(), on_progress=on_progress)
    return note.mean


def _finish(policy: HierarchicalPolicy, out: Path, *, interrupted: bool, on_progress: OnProgress) -> None:
    """Save what was learned; after Ctrl-C, say how to go on."""
    policy.save(out)
    if interrupted:
        on_progress(
            f"stopped; {out} has what was learned: the same command with --init-from {out} goes on from there"
        )
        raise KeyboardInterrupt


def dagger(
    policy: HierarchicalPolicy,
    suite: str,
    templates: Sequence[Template],
    directories: Sequence[Path],
    out: Path,
    *,
    minutes: float,
    learning_rate: float = 1e-3,
    batch_size: int = 32,
    beta: float = 0.5,
    first_seed: int = 10_000,
    workers: int = 2,
    threads: int = 1,
    seed: int = 0,
    on_progress: OnProgress = print,
) -> Path:
    """Clone for ``minutes``, while another process plays with the latest weights and adds what it gets into.

    Returns where the new episodes are: beside the first of the directories. Those of earlier runs that are there stay,
    and are learned from as well.
    """
    demonstrations = Demonstrations(policy, on_progress=on_progress)
    demonstrations.read(directories)
    lessons = demonstrations.lessons
    lessons.augment(policy.augmentation())
    first = directories[0].resolve()
    place = first.with_name(f"{first.name}-played")
    first_seed = next_seed(place, first_seed)
    names = frozenset(template.id for template in templates)
    player = PlayingProcess(PlayingSettings(suite, names, place, out, beta, first_seed, workers, threads))
    policy.save(out)
    cloning = Cloning(policy, learning_rate=learning_rate, batch_size=batch_size, seed=seed)
    looked = time.monotonic()
    note = _Reporter(batch_size, on_progress)

    def between(epoch: int, loss: float, progress: float) -> None:
        nonlocal looked
        note(epoch, loss, progress)
        if time.monotonic() - looked > REFRESH_S:
            cloning.averaged.save(out)
            look_after()
            if place.is_dir():
                demonstrations.read([place])
            looked = time.monotonic()

    with stop_on_signals(player.stop):
        with player.playing() as look_after:
            cloning.learn(
                lessons, epochs=10_000, seconds=minutes * 60, on_progress=between, stop=player.stopped
            )
            interrupted = player.stopped()
        _finish(policy, out, interrupted=interrupted, on_progress=on_progress)
    return place


class _Reporter:
    """Says how cloning goes, after the first update and then every so many."""

    def __init__(self, batch_size: int, on_progress: OnProgress, every: int = 100) -> None:
        self.batch_size, self.on_progress, self.every = batch_size, on_progress, every
        self.recent: list[float] = []
        self.began = time.monotonic()

    def __call__(self, epoch: int, loss: float, progress: float) -> None:
        self.recent.append(loss)
        if len(self.recent) == 1 or len(self.recent) % self.every == 0:  # the first one is a sign of life
            speed = len(self.recent) * self.batch_size / (time.monotonic() - self.began)
            self.on_progress(
                f"cloning {progress:4.0%} | epoch {epoch + 1} | update {len(self.recent)} | "
                f"loss {self.mean:.3f} | {speed:.0f} lessons/s"
            )

    @property
    def mean(self) -> float:
        return float(np.mean(self.recent[-self.every :])) if self.recent else math.nan


def load_or_make(checkpoint: str | Path | None) -> HierarchicalPolicy:
    """A policy to learn with: that of a checkpoint, of the agent that comes with Operant (``default``), or a new one."""
    weights = first_weights(checkpoint)
    return HierarchicalPolicy() if weights is None else HierarchicalPolicy.from_checkpoint(weights)
