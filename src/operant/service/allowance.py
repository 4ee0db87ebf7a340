"""How often a client may ask: a bucket for each that fills at a steady rate."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable

__all__ = ["Allowances"]

REMEMBERED = 10_000  # clients; the one heard of longest ago is forgotten first


class Allowances:
    """``spend`` says whether a client may; ``charge`` makes it wait. Meant for one thread."""

    def __init__(self, per_s: float, burst: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.per_s = per_s
        self.burst = float(burst)
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def spend(self, client: str, cost: float = 1.0) -> bool:
        """Whether so much is there; if so, it is taken."""
        enough = self._level(client) >= cost
        self._take(client, cost if enough else 0.0)
        return enough

    def charge(self, client: str, cost: float) -> None:
        """Take so much even if it is not there: then nothing can be spent until the debt is paid."""
        self._take(client, cost)

    def _level(self, client: str) -> float:
        level, at = self._buckets.get(client, (self.burst, 0.0))
        return min(self.burst, level + (self._clock() - at) * self.per_s)

    def _take(self, client: str, cost: float) -> None:
        self._buckets[client] = (max(-self.burst, self._level(client) - cost), self._clock())
        self._buckets.move_to_end(client)
        if len(self._buckets) > REMEMBERED:
            self._buckets.popitem(last=False)
