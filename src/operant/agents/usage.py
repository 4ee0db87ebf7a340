"""What a model uses: tokens, requests and their price, in numbers and in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Usage", "cost_text", "count_text"]


@dataclass(frozen=True, slots=True)
class Usage:
    """What a model used for a turn, an episode or a run: tokens, requests and their price."""

    input_tokens: int = 0
    cached_tokens: int = 0
    """The part of the input that the server had read before."""
    output_tokens: int = 0
    requests: int = 0
    cost: float | None = None
    """US dollars; None if the price is unknown."""
    written_tokens: int = 0
    """The part of the input that the server keeps for the next request; some vendors charge more for it."""

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    @classmethod
    def total(cls, parts: Iterable[Usage | None]) -> Usage | None:
        """The sum of those that were counted; None if none was."""
        counted = [part for part in parts if part is not None]
        return sum(counted, Usage()) if counted else None

    @classmethod
    def from_json(cls, form: Mapping[str, Any]) -> Usage:
        """The opposite of ``dataclasses.asdict``."""
        cost = form.get("cost")
        counts = {
            name: int(form.get(name, 0))
            for name in ("input_tokens", "cached_tokens", "output_tokens", "requests", "written_tokens")
        }
        return cls(**counts, cost=None if cost is None else float(cost))

    def __add__(self, other: Usage) -> Usage:
        """The sum. Its cost is unknown if that of either is, unless that one used nothing."""
        costs = [one.cost for one in (self, other) if one != Usage()]
        return Usage(
            self.input_tokens + other.input_tokens,
            self.cached_tokens + other.cached_tokens,
            self.output_tokens + other.output_tokens,
            self.requests + other.requests,
            None if not costs or None in costs else sum(cost for cost in costs if cost is not None),
            self.written_tokens + other.written_tokens,
        )

    def __str__(self) -> str:
        """Tokens, requests and cost in a line; a price that is not known is said so."""
        return (
            f"{count_text(self.input_tokens)} tokens in ({count_text(self.cached_tokens)} cached), "
            f"{count_text(self.output_tokens)} out, {self.requests} requests, cost {cost_text(self.cost)}"
        )


def count_text(count: int) -> str:
    """A number of tokens for a table: ``950``, ``12.3 k``, ``4.56 M``."""
    if count < 10_000:
        return str(count)
    return f"{count / 1000:.1f} k" if count < 999_950 else f"{count / 1_000_000:.2f} M"


def cost_text(cost: float | None) -> str:
    """US dollars, or ``unknown``."""
    if cost is None:
        return "unknown"
    return f"${cost:.4f}" if cost < 1 else f"${cost:.2f}"
