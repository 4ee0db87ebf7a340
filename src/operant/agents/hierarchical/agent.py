"""The trained agent as one that plays: ``hierarchical`` is the checkpoint that comes with Operant,
``hierarchical:PATH`` any other one; ``hierarchical:sampled`` draws instead of taking the likeliest action.

A greedy agent that is caught in a loop draws as well, until it is out of it."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from operant.agents.base import Decision, TaskView
from operant.agents.batched import BatchedAgent
from operant.agents.hierarchical.policy import HierarchicalPolicy
from operant.agents.loop_detection import is_looping
from operant.agents.trainable import Sampled
from operant.errors import NoCheckpoint
from operant.types import Action, Observation

__all__ = ["DEFAULT", "HierarchicalAgent"]

DEFAULT = Path(__file__).with_name("default.pt")
SAMPLED = "sampled"
TRIES = 8  # draws to get out of a circle

_loaded: dict[tuple[str, int, str], HierarchicalPolicy] = {}
_loading = threading.Lock()


class HierarchicalAgent(BatchedAgent):
    """Plays with a policy. Agents of one process that name the same file and device share its weights."""

    def __init__(self, path: str | Path = "", *, deterministic: bool = True, device: str = "cpu") -> None:
        name = str(path)
        if name == SAMPLED or name.endswith(f":{SAMPLED}"):
            name, deterministic = name.removesuffix(SAMPLED).removesuffix(":"), False
        self.policy = _load(Path(name) if name else DEFAULT, device)
        self.deterministic = deterministic
        self.observation_type = "screenshot_a11y_tree" if self.policy.perception.with_tree else "screenshot"
        self.fingerprint = self.policy.fingerprint
        self.parameter_count = self.policy.parameter_count
        encoder = self.policy.config.encoder
        self.details = {
            "vision": encoder.vision,
            "screen": list(encoder.screen),
            "widgets": encoder.widgets,
            "meta_actions": list(self.policy.config.manager.kinds),
        }
        self._random = torch.Generator(self.policy.device)

    def begin(self, task: TaskView) -> None:
        self._random.manual_seed(task.seed)

    def act_all(
        self, observations: Sequence[Observation], *, deterministic: Sequence[bool]
    ) -> list[Action | Decision]:
        """Those that take the likeliest action and those that draw are two batches."""
        answers: list[Action | Decision | None] = [None] * len(observations)
        for likeliest in (True, False):
            rows = [row for row, wanted in enumerate(deterministic) if wanted is likeliest]
            if not rows:
                continue
            chosen = [observations[row] for row in rows]
            decided = self._choose(chosen, deterministic=likeliest)
            for row, (action, decision) in zip(rows, decided, strict=True):
                stuck = likeliest and is_looping(observations[row].history, action)
                answers[row] = self._break_out(observations[row]) if stuck else decision
        return [answer for answer in answers if answer is not None]

    def _choose(
        self, observations: Sequence[Observation], *, deterministic: bool
    ) -> list[tuple[Action, Decision]]:
        sampled = self.policy.sample(
            self.policy.perceive(observations),
            [one.screen for one in observations],
            deterministic=deterministic,
            generator=self._random,
        )
        actions = self.policy.to_environment(sampled.actions)
        return [
            (action, Decision((action,), record=_record(sampled, row))) for row, action in enumerate(actions)
        ]

    def _break_out(self, observation: Observation) -> Decision:
        """Something else than the likeliest: drawn from a generator that the episode seeded."""
        drawn = self._choose([observation] * TRIES, deterministic=False)
        free = [decision for action, decision in drawn if not is_looping(observation.history, action)]
        return free[0] if free else drawn[0][1]


def _record(sampled: Sampled, row: int) -> dict[str, Any]:
    log_prob = float(sampled.log_prob[row])
    return {
        "value": round(float(sampled.value[row]), 4),
        "log_prob": round(log_prob, 4),
        # Offsets have densities, not probabilities, which may exceed 1.
        "confidence": round(min(1.0, math.exp(min(0.0, log_prob))), 4),
    }


def _load(path: Path, device: str) -> HierarchicalPolicy:
    try:
        key = (str(path.resolve()), path.stat().st_mtime_ns, device)
    except OSError as error:
        hint = "train one: operant train hierarchical" if path == DEFAULT else None
        raise NoCheckpoint(f"there is no checkpoint {path}", hint=hint) from error
    with _loading:
        if key not in _loaded:
            _loaded[key] = HierarchicalPolicy.from_checkpoint(path, device=device)
        return _loaded[key]
