"""Something to learn in seconds: environments in which the task says which action is right, and a policy for them.

For tests of whatever learns. The environments are deterministic, can be saved in the middle of an episode, and speak as
``DesktopVectorEnv`` does: batched infos, the next episode within the same step, ``send`` and ``recv``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from operant.agents.trainable import Judged, Sampled, Screens, Tensors, TrainablePolicy

__all__ = ["ToyEnvironments", "ToyPolicy"]

Results = tuple[dict[str, npt.NDArray[Any]], Any, Any, Any, dict[str, Any]]


class _Weights(Protocol):
    def weights(self) -> Mapping[str, float]: ...


class ToyEnvironments:
    """Task ``i`` is done by action ``i``, ``doing`` times; every other action wastes a step.

    ``lost`` are the numbers of episodes that a machine's failure ends; ``slow`` are environments that come back only
    when no other element can.
    """

    def __init__(
        self,
        num_envs: int = 4,
        tasks: int = 3,
        *,
        max_steps: int = 4,
        doing: int = 1,
        lost: Sequence[int] = (),
        slow: Sequence[int] = (),
        weights: _Weights | None = None,
    ) -> None:
        self.num_envs = num_envs
        self.tasks = [f"toy/task{number}-v1" for number in range(tasks)]
        self.max_steps, self.doing = max_steps, doing
        self.lost, self.slow = set(lost), set(slow)
        self.weights = weights
        self.random = np.random.default_rng(0)
        self.task = np.zeros(num_envs, np.int64)
        self.steps = np.zeros(num_envs, np.int64)
        self.done = np.zeros(num_envs, np.int64)
        self.episode = np.zeros(num_envs, np.int64)
        self.begun = 0
        self.sent: dict[int, Any] = {}
        self.log: list[int] = []
        """Which environments came back, in their order."""

    def reset(self, *, seed: Any = None) -> tuple[dict[str, npt.NDArray[Any]], dict[str, Any]]:
        if seed is not None:
            self.random = np.random.default_rng(seed)
        for index in range(self.num_envs):
            self._begin(index)
        return self._look(range(self.num_envs)), {}

    def step(self, actions: Any) -> Results:
        return self._step(range(self.num_envs), actions)

    def send(self, actions: Any, indices: Sequence[int]) -> None:
        self.sent.update(zip(indices, actions, strict=True))

    def recv(self, count: int | None = None) -> tuple[Any, ...]:
        ready = sorted(self.sent, key=lambda index: (index in self.slow, index))
        indices = ready[: len(ready) if count is None else count]
        self.log += indices
        return *self._step(indices, [self.sent.pop(index) for index in indices]), indices

    def state_dict(self) -> dict[str, Any]:
        arrays = {name: getattr(self, name).tolist() for name in ("task", "steps", "done", "episode")}
        return {"random": self.random.bit_generator.state, "begun": self.begun, **arrays}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self.random.bit_generator.state = state["random"]
        self.begun = state["begun"]
        for name in ("task", "steps", "done", "episode"):
            getattr(self, name)[:] = state[name]

    def _begin(self, index: int) -> None:
        chances = None
        if self.weights is not None:
            weights = self.weights.weights()
            chances = np.array([weights[task] for task in self.tasks])
        self.task[index] = self.random.choice(len(self.tasks), p=chances)
        self.steps[index] = self.done[index] = 0
        self.episode[index] = self.begun
        self.begun += 1

    def _look(self, indices: Sequence[int]) -> dict[str, npt.NDArray[Any]]:
        rows = list(indices)
        clock = (self.steps[rows] / self.max_steps).astype(np.float32)
        return {
            "task": np.eye(len(self.tasks), dtype=np.float32)[self.task[rows]],
            "clock": clock[:, None],
        }

    def _step(self, indices: Sequence[int], actions: Sequence[Any]) -> Results:
        count = len(indices)
        rewards = np.zeros(count)
        terminated, truncated = np.zeros(count, np.bool_), np.zeros(count, np.bool_)
        last = np.full(self.num_envs, None, object)
        final: dict[str, Any] = {
            "outcome": np.full(self.num_envs, None, object),
            "is_success": np.zeros(self.num_envs, np.bool_),
            "discard": np.zeros(self.num_envs, np.bool_),
            "episode_task": np.full(self.num_envs, None, object),
        }
        for row, (index, action) in enumerate(zip(indices, actions, strict=True)):
            self.steps[index] += 1
            self.done[index] += int(action["type"]) == self.task[index]
            lost = self.episode[index] in self.lost
            terminated[row] = self.done[index] >= self.doing and not lost
            truncated[row] = not terminated[row] and (lost or self.steps[index] >= self.max_steps)
            rewards[row] = float(terminated[row])
            if terminated[row] or truncated[row]:
                last[index] = {name: part[0] for name, part in self._look([index]).items()}
                final["outcome"][index] = (
                    "infra_error" if lost else "success" if terminated[row] else "truncated"
                )
                final["is_success"][index], final["discard"][index] = terminated[row], lost
                final["episode_task"][index] = self.tasks[self.task[index]]
                self._begin(index)
        infos = {"final_obs": last, "final_info": final} if (terminated | truncated).any() else {}
        return self._look(indices), rewards, terminated, truncated, infos


class ToyPolicy(TrainablePolicy):
    """A choice of a kind of action, and a number that only kind 0 uses."""

    def __init__(self, tasks: int = 3, width: int = 16) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(tasks + 1, width), nn.Tanh())
        self.kind = nn.Linear(width, tasks)
        self.number = nn.Linear(width, 1)
        self.worth = nn.Linear(width, 1)
        self.checkpointing = False

    def gradient_checkpointing(self, on: bool = True) -> None:
        self.checkpointing = on

    @property
    def critic(self) -> nn.Module:
        return self.worth

    def summarise(self, observations: Tensors) -> Tensor:
        body: Tensor = self.body(torch.cat([observations["task"], observations["clock"]], 1))
        return body

    def _heads(self, observations: Tensors) -> tuple[Tensor, Tensor, Tensor]:
        body = self.summarise(observations)
        return self.kind(body).log_softmax(1), self.number(body)[:, 0], self.worth(body)[:, 0]

    def sample(
        self,
        observations: Tensors,
        screens: Screens | None = None,
        *,
        deterministic: bool = False,
        generator: torch.Generator | None = None,
    ) -> Sampled:
        with torch.no_grad():
            logits, mean, value = self._heads(observations)
            if deterministic:
                kind, number = logits.argmax(1), mean
            else:
                kind = torch.multinomial(logits.exp(), 1, generator=generator)[:, 0]
                number = mean + torch.randn(mean.shape, generator=generator)
            actions = {"type": kind, "number": number}
            return Sampled(actions, self.judge(observations, actions).log_prob, value)

    def judge(self, observations: Tensors, actions: Tensors) -> Judged:
        logits, mean, value = self._heads(observations)
        used = (actions["type"] == 0).float()
        log_kind = logits.gather(1, actions["type"][:, None])[:, 0]
        log_number = -0.5 * ((actions["number"] - mean) ** 2 + float(np.log(2 * np.pi)))
        entropy = -(logits.exp() * logits).sum(1)
        spread = torch.full_like(mean, 0.5 * float(np.log(2 * np.pi * np.e)))
        return Judged(log_kind + used * log_number, value, {"kind": entropy, "number": used * spread})

    def to_environment(self, actions: Tensors) -> list[Any]:
        return [{"type": int(kind)} for kind in actions["type"]]
