"""The training loop: collect, update, report, save; and go on exactly where an interrupted run ended.

    PPOTrainer(policy, env, learning_rate=1e-4).train(total_timesteps=100_000)

The environment is a single one of Gymnasium or a vector; without ``save_dir`` nothing is written.

``Ctrl-C`` saves and ends; a second one ends at once. When environments can't be saved themselves, as desktops can't,
runs with ``asynchronous: false`` begin new episodes at every checkpoint, so that a resumed run does what an
uninterrupted one did.
"""

from __future__ import annotations

import copy
import math
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from loguru import logger
from torch import nn

from operant.agents.trainable import TrainablePolicy
from operant.agents.weights import check_weights
from operant.config.learning import PPOConfig
from operant.config.usual import warn_unusual
from operant.errors import ConfigError, NoSpaceLeft, OperantError, TrainingDiverged
from operant.learn.checkpoint import (
    FINAL,
    global_random_state,
    load_checkpoint,
    restore_global_random_state,
    save_checkpoint,
    steps_crossed,
)
from operant.learn.collect import CollectedRollout, Collector, Interrupted, Watch
from operant.learn.curriculum import Curriculum
from operant.learn.ddp import Peers, unwrap
from operant.learn.interrupt import stop_on_signals
from operant.learn.ppo import Learned, PPOLearner
from operant.learn.progress import TrainingProgress, UpdateReport
from operant.learn.single import as_environments

__all__ = ["PPOTrainer", "TrainingResult"]

Listener = Callable[[UpdateReport], None]
HURRY_S = 0.0005


@dataclass(frozen=True)
class TrainingResult:
    """How a run ended."""

    step: int
    updates: int
    episodes: int
    success_rate: float
    """Of the last hundred episodes."""
    mean_reward: float
    seconds: float
    discarded: int
    skipped: int
    interrupted: bool
    checkpoint: Path | None


class PPOTrainer:
    """A policy, an environment, and everything between them. Settings of ``PPOConfig`` may be given by name."""

    def __init__(
        self,
        policy: TrainablePolicy | nn.DataParallel[TrainablePolicy],
        env: Any,
        config: PPOConfig | None = None,
        *,
        curriculum: Curriculum | None = None,
        save_dir: str | Path | None = None,
        checkpoint_every: int = 10_000,
        device: str | torch.device | None = None,
        seed: int = 0,
        listeners: Sequence[Listener] = (),
        watch: Watch | None = None,
        action_names: Sequence[str] = (),
        peers: Peers | None = None,
        when_disk_full: Literal["stop", "go_on"] = "stop",
        **overrides: Any,
    ) -> None:
        base = config if config is not None else PPOConfig()
        self.config: PPOConfig = type(base).build(**{**base.model_dump(), **overrides})
        warn_unusual(self.config)
        self.policy = policy = unwrap(policy)
        self.env = env = as_environments(env, policy)
        if self.config.buffer_size < env.num_envs:
            raise ConfigError(
                f"buffer_size {self.config.buffer_size} is smaller than the number of environments, {env.num_envs}",
                hint="at least one step of each environment must fit",
            )
        if device is None:
            device = next((part.device for part in policy.parameters()), "cpu")
        self.peers = peers if peers is not None else Peers(device=torch.device(device))
        self.curriculum = curriculum
        self.save_dir = None if save_dir is None else Path(save_dir)
        self.checkpoint_every = checkpoint_every
        self.when_disk_full = when_disk_full
        self.seed = seed
        self.listeners = list(listeners)
        self.progress = TrainingProgress()
        self.ppo = PPOLearner(policy, self.config, device=self.peers.device, seed=seed, peers=self.peers)
        self.collector = Collector(
            env,
            gamma=self.config.gamma,
            gae_lambda=self.config.gae_lambda,
            bootstrap_truncated=self.config.bootstrap_truncated,
            asynchronous=self.config.asynchronous,
            seed=seed + 1000 * self.peers.rank,
            device=self.peers.device,
            action_names=action_names,
            watch=watch,
            # Several processes stop together, between updates.
            stop=lambda: self._stopping and self.peers.size == 1,
        )
        self._stopping = False
        self._actor = copy.deepcopy(policy) if self.config.overlap else policy
        self._ahead: Future[CollectedRollout] | None = None

    def stop(self) -> None:
        """Save and end as soon as possible; may be called from anywhere."""
        self._stopping = True

    def train(self, total_timesteps: int, *, resume: str | Path | None = None) -> TrainingResult:
        """Train until so many environment steps were made since the very beginning of the run."""
        if total_timesteps < 1:
            raise ConfigError(f"total_timesteps is {total_timesteps}: there is nothing to train")
        if not self.ppo.trains(self.policy):
            raise ConfigError(
                "the policy took over another network after its trainer was made",
                hint="call policy.load(path) first, then make PPOTrainer(policy, env)",
            )
        if resume is not None:
            self.resume(Path(resume))
        else:
            self.collector.begin(self._episode_seed())
        self.progress.begin()
        self._stopping = False
        checkpoint: Path | None = None
        with stop_on_signals(self.stop), self._background() as background:
            while self.progress.step < total_timesteps:
                # Until the update begins, the run can be cut here without a trace.
                state = self._state()
                here = f"checkpoint_{self.progress.step}.pt"
                began = time.monotonic()
                try:
                    if self.peers.any(self._stopping):
                        raise Interrupted
                    collected = self._collect(total_timesteps, background)
                except Interrupted:
                    checkpoint = self._save(here, state)
                    break
                except TrainingDiverged:
                    raise
                except OperantError:
                    self._save(here, state)
                    raise
                checkpoint = self._learn(collected, total_timesteps, began) or checkpoint
        interrupted = self.progress.step < total_timesteps
        if not interrupted:
            checkpoint = self._save(FINAL, self._state())
        return self._result(interrupted, checkpoint)

    def resume(self, path: Path) -> None:
        """Take everything from a checkpoint: weights, optimiser, generators, curriculum, counters."""
        content = load_checkpoint(path)
        weights = content["policy"]["weights"]
        check_weights(self.policy, weights, str(path), hint="use the agent settings that it was trained with")
        self.policy.load_state_dict(weights)
        self.ppo.load_state_dict(content["learner"])
        self.progress.load_state_dict(content["progress"])
        if self.curriculum is not None:
            self.curriculum.load_state_dict(content["curriculum"] or {})
        self.collector.load_state_dict(content["collector"], self._episode_seed())
        restore_global_random_state(content["random"])
        logger.info("going on from {} at step {}", path, self.progress.step)

    @contextmanager
    def _background(self) -> Iterator[ThreadPoolExecutor]:
        """The thread that collects ahead; it does not outlive the loop."""
        patience = sys.getswitchinterval()
        with ThreadPoolExecutor(1, "operant-collect") as background:
            try:
                # Every operation of the network asks for the interpreter again, which desktops' threads are using.
                sys.setswitchinterval(min(patience, HURRY_S) if self.config.overlap else patience)
                yield background
            finally:
                sys.setswitchinterval(patience)
                self._stopping = True
                self._ahead = None

    # One round.

    def _collect(self, total: int, background: ThreadPoolExecutor) -> CollectedRollout:
        steps = self.config.buffer_size
        if not self.config.overlap:
            return self.collector.collect(self.policy, steps)
        if self._ahead is None:
            self._actor.load_state_dict(self.policy.state_dict())
            self._ahead = background.submit(self.collector.collect, self._actor, steps)
        ahead, self._ahead = self._ahead, None
        collected = ahead.result()
        if self.progress.step + collected.steps * self.peers.size < total:
            self._actor.load_state_dict(self.policy.state_dict())
            self._ahead = background.submit(self.collector.collect, self._actor, steps)
        return collected

    def _learn(self, collected: CollectedRollout, total: int, began: float) -> Path | None:
        collected_at = time.monotonic()
        before = self.progress.step
        learning_rate = self.config.learning_rate
        if self.config.anneal:
            learning_rate *= max(0.0, 1 - before / total)
        if self.progress.update < self.config.critic_warmup:
            learned = self.ppo.fit_critic(collected.rollout)
        else:
            learned = self.ppo.update(collected.rollout, learning_rate)
        steps = int(self.peers.sum(collected.steps)[0])
        self.progress.add(collected, learned, steps)
        if self.curriculum is not None:
            for ended in collected.episodes:
                if not ended.discard:
                    self.curriculum.record(ended.task, ended.success)
            self.curriculum.advance(steps)
        if self.peers.leads and self.listeners:
            times = (collected_at - began, time.monotonic() - collected_at)
            report = self._report(collected, learned, total, learning_rate, times)
            for listener in self.listeners:
                listener(report)
        crossed = steps_crossed(before, self.progress.step, self.checkpoint_every)
        if crossed is None:
            return None
        saved = self._save_on_the_way(f"checkpoint_{crossed}.pt")
        if not self.collector.asynchronous and not self.collector.exact and not self.config.overlap:
            self.collector.begin(self._episode_seed())
        return saved

    def _report(
        self,
        collected: CollectedRollout,
        learned: Learned,
        total: int,
        learning_rate: float,
        times: tuple[float, float],
    ) -> UpdateReport:
        progress = self.progress
        left = math.ceil(max(0, total - progress.step) / (progress.step / progress.update))
        return UpdateReport(
            update=progress.update,
            updates=progress.update + left,
            step=progress.step,
            total=total,
            seconds=progress.seconds,
            fps=progress.fps,
            mean_reward=progress.mean_reward,
            success_rate=progress.success_rate,
            mean_length=progress.mean_length,
            episodes=progress.episodes,
            discarded=progress.discarded,
            skipped=progress.skipped,
            learning_rate=learning_rate,
            stage="" if self.curriculum is None else self.curriculum.stage,
            learned=learned,
            ended=collected.episodes,
            kinds=collected.kinds,
            tasks=progress.tasks,
            collect_s=times[0],
            learn_s=times[1],
        )

    # Saving.

    def _episode_seed(self) -> int:
        """Which tasks follow depends on the seed of the run and on how far it has come, not on how it came there."""
        parts = (self.seed, self.peers.rank, self.progress.step)
        return int(np.random.SeedSequence(parts).generate_state(1)[0] >> 1)

    def _state(self) -> dict[str, Any]:
        return {
            "progress": self.progress.state_dict(),
            "curriculum": None if self.curriculum is None else self.curriculum.state_dict(),
            "collector": self.collector.state_dict(),
            "random": global_random_state(),
        }

    def _save_on_the_way(self, name: str) -> Path | None:
        """A checkpoint that a later one may stand for, if the run is to go on when the disk is full."""
        try:
            return self._save(name, self._state())
        except NoSpaceLeft as error:
            if self.when_disk_full == "stop":
                raise
            logger.warning("{}; the run goes on, and the next checkpoint is tried", error.message)
            return None

    def _save(self, name: str, state: dict[str, Any]) -> Path | None:
        if self.save_dir is None or not self.peers.leads:
            return None
        content = {
            **state,
            "policy": _whole(self.policy),
            "learner": self.ppo.state_dict(),
        }
        path = save_checkpoint(self.save_dir / name, content)
        logger.debug("saved {}", path)
        return path

    def _result(self, interrupted: bool, checkpoint: Path | None) -> TrainingResult:
        progress = self.progress
        return TrainingResult(
            step=progress.step,
            updates=progress.update,
            episodes=progress.episodes,
            success_rate=progress.success_rate,
            mean_reward=progress.mean_reward,
            seconds=progress.seconds,
            discarded=progress.discarded,
            skipped=progress.skipped,
            interrupted=interrupted,
            checkpoint=checkpoint,
        )


def _whole(policy: TrainablePolicy) -> dict[str, Any]:
    """What the policy itself would save, so that it can be made again from the checkpoint alone."""
    state = getattr(policy, "state", None)
    return dict(state()) if callable(state) else {"weights": policy.state_dict()}
