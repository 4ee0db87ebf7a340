"""Which actions a mode allows: pointer and keyboard, calls of functions, or both."""

from __future__ import annotations

from operant.errors import InvalidAction
from operant.types import Action, ActionKind, ActionMode

__all__ = ["check_allowed"]


def check_allowed(action: Action, mode: ActionMode, place: str = "this episode") -> None:
    """Refuse what the mode leaves out. Waiting, looking and what ends an episode are always allowed."""
    if action.kind is ActionKind.CALL and mode == "gui":
        raise InvalidAction(
            f"{place} takes pointer and keyboard only: functions such as {action.function[:60]} can't be called"
        )
    if action.kind.uses_hands and mode == "api":
        raise InvalidAction(f"{place} takes calls of functions only: no {action.kind.value}")
