"""Rollouts from many environments at once: a policy acts wherever an environment waits for it.

The environment is handed in: a vector environment with ``step`` and, to go on without waiting for the slowest, ``send``
and ``recv``. Actions that are still on their way when a rollout is full belong to the next one, with the
log-probabilities of the policy that chose them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import torch

from operant.agents.trainable import Screens, Tensors, TrainablePolicy
from operant.errors import TrainingDiverged
from operant.learn.buffer import Rollout, RolloutBuffer, take

__all__ = ["CollectedRollout", "Collector", "Ended", "Environments", "Interrupted", "OnSteps", "Watch"]

Arrays = dict[str, npt.NDArray[Any]]
Watch = Callable[[int, Any], None]
"""Told of an environment's number and the action that it is about to do."""
OnSteps = Callable[[int, "Sequence[Ended]"], None]
"""Told of steps that were made, and of the episodes that they ended."""


class Environments(Protocol):
    """What is needed of a vector environment; ``send`` and ``recv`` only if they are used."""

    num_envs: int

    def reset(self, *, seed: Any = None) -> tuple[Any, dict[str, Any]]: ...

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]: ...


class Interrupted(Exception):
    """A stop was requested while a rollout was collected, and none of it is kept."""


@dataclass(frozen=True)
class Ended:
    """An episode that is over."""

    task: str
    success: bool
    discard: bool
    """Lost to the machine: it says nothing about the agent."""
    reward: float
    steps: int
    outcome: str = ""
    terms: Mapping[str, float] = field(default_factory=dict)
    """What each term of the reward summed up to."""


@dataclass(frozen=True)
class CollectedRollout:
    """A rollout, and what happened while it was collected."""

    rollout: Rollout
    steps: int
    """Steps that environments made, those that are no experience included."""
    episodes: Sequence[Ended]
    kinds: Mapping[str, int]
    """How often each kind of action was chosen."""


class Collector:
    """Plays on where it left off, rollout after rollout."""

    def __init__(
        self,
        env: Any,
        *,
        gamma: float,
        gae_lambda: float,
        bootstrap_truncated: bool = False,
        asynchronous: bool = True,
        seed: int = 0,
        device: torch.device | None = None,
        action_names: Sequence[str] = (),
        watch: Watch | None = None,
        on_steps: OnSteps = lambda steps, ended: None,
        stop: Callable[[], bool] = lambda: False,
        keep_stopped: bool = False,
    ) -> None:
        """With ``keep_stopped``, a stop ends the rollout early, and what was played is handed over."""
        self.env = env
        self.gamma, self.gae_lambda = gamma, gae_lambda
        self.bootstrap_truncated = bootstrap_truncated
        self.asynchronous = asynchronous and hasattr(env, "send") and hasattr(env, "recv")
        self.device = device if device is not None else torch.device("cpu")
        self.generator = torch.Generator(self.device).manual_seed(seed)
        self.action_names = tuple(action_names)
        self.watch = watch
        self.on_steps = on_steps
        self.stop = stop
        self.keep_stopped = keep_stopped
        self.buffer = RolloutBuffer(env.num_envs)
        self._begun = False
        self._away: set[int] = set()
        self._seen: Tensors = {}
        self._chosen: Tensors = {}
        self._log_prob = torch.zeros(env.num_envs)
        self._value = torch.zeros(env.num_envs)
        self._return = np.zeros(env.num_envs)
        self._length = np.zeros(env.num_envs, np.int64)

    def begin(self, seed: int | None = None) -> None:
        """New episodes everywhere."""
        if self._away:
            self.env.recv()
            self._away.clear()
        observations, _ = self.env.reset(seed=seed)
        self.show(observations)

    def show(self, observations: Mapping[str, Any]) -> None:
        """Go on from these observations."""
        self._seen = _tensors(observations)
        self._return[:] = 0.0
        self._length[:] = 0
        self._begun = True

    def collect(self, policy: TrainablePolicy, steps: int) -> CollectedRollout:
        """At least so many steps, over all environments together; fewer if a stop ends it early."""
        if not self._begun:
            self.begin()
        policy.eval()
        self.buffer.clear()
        episodes: list[Ended] = []
        kinds: Counter[str] = Counter()
        while len(self.buffer) < steps:
            if self.stop():
                if self.keep_stopped and len(self.buffer):
                    break
                raise Interrupted
            idle = [index for index in range(self.env.num_envs) if index not in self._away]
            actions = self._choose(policy, idle, kinds) if idle else []
            for indices, result in self._act(idle, actions):
                ended = self._receive(indices, *result)
                episodes += ended
                self.on_steps(len(indices), ended)
        return CollectedRollout(self._finish(policy), len(self.buffer), episodes, kinds)

    # Acting.

    def _choose(self, policy: TrainablePolicy, idle: list[int], kinds: Counter[str]) -> list[Any]:
        with torch.no_grad():
            sampled = policy.sample(
                self._on_device(take(self._seen, idle)), self._screens(idle), generator=self.generator
            )
        log_prob, value = sampled.log_prob.float().cpu(), sampled.value.float().cpu()
        if not bool(torch.isfinite(log_prob).all() and torch.isfinite(value).all()):
            raise TrainingDiverged("the policy gives probabilities or values that are not finite")
        for name, rows in sampled.actions.items():
            kept = self._chosen.get(name)
            if kept is None:
                kept = rows.new_zeros((self.env.num_envs, *rows.shape[1:]), device="cpu")
                self._chosen[name] = kept
            kept[idle] = rows.cpu()
        self._log_prob[idle], self._value[idle] = log_prob, value
        actions = policy.to_environment(sampled.actions)
        for index, action in zip(idle, actions, strict=True):
            kinds[self._kind(action)] += 1
            if self.watch is not None:
                self.watch(index, action)
        return actions

    def _screens(self, indices: list[int]) -> Screens | None:
        shown = getattr(self.env, "observations", None)
        return None if shown is None else [shown[index].screen for index in indices]

    def _kind(self, action: Any) -> str:
        if isinstance(action, Mapping) and "type" in action:
            number = int(action["type"])
            return self.action_names[number] if number < len(self.action_names) else str(number)
        kind = getattr(action, "kind", None)
        return str(getattr(kind, "value", kind)) if kind is not None else str(action)

    def _act(self, idle: list[int], actions: list[Any]) -> list[tuple[list[int], tuple[Any, ...]]]:
        if not self.asynchronous:
            return [(idle, self.env.step(actions))]
        if idle:
            self.env.send(actions, idle)
            self._away.update(idle)
        # Half of them at a time: the policy is faster on many at once, and the slowest holds up half of them at most.
        *result, indices = self.env.recv(max(1, self.env.num_envs // 2))
        self._away.difference_update(indices)
        return [(list(indices), tuple(result))]

    def _receive(
        self, indices: list[int], observations: Any, rewards: Any, terminated: Any, truncated: Any, infos: Any
    ) -> list[Ended]:
        self.buffer.add(
            indices,
            take(self._seen, indices),
            take(self._chosen, indices),
            self._log_prob[indices],
            self._value[indices],
            rewards,
            terminated,
            truncated,
        )
        ended = []
        for row, index in enumerate(indices):
            self._return[index] += rewards[row]
            self._length[index] += 1
            if terminated[row] or truncated[row]:
                ended.append(self._end(index, infos))
        for name, rows in _tensors(observations).items():
            self._seen[name][indices] = rows
        return ended

    def _end(self, index: int, infos: Mapping[str, Any]) -> Ended:
        told = _told(infos.get("final_info", {}), index)
        discard = bool(told.get("discard", False))
        last = infos["final_obs"][index] if "final_obs" in infos and self.bootstrap_truncated else None
        self.buffer.end_episode(index, None if last is None else _tensors(last), discard=discard)
        ended = Ended(
            task=str(told.get("episode_task", "")),
            success=bool(told.get("is_success", False)),
            discard=discard,
            reward=float(self._return[index]),
            steps=int(self._length[index]),
            outcome=str(told.get("outcome", "")),
            terms={name: float(value) for name, value in told.get("episode_terms", {}).items()},
        )
        self._return[index], self._length[index] = 0.0, 0
        return ended

    # What a checkpoint keeps.

    @property
    def exact(self) -> bool:
        """Whether the environment can be put back where it was, in the middle of its episodes."""
        return hasattr(self.env, "state_dict") and not self.asynchronous

    def state_dict(self) -> dict[str, Any]:
        state: dict[str, Any] = {"generator": self.generator.get_state()}
        if self.exact and self._begun:
            state["env"] = self.env.state_dict()
            state["seen"] = {name: tensor.clone() for name, tensor in self._seen.items()}
            state["return"], state["length"] = self._return.tolist(), self._length.tolist()
        return state

    def load_state_dict(self, state: Mapping[str, Any], seed: int) -> None:
        """Go on from there; episodes that can't be brought back are replaced by new ones, drawn by ``seed``."""
        if self.exact and "env" in state:
            self.env.load_state_dict(state["env"])
            self.show(state["seen"])
            self._return[:], self._length[:] = state["return"], state["length"]
        else:
            self.begin(seed)
        self.generator.set_state(state["generator"])

    # Ending.

    def _finish(self, policy: TrainablePolicy) -> Rollout:
        cut_off = self.buffer.cut_off()
        with torch.no_grad():
            now = policy.value(self._on_device(self._seen)).float().cpu().numpy()
            ends = np.zeros(0, np.float32)
            if cut_off is not None:
                ends = policy.value(self._on_device(cut_off)).float().cpu().numpy()
        return self.buffer.finish(now, ends, gamma=self.gamma, gae_lambda=self.gae_lambda)

    def _on_device(self, tensors: Tensors) -> Tensors:
        return {name: tensor.to(self.device) for name, tensor in tensors.items()}


def _tensors(observations: Mapping[str, Any]) -> Tensors:
    """Copies: environments may write the next observation into the same memory."""
    return {
        name: part.clone() if isinstance(part, torch.Tensor) else torch.from_numpy(np.array(part))
        for name, part in observations.items()
    }


def _told(final: Mapping[str, Any], index: int) -> dict[str, Any]:
    """What Gymnasium's batched infos say of one environment."""
    told: dict[str, Any] = {}
    for name, part in final.items():
        if name.startswith("_") or not bool(final.get(f"_{name}", {index: True})[index]):
            continue
        told[name] = _told(part, index) if isinstance(part, Mapping) else part[index]
    return told
