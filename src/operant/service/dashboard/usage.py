"""Tokens and cost of agents that count them, in a few words."""

from __future__ import annotations

from typing import Protocol

__all__ = ["Counted", "cost_text", "used_text"]


class Counted(Protocol):
    """``operant.agents.base.Usage``, or the API's view of it."""

    @property
    def input_tokens(self) -> int: ...

    @property
    def output_tokens(self) -> int: ...

    @property
    def cost(self) -> float | None: ...


def used_text(usage: Counted | None) -> str:
    """Such as ``1,234 tokens, $0.0120``; empty for an agent that does not count."""
    if usage is None:
        return ""
    return f"{usage.input_tokens + usage.output_tokens:,} tokens, {cost_text(usage)}"


def cost_text(usage: Counted) -> str:
    return "cost unknown" if usage.cost is None else f"${usage.cost:,.4f}"
