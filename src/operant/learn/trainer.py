"""The training loop: collect, update, report, save; and go on exactly where an interrupted run ended.

    PPOTrainer(policy, env, learning_rate=1e-4).train(total_timesteps=100_000)

The environment is a single one of Gymnasium or a vector; without ``save_dir`` nothing is written.

``Ctrl-C`` learns from what was played, saves and ends; a second one ends at once. With ``asynchronous: false`` a rollout
that is cut off is left out, so that a resumed run does what an uninterrupted one did. When environments can't be saved
themselves, as desktops can't, such runs begin new episodes at every checkpoint.
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
from operant.learn.collect import CollectedRollout, Collector, Ended, Interrupted, Watch
from operant.learn.curriculum import Curriculum
from operant.learn.ddp import Peers, unwrap
from operant.learn.interrupt import stop_on_signals
from operant.learn.ppo import Learned, PPOLearner
from operant.learn.progress import Phase, RunStatus, TrainingProgress, UpdateReport
from operant.learn.single import as_environments

__all__ = ["PPOTrainer", "TrainingResult"]

Listener = Callable[[UpdateReport], None]
StatusListener = Callable[[RunStatus], None]
HURRY_S = 0.0005
STATUS_S = 1.0  # between two reports while a rollout is collected


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
        status_listeners: Sequence[StatusListener] = (),
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
        self.status_listeners = list(status_listeners)
        self.progress = TrainingProgress()
        self._played = TrainingProgress()
        """Counts what is played, also in the middle of a rollout."""
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
            on_steps=self._count,
            keep_stopped=self.config.asynchronous,
            # Several processes stop together, between updates.
            stop=lambda: self._stopping and self.peers.size == 1,
        )
        self._stopping = False
        self._total, self._rollout_steps, self._told = 0, 0, 0.0
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
        self._total = total_timesteps
        self._tell("starting")
        if resume is not None:
            self.resume(Path(resume))
        else:
            self.collector.begin(self._episode_seed())
        self.progress.begin()
        self._played.load_state_dict(self.progress.state_dict())
        self._stopping = False
        checkpoint: Path | None = None
        before_the_cut: Path | None = None
        with stop_on_signals(self.stop), self._background() as background:
            while self.progress.step < total_timesteps:
                # Until the update begins, the run can be cut here without a trace.
                state = self._state()
                here = f"checkpoint_{self.progress.step}.pt"
                began = time.monotonic()
                try:
                    if self.peers.any(self._stopping) and self._ahead is None:
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
                if self._stopping and self.peers.size == 1:
                    before_the_cut = self._save_before_the_cut(here, state, collected)
                checkpoint = self._learn(collected, total_timesteps, began) or checkpoint
        interrupted = self.progress.step < total_timesteps
        if not interrupted:
            checkpoint = self._save(FINAL, self._state())
        if before_the_cut is not None and before_the_cut != checkpoint:
            before_the_cut.unlink(missing_ok=True)
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
        if not self.config.overlap:
            return self._play(self.policy, self.progress.update)
        if self._ahead is None:
            self._actor.load_state_dict(self.policy.state_dict())
            self._ahead = background.submit(self._play, self._actor, self.progress.update)
        ahead, self._ahead = self._ahead, None
        collected = ahead.result()
        stopped = self._stopping and self.peers.size == 1
        if self.progress.step + collected.steps * self.peers.size < total and not stopped:
            self._actor.load_state_dict(self.policy.state_dict())
            self._ahead = background.submit(self._play, self._actor, self.progress.update + 1)
        return collected

    def _play(self, policy: TrainablePolicy, number: int) -> CollectedRollout:
        """Rollout ``number`` of the run, the first of which may be short."""
        steps = self.config.buffer_size
        if self.config.first_rollout is not None and not self.config.critic_warmup:
            steps = min(steps, max(self.config.first_rollout, self.env.num_envs) << min(number, 32))
        self._rollout_steps = steps
        return self.collector.collect(policy, steps)

    def _count(self, steps: int, ended: Sequence[Ended]) -> None:
        """Called for each step of a rollout, in the thread that collects."""
        self._played.count(steps * self.peers.size, ended)
        if time.monotonic() - self._told >= STATUS_S:
            self._tell("collecting")

    def _tell(self, phase: Phase) -> None:
        self._told = time.monotonic()
        if self.peers.leads and self.status_listeners:
            self._played.update = self.progress.update
            rollout = (len(self.collector.buffer), self._rollout_steps)
            status = self._played.status(phase, self._total, rollout)
            for listener in self.status_listeners:
                listener(status)

    def _learn(self, collected: CollectedRollout, total: int, began: float) -> Path | None:
        if self._ahead is None:
            self._tell("learning")
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
        left = math.ceil(max(0, total - progress.step) / (self.config.buffer_size * self.peers.size))
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

    def _save_before_the_cut(
        self, name: str, state: dict[str, Any], collected: CollectedRollout
    ) -> Path | None:
        """A checkpoint in case that the last update, which may take minutes, is ended by a second Ctrl-C. Returns it if
        it was not there before."""
        logger.info(
            "stopping: learning from the {} steps that were played, then saving; Ctrl-C again ends at once",
            collected.steps,
        )
        if self.save_dir is None or (self.save_dir / name).exists():
            return None
        return self._save(name, state)

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
