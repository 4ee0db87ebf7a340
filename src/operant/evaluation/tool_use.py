"""Tool invocation as OSWorld-MCP counts it: were functions called where they help, and left alone where they do not.

A task counts if it was solved with a function where functions help, or solved without one where they do not. Only a
verified success is solved; a part of the score is not.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

__all__ = ["ToolUse", "tool_invocation_rate"]


@dataclass(frozen=True)
class ToolUse:
    """One episode, as far as this measure goes."""

    task: str
    solved: bool
    calls: int
    """Calls of functions that were carried out."""


def tool_invocation_rate(episodes: Iterable[ToolUse], helped: Collection[str]) -> float | None:
    """The share of episodes that count; ``helped`` has the ids of the tasks that functions help with."""
    counted = [one.solved and (one.calls > 0) == (one.task in helped) for one in episodes]
    return sum(counted) / len(counted) if counted else None
