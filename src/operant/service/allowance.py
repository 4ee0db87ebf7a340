"""How often a client may ask: a bucket for each that fills at a steady rate."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable

__all__ = ["Allowances"]

REMEMBERED = 10_000  # clients; the one heard of longest ago is forgotten first


class Allowances:
    """``spend`` says whether a client may. Meant for one thread."""

    def __init__(self, per_s: float, burst: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.per_s = per_s
        self.burst = float(burst)
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def spend(self, client: str, cost: float = 1.0) -> bool:
        now = self._clock()
        level, at = self._buckets.pop(client, (self.burst, now))
        level = min(self.burst, level + (now - at) * self.per_s)
        enough = level >= cost
        self._buckets[client] = (level - cost if enough else level, now)
        if len(self._buckets) > REMEMBERED:
            self._buckets.popitem(last=False)
        return enough
