"""The trained agent as one that plays: ``hierarchical`` is the checkpoint that comes with Operant,
``hierarchical:PATH`` any other one; ``hierarchical:sampled`` draws instead of taking the likeliest action."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import torch

from operant.agents.base import Agent, Decision, TaskView
from operant.agents.hierarchical.policy import HierarchicalPolicy
from operant.errors import CheckpointError
from operant.types import Observation

__all__ = ["DEFAULT", "HierarchicalAgent"]

DEFAULT = Path(__file__).with_name("default.pt")
SAMPLED = "sampled"

_loaded: dict[tuple[str, int], HierarchicalPolicy] = {}
_loading = threading.Lock()


class HierarchicalAgent(Agent):
    """Plays with a policy. Agents of one process that name the same file share its weights."""

    def __init__(self, path: str | Path = "", *, deterministic: bool = True) -> None:
        name = str(path)
        if name == SAMPLED or name.endswith(f":{SAMPLED}"):
            name, deterministic = name.removesuffix(SAMPLED).removesuffix(":"), False
        self.policy = _load(Path(name) if name else DEFAULT)
        self.deterministic = deterministic
        self.observation_type = "screenshot_a11y_tree" if self.policy.perception.with_tree else "screenshot"
        self.fingerprint = self.policy.fingerprint
        self._random = torch.Generator()

    def begin(self, task: TaskView) -> None:
        self._random.manual_seed(task.seed)

    def act(self, observation: Observation) -> Decision:
        seen = self.policy.perceive([observation])
        sampled = self.policy.sample(
            seen, [observation.screen], deterministic=self.deterministic, generator=self._random
        )
        action = self.policy.to_environment(sampled.actions)[0]
        record: dict[str, Any] = {
            "value": round(float(sampled.value[0]), 4),
            "log_prob": round(float(sampled.log_prob[0]), 4),
        }
        return Decision(action, record=record)


def _load(path: Path) -> HierarchicalPolicy:
    try:
        key = (str(path.resolve()), path.stat().st_mtime_ns)
    except OSError as error:
        hint = "train one: operant train hierarchical" if path == DEFAULT else None
        raise CheckpointError(f"there is no checkpoint {path}", hint=hint) from error
    with _loading:
        if key not in _loaded:
            _loaded[key] = HierarchicalPolicy.load(path)
        return _loaded[key]
