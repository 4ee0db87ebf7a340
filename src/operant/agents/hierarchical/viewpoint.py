"""How the hierarchical agent perceives and says things, for those who record demonstrations for it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from operant.agents.hierarchical.config import HierarchicalConfig
from operant.agents.hierarchical.meta_actions import MetaActions
from operant.agents.hierarchical.perception import Perception
from operant.agents.hierarchical.worker import cut
from operant.types import Action, Observation

__all__ = ["HierarchicalViewpoint"]

Arrays = dict[str, npt.NDArray[Any]]


class HierarchicalViewpoint:
    def __init__(self, config: HierarchicalConfig | None = None) -> None:
        self.config = config if config is not None else HierarchicalConfig()
        self.perception = Perception(self.config)
        self.meta = MetaActions(self.config)
        worker = self.config.worker
        self.patch_size = worker.crop + 2 * worker.reach

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
