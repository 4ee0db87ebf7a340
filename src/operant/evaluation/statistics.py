"""Intervals of success rates, and how likely a difference is chance. Plain arithmetic, checked against scipy by the tests."""

from __future__ import annotations

import math

__all__ = ["difference", "sign_test", "wilson"]

Z_95 = 1.959963984540054  # the normal distribution's 97.5 % point


def wilson(successes: int, n: int, z: float = Z_95) -> tuple[float, float]:
    """Wilson's score interval of a rate; everything is possible when nothing was tried.

    >>> [round(bound, 3) for bound in wilson(9, 10)]
    [0.596, 0.982]
    """
    if not 0 <= successes <= n:
        raise ValueError(f"{successes} successes of {n}")
    if n == 0:
        return 0.0, 1.0
    rate = successes / n
    middle = rate + z * z / (2 * n)
    half = z * math.sqrt(rate * (1 - rate) / n + z * z / (4 * n * n))
    below = 0.0 if successes == 0 else (middle - half) / (1 + z * z / n)
    above = 1.0 if successes == n else (middle + half) / (1 + z * z / n)
    return below, above


def difference(first: tuple[int, int], second: tuple[int, int]) -> tuple[float, float, float]:
    """How much larger the second rate is, and Newcombe's 95 % interval of that; each is (successes, n)."""
    if first[1] == 0 or second[1] == 0:
        return 0.0, -1.0, 1.0
    p, q = first[0] / first[1], second[0] / second[1]
    (p_low, p_high), (q_low, q_high) = wilson(*first), wilson(*second)
    low = q - p - math.hypot(q - q_low, p_high - p)
    high = q - p + math.hypot(q_high - q, p - p_low)
    return q - p, max(-1.0, low), min(1.0, high)


def sign_test(better: int, worse: int) -> float:
    """How likely chance alone makes pairs so unequal, in either direction, when only these differ.

    >>> sign_test(8, 0)
    0.0078125
    """
    n = better + worse
    if n == 0:
        return 1.0
    tail = sum(math.comb(n, k) for k in range(min(better, worse) + 1))
    return min(1.0, math.ldexp(2 * tail, -n))
