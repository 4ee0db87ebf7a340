"""The process that plays for DAgger: the learner drives, the oracles say what they would have done.

It reads weights from a file and writes episodes to a directory. It shares nothing else with the learner.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from operant.errors import OperantError

__all__ = ["PlayingProcess", "PlayingSettings"]

ROUND = 80  # episodes between two looks at the weights
SOLVED = 0.9  # success rate from which a template is played less often
SELDOM = 0.35
FADES = 0.1  # of the oracle's share of steps, from round to round
END_S = 60.0
MOST_DEATHS = 3
SEEDS_OF_A_LIFE = 100_000


@dataclass(frozen=True)
class PlayingSettings:
    """What to play, with which weights, and where the episodes go."""

    suite: str
    templates: frozenset[str]
    place: Path
    weights: Path
    beta: float
    """The share of steps that the oracle takes in the first round."""
    first_seed: int
    workers: int
    threads: int = 1


class PlayingProcess:
    """Plays in a process of its own."""

    def __init__(self, settings: PlayingSettings) -> None:
        self.settings = settings
        self._context = multiprocessing.get_context("spawn")
        self._stop: Any = self._context.Event()
        self._deaths = 0

    def stop(self) -> None:
        self._stop.set()

    def stopped(self) -> bool:
        return bool(self._stop.is_set())

    @contextmanager
    def playing(self) -> Iterator[Callable[[], None]]:
        """Plays while the context lasts. Call what it yields regularly: it restarts a process that died."""
        process = self._start()

        def look_after() -> None:
            nonlocal process
            if not process.is_alive() and not self.stopped():
                self._deaths += 1
                if self._deaths > MOST_DEATHS:
                    raise OperantError(
                        f"the process that plays died {self._deaths} times, last with {process.exitcode}"
                    )
                process = self._start()

        try:
            yield look_after
        finally:
            self.stop()
            process.join(END_S)
            if process.is_alive():
                process.terminate()
                process.join()

    def _start(self) -> Any:
        seed = self.settings.first_seed + self._deaths * SEEDS_OF_A_LIFE
        settings = replace(self.settings, first_seed=seed)
        process = self._context.Process(target=_play, args=(settings, self._stop, os.getpid()), name="player")
        process.start()
        return process


def _play(player: PlayingSettings, stop: Any, parent: int) -> None:
    from operant.agents.hierarchical.labeler import HierarchicalLabeler
    from operant.agents.hierarchical.policy import HierarchicalPolicy
    from operant.learn.threads import use_threads
    from operant.rollout.demonstration_collector import CollectedDemonstrations, collect_demonstrations
    from operant.rollout.lessons import LessonView, cache_directory
    from operant.tasks.suites import load_suite
    from operant.types import Action, Observation

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is meant for the learner, which ends this process
    use_threads(player.threads)
    templates = [one for one in load_suite(player.suite) if one.id in player.templates]
    rates = dict.fromkeys(sorted(player.templates), 0.0)
    choose, ended, lock = random.Random(player.first_seed), threading.Event(), threading.Lock()
    number, seed = 0, player.first_seed

    def look(collected: CollectedDemonstrations) -> None:
        if stop.is_set() or os.getppid() != parent:
            ended.set()

    while not ended.is_set():
        policy = HierarchicalPolicy.from_checkpoint(player.weights)

        def act(observation: Observation, policy: HierarchicalPolicy = policy) -> Action:
            with lock:  # one network, one thread at a time
                return policy.act(observation)

        wanted = [one for one in templates if rates[one.id] < SOLVED or choose.random() < SELDOM]
        choose.shuffle(wanted)
        tasks = [one.instance(seed + index, "train") for index, one in enumerate(wanted[:ROUND])]
        beta = max(0.0, player.beta - FADES * number)
        done = collect_demonstrations(
            tasks, player.place, LessonView(HierarchicalLabeler(policy.config), cache_directory()),
            workers=player.workers, learner=act, beta=beta, on_progress=look, stop=ended,
        )  # fmt: skip
        for name, results in done.by_task.items():
            rates[name] = 0.5 * rates[name] + 0.5 * sum(results) / len(results)
        print(
            f"played round {number}: {done.successes} of {done.episodes} solved, the oracle took {beta:.0%} of "
            f"the steps | mean rate {sum(rates.values()) / len(rates):.2f} | {done.infra_errors} infra errors",
            file=sys.stderr,
            flush=True,
        )
        number, seed = number + 1, seed + ROUND
