"""The whole agent as one network: perceive, encode, choose, refine.

>>> policy = HierarchicalPolicy()                                  # doctest: +SKIP
>>> action = policy.act(observation, deterministic=True)           # doctest: +SKIP
>>> policy.save("agent.pt")                                        # doctest: +SKIP
>>> policy.load("agent.pt")                                        # doctest: +SKIP
>>> policy = HierarchicalPolicy.from_checkpoint("agent.pt")        # doctest: +SKIP

``load`` fills a policy in place. One that was made without settings takes over those of the first checkpoint that it
loads; one that was made with settings keeps to them, and a checkpoint of another agent is an error.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, overload

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from operant.agents.checkpoint_files import read_tensors, write_tensors
from operant.agents.hierarchical.choices import Choices
from operant.agents.hierarchical.config import HierarchicalConfig
from operant.agents.hierarchical.encoder import Encoded, Encoder
from operant.agents.hierarchical.imitation import hits, lesson_batch, surprise
from operant.agents.hierarchical.manager import Manager
from operant.agents.hierarchical.meta_actions import TEXT_BYTES, MetaActions
from operant.agents.hierarchical.name_augmentation import NameAugmentation
from operant.agents.hierarchical.perception import Perception
from operant.agents.hierarchical.worker import Worker
from operant.agents.trainable import Arrays, ImitablePolicy, Judged, Sampled, Screens, Tensors
from operant.agents.weights import check_weights
from operant.config.base import differences
from operant.envs.canonical_actions import CanonicalActions
from operant.errors import CheckpointError, ConfigError
from operant.types import Action, Observation

__all__ = ["FORMAT", "VERSION", "HierarchicalPolicy"]

FORMAT = "operant-hierarchical"
VERSION = 6
#: What follows from the settings.
PARTS = ("config", "perception", "meta", "encoder", "manager", "worker")


class HierarchicalPolicy(ImitablePolicy):
    """Manager and worker over the triple-modal encoder."""

    def __init__(self, config: HierarchicalConfig | None = None) -> None:
        super().__init__()
        self._adopts = config is None
        self.config = config if config is not None else HierarchicalConfig()
        self.perception = Perception(self.config)
        self.meta = MetaActions(self.config)
        self.action_coder = CanonicalActions()
        self.encoder = Encoder(self.config)
        self.manager = Manager(self.config)
        self.worker = Worker(self.config)

    @property
    def parameter_count(self) -> int:
        return sum(parameter.numel() for parameter in self.parameters())

    def gradient_checkpointing(self, on: bool = True) -> None:
        """Compute activations twice rather than keep them."""
        self.encoder.gradient_checkpointing = on

    # Acting.

    @overload
    def act(self, observation: Observation, *, deterministic: bool = ...) -> Action: ...
    @overload
    def act(self, observation: Sequence[Observation], *, deterministic: bool = ...) -> list[Action]: ...
    @torch.inference_mode()
    def act(
        self, observation: Observation | Sequence[Observation], *, deterministic: bool = True
    ) -> Action | list[Action]:
        """The next action for one observation, or one each for several."""
        if isinstance(observation, Observation):
            return self.act([observation], deterministic=deterministic)[0]
        seen = self.perceive(observation)
        sampled = self.sample(seen, [one.screen for one in observation], deterministic=deterministic)
        return self.to_environment(sampled.actions)

    def perceive(self, observations: Sequence[Observation]) -> Tensors:
        """Observations as a batch on the policy's device."""
        coded = [self.perception.encode(one) for one in observations]
        return {
            name: torch.from_numpy(np.stack([one[name] for one in coded])).to(self.device)
            for name in coded[0]
        }

    @property
    def device(self) -> torch.device:
        return next(self.parameters()).device

    @torch.no_grad()
    def sample(
        self,
        observations: Tensors,
        screens: Screens | None = None,
        *,
        deterministic: bool = False,
        generator: torch.Generator | None = None,
    ) -> Sampled:
        known: Encoded = self.encoder(observations)
        choices = Choices(None, deterministic, generator)
        self.manager(known, observations, choices)
        actions = choices.actions
        refined = self._refinable(actions) if screens is not None else torch.zeros_like(known.summary[:, 0])
        if screens is not None and bool(refined.any()):
            actions["crop"] = self.worker.crops(screens, actions["point"], refined)
            refine = self.worker(known.summary, actions["crop"], refined, choices)
            actions["point"] = self.worker.moved(actions["point"], refine, refined, observations)
        else:
            size = self.worker.size
            actions["crop"] = torch.zeros(
                len(refined), size, size, 3, dtype=torch.uint8, device=refined.device
            )
            actions["refine"] = torch.zeros_like(actions["point"])
        actions["refined"] = refined
        self._spell(actions, observations)
        return Sampled(actions, choices.log_prob, self._value(known))

    def _refinable(self, actions: Tensors) -> Tensor:
        """Points that came from the map, not from a box that is known."""
        if not self.worker.enabled:
            return torch.zeros_like(actions["point"][:, 0])
        return self.manager.points[actions["kind"]] * (actions["target"] >= self.perception.rows).float()

    @staticmethod
    def _spell(actions: Tensors, observations: Tensors) -> None:
        """Write out the text that was chosen."""
        device = actions["kind"].device
        spans = observations["token_span"].long()
        begin = spans[..., 0].gather(1, actions["first"][:, None])
        end = spans[..., 1].gather(1, actions["last"][:, None])
        length = (end - begin).clamp(0, TEXT_BYTES)
        place = torch.arange(TEXT_BYTES, device=device)
        source = observations["source"]
        letters = source.gather(1, (begin + place).clamp(max=source.shape[1] - 1))
        actions["text"] = torch.where(place < length, letters, torch.zeros_like(letters))
        actions["text_length"] = length[:, 0]

    def to_environment(self, actions: Tensors) -> list[Any]:
        arrays = {name: part.cpu().numpy() for name, part in actions.items() if name != "crop"}
        count = len(arrays["kind"])
        return [self.meta.action({name: part[row] for name, part in arrays.items()}) for row in range(count)]

    # Learning.

    def judge(self, observations: Tensors, actions: Tensors) -> Judged:
        known: Encoded = self.encoder(observations)
        choices = self.judge_choices(known, observations, actions)
        return Judged(choices.log_prob, self._value(known), dict(choices.entropies))

    def lengths(self, observations: Tensors) -> Tensor:
        return (observations["token_segment"] > 0).sum(1) + (observations["row_segment"] > 0).sum(1)

    def judge_choices(self, known: Encoded, observations: Tensors, actions: Tensors) -> Choices:
        """Every head apart."""
        choices = Choices(actions)
        self.manager(known, observations, choices)
        if self.worker.enabled and bool(actions["refined"].any()):
            self.worker(known.summary, actions["crop"], actions["refined"], choices)
        return choices

    def forward(self, observations: Tensors, actions: Tensors) -> Judged:
        """The same as ``judge``: what wrappers such as DistributedDataParallel call."""
        return self.judge(observations, actions)

    @property
    def critic(self) -> nn.Module:
        return self.manager.value

    def summarise(self, observations: Tensors) -> Tensor:
        known: Encoded = self.encoder(observations)
        return known.summary

    def _value(self, known: Encoded) -> Tensor:
        value: Tensor = self.critic(known.summary)[:, 0]
        return value.float()

    # Imitation.

    def lesson_lengths(self, lessons: Arrays) -> npt.NDArray[np.int64]:
        parts = (lessons["seen.token_segment"], lessons["seen.row_segment"])
        return np.sum([(part > 0).sum(1) for part in parts], axis=0)  # type: ignore[no-any-return]

    def augmentation(self) -> NameAugmentation:
        return NameAugmentation(self.config.encoder.vocabulary)

    def lesson_batch(self, lessons: Arrays, random: np.random.Generator) -> tuple[Tensors, Tensors]:
        return lesson_batch(self, lessons, random)

    def imitation_loss(self, observations: Tensors, actions: Tensors) -> Tensor:
        return surprise(self.judge_choices(self.encoder(observations), observations, actions).log_probs)

    def imitation_hits(self, observations: Tensors, actions: Tensors) -> dict[str, list[float]]:
        return hits(self, observations, actions)

    # Files.

    def state(self, *, half: bool = False) -> dict[str, Any]:
        """What ``save`` writes; ``from_state`` makes a policy of it."""
        weights = {name: part.detach().cpu() for name, part in self.state_dict().items()}
        if half:
            weights = {
                name: part.half() if part.is_floating_point() else part for name, part in weights.items()
            }
        return {
            "format": FORMAT,
            "version": VERSION,
            "config": self.config.model_dump_json(exclude={"encoder": {"vision_weights"}}),
            "weights": weights,
        }

    def save(self, path: str | Path, *, half: bool = False) -> None:
        """Write it as a whole or not at all; ``half`` the size costs the last digits of the weights."""
        write_tensors(Path(path), self.state(half=half))

    @classmethod
    def from_state(cls, state: Any, where: str = "the checkpoint") -> HierarchicalPolicy:
        """A policy of what ``state`` gave."""
        config, weights = _opened(state, where)
        policy = cls(config)
        policy._take(weights, where)
        return policy

    @classmethod
    def from_checkpoint(
        cls,
        path: str | Path,
        config: HierarchicalConfig | None = None,
        *,
        device: str | torch.device = "cpu",
    ) -> HierarchicalPolicy:
        """The policy of a file, ready to act. If ``config`` is given, it must be that of the checkpoint."""
        state, where = read_tensors(path), str(path)
        if config is not None:
            _check_settings(_opened(state, where)[0], config, where)
        return cls.from_state(state, where)._moved(device).eval()

    def load(self, path: str | Path, *, device: str | torch.device | None = None) -> HierarchicalPolicy:
        """Take over a checkpoint in place, on the device where this policy is; a failure changes nothing."""
        state, where = read_tensors(path), str(path)
        config, weights = _opened(state, where)
        if config == self.config.architecture():
            self._take(weights, where)
        elif not self._adopts:
            _check_settings(config, self.config, where)
        else:
            other = type(self).from_state(state, where).to(self.device).train(self.training)
            other.gradient_checkpointing(self.encoder.gradient_checkpointing)
            for name in PARTS:
                setattr(self, name, getattr(other, name))
        self._adopts = False
        return self if device is None else self._moved(device)

    def _take(self, weights: Any, where: str) -> None:
        check_weights(self, weights, where, hint="its weights do not belong to its own settings")
        self.load_state_dict(weights)

    def _moved(self, device: str | torch.device) -> HierarchicalPolicy:
        try:
            return self.to(device)
        except (RuntimeError, AssertionError) as error:
            raise ConfigError(f"there is no device {device}: {str(error).splitlines()[0]}") from error

    @property
    def fingerprint(self) -> str:
        """Changes when the weights do."""
        digest = hashlib.sha256()
        for name, part in sorted(self.state_dict().items()):
            digest.update(name.encode())
            digest.update(part.detach().cpu().contiguous().numpy().tobytes())
        return digest.hexdigest()[:16]


def _opened(state: Any, where: str) -> tuple[HierarchicalConfig, Any]:
    """The settings and the weights of what was read."""
    if isinstance(state, dict) and isinstance(state.get("policy"), dict):
        state = state["policy"]  # a trainer's checkpoint holds one
    if not isinstance(state, dict) or state.get("format") != FORMAT:
        raise CheckpointError(
            f"{where} is not a checkpoint of the hierarchical agent",
            hint="one that policy.save(path) or operant train hierarchical wrote",
        )
    if state.get("version") != VERSION:
        raise CheckpointError(
            f"{where} has version {state.get('version')}, this is version {VERSION}",
            hint="train again, or load it with the release that wrote it",
        )
    try:
        config = HierarchicalConfig.model_validate_json(state["config"])
    except (ValueError, KeyError) as error:
        reason = " ".join(str(error).split())
        raise CheckpointError(f"{where} has a configuration that can't be read: {reason}") from error
    return config, state.get("weights")


def _check_settings(theirs: HierarchicalConfig, ours: HierarchicalConfig, where: str) -> None:
    told = differences(theirs, ours.architecture())
    if told:
        raise CheckpointError(
            f"{where} is of an agent with other settings: {'; '.join(told)}",
            hint="leave the agent's settings out to take those of the checkpoint: "
            "HierarchicalPolicy.from_checkpoint(path), or no section agent in the file",
        )
