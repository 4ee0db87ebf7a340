"""Canonical actions as a Gymnasium space, for agents that speak them directly."""

from __future__ import annotations

from typing import Any

from gymnasium import spaces

from operant.envs.hybrid_actions import HybridActions
from operant.errors import InvalidAction
from operant.types import Action

__all__ = ["CanonicalActions", "CanonicalSpace"]


class CanonicalSpace(spaces.Space[Action]):
    """All actions. Samples are those of the hybrid space that need no instruction."""

    def __init__(self, seed: int | None = None) -> None:
        kinds = ("click", "double_click", "right_click", "drag", "key", "scroll", "wait")
        self._sampled = HybridActions(kinds)
        super().__init__(None, None, seed)

    def seed(self, seed: Any = None) -> Any:
        return self._sampled.space.seed(seed)

    def sample(self, mask: Any = None, probability: Any = None) -> Action:
        return self._sampled.decode(self._sampled.space.sample(), "")

    def contains(self, x: Any) -> bool:
        return isinstance(x, Action)

    @property
    def is_np_flattenable(self) -> bool:
        return False

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CanonicalSpace)

    def __repr__(self) -> str:
        return "CanonicalSpace()"


class CanonicalActions:
    """Takes actions as they are."""

    def __init__(self) -> None:
        self.space: spaces.Space[Any] = CanonicalSpace()

    def decode(self, action: Any, instruction: str) -> Action:
        if not isinstance(action, Action):
            raise InvalidAction(
                f"{type(action).__name__} is not an action",
                hint='action_mode="canonical" takes operant.types.Action',
            )
        return action
