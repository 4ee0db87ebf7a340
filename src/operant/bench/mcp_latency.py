"""Latency of ``operant mcp`` as its client sees it: up to the first screenshot, and of a click with its screenshot."""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import anyio

from mcp import Client, StdioServerParameters

__all__ = ["measure_mcp"]


def measure_mcp(progress: Callable[[str], None], *, runs: int, clicks: int) -> dict[str, Any]:
    """Start a client and a server ``runs`` times, and click in each."""
    first, each = [], []
    for number in range(runs):
        progress(f"run {number + 1} of {runs}")
        started, clicked = anyio.run(_run, clicks)
        first.append(started)
        each += clicked
    return {
        "runs": runs,
        "clicks": len(each),
        "first_screenshot_p50_s": statistics.median(first),
        "click_p50_ms": 1000 * statistics.median(each),
    }


async def _run(clicks: int) -> tuple[float, list[float]]:
    """Seconds to the first screenshot, and seconds of each click."""
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "operant", "mcp"], env=dict(os.environ)
    )
    began = time.perf_counter()
    async with Client(server) as client:
        await client.call_tool("screenshot", {})
        first = time.perf_counter() - began
        clicked = []
        for number in range(clicks):
            began = time.perf_counter()
            await client.call_tool("click", {"x": 600 + number % 100, "y": 400})
            clicked.append(time.perf_counter() - began)
    return first, clicked
