"""Which functions an episode offers to its agent: none, those that go with the focused window, or all."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from operant.calls.catalog import offered_functions
from operant.calls.declaration import Function
from operant.types import ActionMode, Window

__all__ = ["FunctionOffer"]


@dataclass(frozen=True, slots=True)
class FunctionOffer:
    """What an agent may do in an episode."""

    actions: ActionMode = "gui"
    everything: bool = False
    """Functions of all applications, and not only those of the focused one."""

    def functions(self, windows: Iterable[Window]) -> tuple[Function, ...]:
        """The functions to tell an agent of while these windows are open."""
        focused = next((one.wm_class for one in windows if one.focused), None)
        return offered_functions(self.actions, focused, everything=self.everything)
