"""Canonical actions as a Gymnasium space, for agents that speak them directly."""

from __future__ import annotations

from typing import Any

from gymnasium import spaces

from operant.calls.catalog import find_function
from operant.calls.permission import check_allowed
from operant.envs.call_sampling import sample_call
from operant.envs.hybrid_actions import HybridActions
from operant.errors import InvalidAction
from operant.types import Action, ActionKind, ActionMode

__all__ = ["CanonicalActions", "CanonicalSpace"]


class CanonicalSpace(spaces.Space[Action]):
    """The actions that a mode allows: pointer and keyboard, calls of functions, or both.

    Samples with pointer and keyboard are those of the hybrid space that need no instruction. Sampled calls have
    arguments of the right types. With ``both``, every second sample is a call on average.
    """

    def __init__(self, seed: int | None = None, actions: ActionMode = "gui") -> None:
        kinds = ("click", "double_click", "right_click", "drag", "key", "scroll", "wait")
        self.actions = actions
        self._sampled = HybridActions(kinds)
        super().__init__(None, None, seed)

    def seed(self, seed: Any = None) -> Any:
        super().seed(seed)
        return self._sampled.space.seed(seed)

    def sample(self, mask: Any = None, probability: Any = None) -> Action:
        if self.actions == "api" or (self.actions == "both" and self.np_random.random() < 0.5):
            return sample_call(self.np_random)
        return self._sampled.decode(self._sampled.space.sample(), "")

    def contains(self, x: Any) -> bool:
        if not isinstance(x, Action):
            return False
        try:
            check_allowed(x, self.actions)
            if x.kind is ActionKind.CALL:
                find_function(x.function).bind(x.args, x.kwargs)
        except InvalidAction:
            return False
        return True

    @property
    def is_np_flattenable(self) -> bool:
        return False

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CanonicalSpace) and other.actions == self.actions

    def __repr__(self) -> str:
        return f"CanonicalSpace({self.actions})"


class CanonicalActions:
    """Takes actions as they are. What the mode leaves out is refused by the episode, as a step that is spent."""

    def __init__(self, actions: ActionMode = "gui") -> None:
        self.space: spaces.Space[Any] = CanonicalSpace(actions=actions)

    def decode(self, action: Any, instruction: str) -> Action:
        if not isinstance(action, Action):
            raise InvalidAction(
                f"{type(action).__name__} is not an action",
                hint='action_mode="canonical" takes operant.types.Action',
            )
        return action
