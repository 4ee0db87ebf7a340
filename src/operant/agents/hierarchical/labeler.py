"""How the hierarchical agent perceives a state, and how it would say an action there: what its lessons are made of."""

from __future__ import annotations

import hashlib
import importlib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from operant.agents.hierarchical.config import HierarchicalConfig
from operant.agents.hierarchical.crop import cut
from operant.agents.hierarchical.meta_actions import MetaActions
from operant.agents.hierarchical.perception import Perception
from operant.types import Action, Observation

__all__ = ["SOURCES", "HierarchicalLabeler"]

Arrays = dict[str, npt.NDArray[Any]]
#: Modules that decide what a lesson holds. A change of one of them makes cached lessons stale.
SOURCES = (
    "operant.actions.keys",
    "operant.agents.hierarchical.config",
    "operant.agents.hierarchical.crop",
    "operant.agents.hierarchical.features",
    "operant.agents.hierarchical.labeler",
    "operant.agents.hierarchical.meta_actions",
    "operant.agents.hierarchical.perception",
    "operant.agents.hierarchical.progress",
    "operant.agents.hierarchical.rows",
    "operant.agents.hierarchical.words",
    "operant.desktop.decorations",
    "operant.envs.observations",
    "operant.envs.screens",
    "operant.types",
)


class HierarchicalLabeler:
    """Implements ``operant.rollout.demonstrations.ActionLabeler``."""

    def __init__(self, config: HierarchicalConfig | None = None) -> None:
        self.config = config if config is not None else HierarchicalConfig()
        self.perception = Perception(self.config)
        self.meta = MetaActions(self.config)
        worker = self.config.worker
        self.patch_size = worker.crop + 2 * worker.reach

    @property
    def fingerprint(self) -> str:
        """A digest of the settings and of the code that perceives and labels."""
        digest = hashlib.sha256(self.config.architecture().model_dump_json().encode())
        for name in SOURCES:
            file = importlib.import_module(name).__file__
            assert file is not None
            digest.update(Path(file).read_bytes())
        return digest.hexdigest()

    def perceive(self, observation: Observation) -> Arrays:
        return self.perception.encode(observation)

    def label(self, action: Action, seen: Arrays) -> Arrays:
        return self.meta.label(action, seen)

    def same(self, one: Action, other: Action, seen: Arrays) -> bool:
        return self.meta.same(one, other, seen)

    def patch(self, observation: Observation, action: Action) -> npt.NDArray[np.uint8]:
        """Wide enough that a crop can be cut from it anywhere within the worker's reach."""
        point = action.point or (action.path[0] if action.path else None)
        if point is None:
            return np.zeros((self.patch_size, self.patch_size, 3), np.uint8)
        height, width = observation.screen.shape[:2]
        return cut(observation.screen, int(point.x * width), int(point.y * height), self.patch_size)
