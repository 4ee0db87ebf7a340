"""The learner: takes trajectories, makes updates, and counts versions. Any algorithm, any policy.

Knows nothing of desktops, actors or queues. Nothing is trained on twice: the ids of trajectories that were used
are part of its state. An update that is not finite is skipped; several in a row are an error. With ``peers``, each
process works on its share of every batch; all get the same trajectories and end with the same weights.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from operant.agents.vlm.trajectory import Trajectory, Turn
from operant.errors import ConfigError, TrainingDiverged
from operant.learn.ddp import Peers
from operant.learn.vlm.base import Algorithm, Batch, Example, Metrics, Policy
from operant.learn.vlm.critic import ValueHead

__all__ = ["Trainer", "about"]

TOLERATED = 5  # updates in a row that were not finite
REMEMBERED = 100_000  # ids of trajectories


class Trainer:
    """Trains a policy with an algorithm.

    ``batch_size`` turns make one optimiser step; ``micro_batch`` of them are in memory at once.
    """

    def __init__(
        self,
        model: Policy,
        algorithm: Algorithm,
        batch_size: int = 32,
        learning_rate: float = 1e-5,
        *,
        micro_batch: int = 8,
        critic_learning_rate: float = 1e-3,
        weight_decay: float = 0.0,
        max_grad_norm: float = 1.0,
        target_kl: float | None = None,
        shared_critic: bool = False,
        seed: int = 0,
        peers: Peers | None = None,
    ) -> None:
        if min(batch_size, micro_batch) < 1:
            raise ConfigError("a batch has at least one turn")
        self.model = model
        self.algorithm = algorithm
        self.batch_size = batch_size
        self.micro_batch = min(micro_batch, batch_size)
        self.max_grad_norm = max_grad_norm
        self.peers = peers or Peers()
        self.target_kl = target_kl
        """Stop an update's epochs when the policy has moved so far."""
        self.version = 0
        self.critic: ValueHead | None = None
        self.trained = dict(model.trainable())
        if not self.trained:
            raise ConfigError("the model has nothing to train", hint="set use_lora, or load it as trainable")
        device = next(iter(self.trained.values())).device
        groups: list[dict[str, Any]] = [
            {"params": list(self.trained.values()), "lr": learning_rate, "weight_decay": weight_decay}
        ]
        if algorithm.needs_critic:
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(seed)
                self.critic = ValueHead(model.width, shared=shared_critic).to(device)
            groups.append({"params": list(self.critic.parameters()), "lr": critic_learning_rate})
        self.optimiser = torch.optim.AdamW(groups, weight_decay=0.0)
        self._device = device
        self._random = random.Random(seed)
        self._used: dict[str, None] = {}
        self._broken = 0
        self.peers.agree(self._parameters)

    @property
    def _parameters(self) -> list[nn.Parameter]:
        return [*self.trained.values(), *(self.critic.parameters() if self.critic else ())]

    # Updating.

    def train_step(
        self,
        trajectories: Sequence[Trajectory],
        algorithm: Algorithm | None = None,
        *,
        reuse: bool = False,
    ) -> Metrics:
        """One update; the version grows if something was learned. ``algorithm`` for this update only.

        With ``reuse``, trajectories that were trained on before are not left out.
        """
        with getattr(self.model, "turn", nullcontext()):  # actors may ask the same model meanwhile
            return self._update(trajectories, algorithm or self.algorithm, reuse)

    def _update(self, trajectories: Sequence[Trajectory], algorithm: Algorithm, reuse: bool) -> Metrics:
        fresh = list(trajectories) if reuse else self._fresh(trajectories)
        metrics = about(fresh, self.version)
        used = [trajectory for trajectory in fresh if trajectory.outcome.is_experience and len(trajectory)]
        _check_tokens(used, algorithm)
        examples = self._examples(used, algorithm) if used else []
        self._remember(fresh)
        metrics["examples"] = float(len(examples))
        if not examples:
            return metrics
        sums = _Sums(self.peers)
        for _ in range(algorithm.epochs):
            for batch in self._batches(examples):
                self._step(batch, algorithm, sums)
            if self.target_kl is not None and sums.last("kl") > self.target_kl:
                break
        self.version += 1
        return metrics | sums.means() | {"version": float(self.version)}

    def _fresh(self, trajectories: Sequence[Trajectory]) -> list[Trajectory]:
        seen = set(self._used)
        fresh = []
        for trajectory in trajectories:
            if trajectory.id and trajectory.id in seen:
                continue
            seen.add(trajectory.id)
            fresh.append(trajectory)
        return fresh

    def _remember(self, trajectories: Sequence[Trajectory]) -> None:
        self._used.update(dict.fromkeys(one.id for one in trajectories if one.id))
        for id in list(self._used)[: max(0, len(self._used) - REMEMBERED)]:
            del self._used[id]

    def _examples(self, trajectories: Sequence[Trajectory], algorithm: Algorithm) -> list[Example]:
        if not (algorithm.needs_critic or algorithm.needs_proximal):
            return algorithm.examples(trajectories, [])
        opinions = {}
        if algorithm.needs_critic:
            turns = [turn for trajectory in trajectories for turn in trajectory.turns]
            opinions = dict(zip(map(id, turns), self._look(turns), strict=True))
        values = [[opinions[id(turn)][0] for turn in one.turns] for one in trajectories] if opinions else []
        examples = algorithm.examples(trajectories, values)
        if not algorithm.needs_proximal:
            return examples
        # Not every turn becomes an example, and replayed ones were not among the trajectories.
        missing = [example.turn for example in examples if id(example.turn) not in opinions]
        opinions |= dict(zip(map(id, missing), self._look(missing), strict=True))
        return [replace(example, proximal=opinions[id(example.turn)][1]) for example in examples]

    @torch.no_grad()
    def _look(self, turns: Sequence[Turn]) -> list[tuple[float, tuple[float, ...]]]:
        """(value, log-probabilities of the tokens) of each turn, as the policy is now."""
        found: list[tuple[float, tuple[float, ...]]] = []
        for part in _parts(self.peers.share(turns), self.micro_batch):
            judged = self.model.judge(
                [turn.prompt for turn in part], [turn.answer.token_ids for turn in part]
            )
            values = self.critic(judged.state) if self.critic else torch.zeros(len(part))
            for row, turn in enumerate(part):
                length = len(turn.answer.token_ids)
                found.append((values[row].item(), tuple(judged.log_probs[row, :length].tolist())))
        return self.peers.collect(found)

    def _batches(self, examples: list[Example]) -> Iterator[list[Example]]:
        shuffled = self._random.sample(examples, len(examples))
        yield from _parts(shuffled, self.batch_size)

    def _step(self, batch: Sequence[Example], algorithm: Algorithm, sums: _Sums) -> None:
        tokens = sum(len(example.turn.answer.token_ids) for example in batch)
        # Answers of about the same length together: less padding.
        ordered = sorted(batch, key=lambda example: len(example.turn.answer.token_ids))
        self.optimiser.zero_grad(set_to_none=True)
        finite = True
        for part in _parts(self.peers.share(ordered), self.micro_batch):
            judged = self.model.judge(
                [example.turn.prompt for example in part],
                [example.turn.answer.token_ids for example in part],
            )
            values = self.critic(judged.state) if self.critic and algorithm.needs_critic else None
            loss, metrics = algorithm.loss(judged, values, Batch.of(part, len(batch), tokens, self._device))
            finite = finite and bool(torch.isfinite(loss))
            if finite and loss.requires_grad:
                loss.backward()  # type: ignore[no-untyped-call]
            entropy = judged.entropy[judged.mask].mean().item()
            share = len(batch) / len(part)
            sums.add({"loss": loss.item() * share, "entropy": entropy, **metrics}, len(part))
        self.peers.sum_gradients(self._parameters)
        finite = not self.peers.any(not finite)
        norm = self._clip()
        sums.add({"grad_norm": norm}, len(batch))
        self._apply(finite and math.isfinite(norm))

    def _apply(self, finite: bool) -> None:
        if finite:
            self._broken = 0
            self.optimiser.step()
            return
        self._broken += 1
        if self._broken >= TOLERATED:
            raise TrainingDiverged(
                f"loss or gradients were not finite {self._broken} times in a row",
                hint="lower training.learning_rate",
            )

    def _clip(self) -> float:
        norm = torch.nn.utils.clip_grad_norm_(list(self.trained.values()), self.max_grad_norm)
        if self.critic is not None:
            torch.nn.utils.clip_grad_norm_(self.critic.parameters(), self.max_grad_norm)
        return norm.item()

    # Handing over.

    def weights(self) -> dict[str, Tensor]:
        """A copy of what is trained, for generation."""
        return {name: parameter.detach().clone() for name, parameter in self.trained.items()}

    @property
    def used(self) -> list[str]:
        """Ids of trajectories that were learned from."""
        return list(self._used)

    def state(self) -> dict[str, Any]:
        """Everything but the model's own weights."""
        version, internal, gauss = self._random.getstate()
        return {
            "version": self.version,
            "optimiser": self.optimiser.state_dict(),
            "critic": self.critic.state_dict() if self.critic else {},
            "algorithm": self.algorithm.state(),
            "random": [version, list(internal), gauss],
            "torch_random": torch.random.get_rng_state(),
            "used": list(self._used),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        self.version = int(state["version"])
        self.optimiser.load_state_dict(dict(state["optimiser"]))
        if self.critic is not None:
            self.critic.load_state_dict(state["critic"])
        self.algorithm.restore(state["algorithm"])
        version, internal, gauss = state["random"]
        self._random.setstate((version, tuple(internal), gauss))
        torch.random.set_rng_state(state["torch_random"])
        self._used = dict.fromkeys(state["used"])


class _Sums:
    """Means of what was measured, weighted by turns, over all processes that learn together."""

    def __init__(self, peers: Peers) -> None:
        self._peers = peers
        self._totals: dict[str, float] = {}
        self._counts: dict[str, float] = {}
        self._last: dict[str, float] = {}

    def add(self, metrics: Metrics, count: int) -> None:
        for name, value in metrics.items():
            self._totals[name] = self._totals.get(name, 0.0) + value * count
            self._counts[name] = self._counts.get(name, 0.0) + count
            self._last[name] = value

    def last(self, name: str) -> float:
        """The same for all, so that they decide alike."""
        return self._peers.mean(self._last.get(name, 0.0))

    def means(self) -> Metrics:
        mine = [(name, self._totals[name], self._counts[name]) for name in self._totals]
        totals: dict[str, float] = {}
        counts: dict[str, float] = {}
        for name, total, count in self._peers.collect_all(mine):
            totals[name] = totals.get(name, 0.0) + total
            counts[name] = counts.get(name, 0.0) + count
        return {name: total / counts[name] for name, total in totals.items()}


def about(trajectories: Sequence[Trajectory], version: int) -> Metrics:
    """What can be said of episodes before anything is learned from them."""
    experience = [one for one in trajectories if one.outcome.is_experience]
    turns = [turn for one in experience for turn in one.turns]
    count = max(1, len(experience))
    # Tokens of a future that a crash took back are not older than now.
    ages = [max(0, version - drawn) for turn in turns for drawn in turn.answer.versions]
    return {
        "trajectories": float(len(experience)),
        "reward": sum(one.total_reward() for one in experience) / count,
        "success_rate": sum(one.success for one in experience) / count,
        "turns": len(turns) / count,
        "invalid": sum(not turn.valid for turn in turns) / max(1, len(turns)),
        "staleness": sum(ages) / max(1, len(ages)),
        "max_staleness": float(max(ages, default=0)),
    }


def _check_tokens(trajectories: Sequence[Trajectory], algorithm: Algorithm) -> None:
    for trajectory in trajectories:
        for turn in trajectory.turns:
            answer = turn.answer
            drawn = len(answer.log_probs) == len(answer.token_ids) or not algorithm.on_policy
            if not answer.token_ids or not drawn:
                raise ConfigError(
                    f"an answer of {trajectory.task} came without its sampled tokens",
                    hint="training needs a backend that tells token ids and log-probabilities",
                )


def _parts(items: Sequence[Any], size: int) -> Iterator[Any]:
    for start in range(0, len(items), size):
        yield items[start : start + size]
