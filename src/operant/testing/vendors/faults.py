"""Faults on purpose: rate limits, overload, replies that break off or are rubbish, drawn by a seed.

A fault hits before the mind is asked, so a request that is sent again gets the answer that the first would have had.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Sequence
from typing import Literal, TypeAlias

__all__ = ["FAULTS", "Fault", "FaultPlan"]

Fault: TypeAlias = Literal["rate_limit", "overloaded", "server_error", "garbage", "cut", "stall"]
FAULTS: tuple[Fault, ...] = ("rate_limit", "overloaded", "server_error", "garbage", "cut", "stall")


class FaultPlan:
    """A share of the requests fails, by seed; never more than ``most`` in a row, so that retries can succeed."""

    def __init__(
        self,
        seed: int | str = 0,
        share: float = 0.1,
        kinds: Sequence[Fault] = ("rate_limit", "overloaded"),
        most: int = 1,
    ) -> None:
        self.kinds = tuple(kinds)
        self.share = share
        self.most = most
        self.given: list[Fault] = []
        """The faults so far."""
        self._draw = random.Random(seed)
        self._lock = threading.Lock()
        self._in_a_row = 0

    @classmethod
    def always(cls, kind: Fault) -> FaultPlan:
        """Every request fails in this way."""
        return cls(0, 1.0, (kind,), most=1 << 30)

    def next(self) -> Fault | None:
        """What is wrong with the next request, if anything."""
        with self._lock:
            if self._in_a_row >= self.most or self._draw.random() >= self.share:
                self._in_a_row = 0
                return None
            self._in_a_row += 1
            self.given.append(self._draw.choice(self.kinds))
            return self.given[-1]
