"""Proximal policy optimisation (Schulman et al., 2017): one update of a policy from one rollout.

A loss or gradient that is not finite is never stepped on: it is skipped, counted and told, and too many in a row end
the run. Knows nothing of environments.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from loguru import logger
from torch import Tensor

from operant.agents.trainable import Judged, TrainablePolicy
from operant.config.learning import PPOConfig
from operant.errors import ConfigError, TrainingDiverged
from operant.learn.buffer import Rollout
from operant.learn.ddp import Judge, Peers
from operant.learn.threads import can_fuse

__all__ = ["Learned", "Loss", "PPOLearner", "ppo_loss"]

ALIKE = 32  # rows that are judged at once, where some are longer than others
#: The critic on its own: a small network on what is known already, so that steps cost little and may be large.
CRITIC_STEPS, CRITIC_RATE, CRITIC_DECAY = 200, 2e-3, 0.01
_DTYPES = {"bf16": torch.bfloat16, "fp16": torch.float16}


@dataclass(frozen=True)
class Loss:
    """What is minimised, and its parts."""

    total: Tensor
    policy: Tensor
    value: Tensor
    entropy: Mapping[str, Tensor]
    """head -> mean over the batch"""
    kl: Tensor
    """An estimate of how far the policy has moved since the actions were taken."""
    clipped: Tensor
    """Share of steps whose gradient is cut off."""


def ppo_loss(judged: Judged, batch: Rollout, config: PPOConfig) -> Loss:
    """The clipped objective, the critic's squared error, and a bonus for the entropy of each head."""
    moved = judged.log_prob - batch.log_prob
    ratio = moved.exp()
    bounded = ratio.clamp(1 - config.clip_epsilon, 1 + config.clip_epsilon)
    policy = -torch.minimum(ratio * batch.advantage, bounded * batch.advantage).mean()
    error = (judged.value - batch.returns) ** 2
    if config.value_clip is not None:
        near = batch.value + (judged.value - batch.value).clamp(-config.value_clip, config.value_clip)
        error = torch.maximum(error, (near - batch.returns) ** 2)
    value = 0.5 * error.mean()
    entropy = {head: part.mean() for head, part in judged.entropy.items()}
    total = policy + config.value_coefficient * value
    for head, part in entropy.items():
        total = total - config.entropy_coefficients.get(head, config.entropy_coefficient) * part
    with torch.no_grad():
        kl = (ratio - 1 - moved).mean()
        clipped = ((ratio - 1).abs() > config.clip_epsilon).float().mean()
    return Loss(total, policy, value, entropy, kl, clipped)


@dataclass(frozen=True)
class Learned:
    """What an update did; means over its gradient steps."""

    loss: float = math.nan
    policy_loss: float = math.nan
    value_loss: float = math.nan
    entropy: Mapping[str, float] = field(default_factory=dict)
    kl: float = 0.0
    clipped: float = 0.0
    grad_norm: float = 0.0
    explained_variance: float = math.nan
    """How much of the returns the critic knew beforehand: 1 is everything, 0 no more than their mean."""
    gradient_steps: int = 0
    skipped: int = 0
    """Gradient steps that were not taken because something was not finite."""
    stopped_early: bool = False


class PPOLearner:
    """A policy with its optimiser."""

    def __init__(
        self,
        policy: TrainablePolicy,
        config: PPOConfig | None = None,
        *,
        device: torch.device | None = None,
        seed: int = 0,
        peers: Peers | None = None,
    ) -> None:
        self.config = config if config is not None else PPOConfig()
        self.device = device if device is not None else torch.device("cpu")
        self.peers = peers if peers is not None else Peers()
        self.policy = policy.to(self.device)
        self.random = np.random.default_rng(seed)
        if self.config.gradient_checkpointing:
            _checkpoint_gradients(policy)
        self.optimizer = torch.optim.Adam(
            policy.parameters(), lr=self.config.learning_rate, eps=1e-5, fused=can_fuse(self.device)
        )
        self.scaler = torch.amp.GradScaler(self.device.type, enabled=self.config.precision == "fp16")
        self._judge = self.peers.wrap(Judge(policy))
        self._skipped_in_a_row = 0
        self._moved_before: float | None = None

    def trains(self, policy: TrainablePolicy) -> bool:
        """Whether the optimiser has this policy's own parameters."""
        kept = {id(part) for group in self.optimizer.param_groups for part in group["params"]}
        return kept == {id(part) for part in policy.parameters()}

    def update(self, rollout: Rollout, learning_rate: float | None = None) -> Learned:
        """Learn from a rollout, several times over."""
        for group in self.optimizer.param_groups:
            group["lr"] = self.config.learning_rate if learning_rate is None else learning_rate
        parts = min(len(rollout), math.ceil(len(rollout) / self.config.minibatch_size))
        parts = self.peers.smallest(parts)
        if parts == 0:
            logger.warning("a rollout without any experience: nothing is learned from it")
            return Learned()
        rollout = self._prepared(rollout)
        notes: list[dict[str, float]] = []
        skipped, stopped = 0, False
        self._moved_before = None
        self.policy.train()
        for _ in range(self.config.update_epochs):
            for batch in rollout.minibatches(parts, self.random):
                note, stopped = self._step(batch)
                if stopped:
                    break
                if note is None:
                    skipped += 1
                    self._count_skipped()
                else:
                    self._skipped_in_a_row = 0
                    notes.append(note)
            if stopped:
                break
        self._check_weights()
        if skipped:
            logger.warning("{} gradient steps were skipped: loss or gradient was not finite", skipped)
        return _summary(notes, skipped, stopped, _explained(rollout))

    def fit_critic(self, rollout: Rollout) -> Learned:
        """Teach the critic alone what came of a rollout; the policy stays as it is."""
        if self.peers.smallest(len(rollout)) == 0:
            logger.warning("a rollout without any experience: nothing is learned from it")
            return Learned()
        self.policy.eval()
        with torch.no_grad():
            chunks = rollout.to(self.device).in_order(self.config.minibatch_size)
            known = [(self.policy.summarise(chunk.observations).float(), chunk.returns) for chunk in chunks]
        summaries, returns = (torch.cat(part) for part in zip(*known, strict=True))
        parameters = list(self.policy.critic.parameters())
        optimizer = torch.optim.AdamW(parameters, lr=CRITIC_RATE, weight_decay=CRITIC_DECAY)
        losses: list[float] = []
        for _ in range(CRITIC_STEPS):
            rows = torch.from_numpy(self.random.integers(len(returns), size=self.config.minibatch_size))
            loss = 0.5 * ((self.policy.critic(summaries[rows])[:, 0] - returns[rows]) ** 2).mean()
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            self.peers.sum_gradients(parameters)
            optimizer.step()
            losses.append(float(loss.detach()))
        self._check_weights()
        loss_now = float(np.mean(losses[-CRITIC_STEPS // 4 :]))
        return Learned(
            loss=loss_now,
            policy_loss=0.0,
            value_loss=loss_now,
            explained_variance=_explained(rollout),
            gradient_steps=len(losses),
        )

    def _prepared(self, rollout: Rollout) -> Rollout:
        rollout = rollout.to(self.device)
        if not self.config.normalize_advantages:
            return rollout
        mean, deviation = self.peers.moments(rollout.advantage)
        advantage = (rollout.advantage - mean) / (deviation + 1e-8)
        return Rollout(
            rollout.observations,
            rollout.actions,
            rollout.log_prob,
            rollout.value,
            advantage,
            rollout.returns,
        )

    def _step(self, batch: Rollout) -> tuple[dict[str, float] | None, bool]:
        """One gradient step: its numbers (none if it was skipped), and whether the policy has moved enough."""
        self.optimizer.zero_grad(set_to_none=True)
        batch, size = self._sorted(batch)
        judged = _joined([self._judged(part) for part in batch.in_order(size)])
        loss = ppo_loss(judged, batch, self.config)
        if self.peers.any(not bool(torch.isfinite(loss.total))):
            return None, False
        kl = self.peers.mean(float(loss.kl))
        if self._moved_before is None:  # what was collected while another update ran is of older weights
            self._moved_before = kl
        if self.config.target_kl is not None and kl - self._moved_before > self.config.target_kl:
            return None, True
        self.scaler.scale(loss.total).backward()  # type: ignore[no-untyped-call]
        self.scaler.unscale_(self.optimizer)
        norm = torch.nn.utils.clip_grad_norm_(self.policy.parameters(), self.config.max_grad_norm)
        if not bool(torch.isfinite(norm)):
            # Gradients are averaged, so that every process sees the same. The scaler learns from its failure.
            if self.scaler.is_enabled():
                self.scaler.step(self.optimizer)
                self.scaler.update()
            return None, False
        self.scaler.step(self.optimizer)
        self.scaler.update()
        return {
            "loss": loss.total.item(),
            "policy_loss": loss.policy.item(),
            "value_loss": loss.value.item(),
            "kl": kl,
            "clipped": float(loss.clipped),
            "grad_norm": float(norm),
            **{f"entropy/{head}": part.item() for head, part in loss.entropy.items()},
        }, False

    def _sorted(self, batch: Rollout) -> tuple[Rollout, int]:
        """The batch by length, and how many rows of it to judge at once: it comes to the same, and costs less."""
        lengths = self.policy.lengths(batch.observations)
        # Gradients of several processes are exchanged once for each time that the policy is asked.
        if lengths is None or self.peers.size > 1:
            return batch, len(batch)
        return batch.rows(lengths.argsort(stable=True)), ALIKE

    def _judged(self, part: Rollout) -> Judged:
        with self._autocast():
            log_prob, value, entropy = self._judge(part.observations, part.actions)
        return Judged(log_prob.float(), value.float(), {head: one.float() for head, one in entropy.items()})

    def _autocast(self) -> AbstractContextManager[Any]:
        dtype = _DTYPES.get(self.config.precision)
        return torch.autocast(self.device.type, dtype=dtype, enabled=dtype is not None)

    def _count_skipped(self) -> None:
        self._skipped_in_a_row += 1
        if self._skipped_in_a_row >= self.config.most_skipped:
            raise TrainingDiverged(
                f"loss or gradient was not finite {self._skipped_in_a_row} times in a row",
                hint="go on from the last checkpoint with a smaller learning_rate, or look for NaN in the rewards",
            )

    def _check_weights(self) -> None:
        for name, parameter in self.policy.named_parameters():
            if not bool(torch.isfinite(parameter).all()):
                raise TrainingDiverged(
                    f"the weights {name} are not finite any more",
                    hint="go on from the last checkpoint with a smaller learning_rate",
                )

    # What a checkpoint keeps of it.

    def state_dict(self) -> dict[str, Any]:
        return {
            "optimizer": self.optimizer.state_dict(),
            "scaler": self.scaler.state_dict(),
            "random": self.random.bit_generator.state,
            "skipped_in_a_row": self._skipped_in_a_row,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self.optimizer.load_state_dict(state["optimizer"])
        if self.scaler.is_enabled() and state["scaler"]:
            self.scaler.load_state_dict(state["scaler"])
        self.random.bit_generator.state = state["random"]
        self._skipped_in_a_row = state["skipped_in_a_row"]


def _joined(parts: Sequence[Judged]) -> Judged:
    """Parts of a batch as one. A head that no action of a part used is not there in it."""
    heads = dict.fromkeys(head for part in parts for head in part.entropy)
    entropy = {
        head: torch.cat([part.entropy.get(head, torch.zeros_like(part.value)) for part in parts])
        for head in heads
    }
    log_prob = torch.cat([part.log_prob for part in parts])
    return Judged(log_prob, torch.cat([part.value for part in parts]), entropy)


def _checkpoint_gradients(policy: TrainablePolicy) -> None:
    switch = getattr(policy, "gradient_checkpointing", None)
    if switch is None:
        raise ConfigError(
            f"a {type(policy).__name__} has no gradient checkpointing", hint="gradient_checkpointing: false"
        )
    switch(True)


def _explained(rollout: Rollout) -> float:
    spread = float(rollout.returns.var(correction=0))
    if spread == 0:
        return math.nan
    return 1 - float((rollout.returns - rollout.value).var(correction=0)) / spread


def _summary(notes: list[dict[str, float]], skipped: int, stopped: bool, explained: float) -> Learned:
    if not notes:
        return Learned(explained_variance=explained, skipped=skipped, stopped_early=stopped)
    # A head that no action of a minibatch used is not there at all.
    names = dict.fromkeys(name for note in notes for name in note)
    means = {name: float(np.mean([note[name] for note in notes if name in note])) for name in names}
    return Learned(
        loss=means["loss"],
        policy_loss=means["policy_loss"],
        value_loss=means["value_loss"],
        entropy={name.removeprefix("entropy/"): mean for name, mean in means.items() if "/" in name},
        kl=means["kl"],
        clipped=means["clipped"],
        grad_norm=means["grad_norm"],
        explained_variance=explained,
        gradient_steps=len(notes),
        skipped=skipped,
        stopped_early=stopped,
    )
