"""Time from the start of an MCP client to its first screenshot, and of a click with the screenshot after it.

python benchmarks/mcp_latency.py [runs]
"""

from __future__ import annotations

import os
import statistics
import sys
import time

import anyio

from mcp import Client, StdioServerParameters

CLICKS = 20


async def measure() -> tuple[float, list[float]]:
    """Seconds to the first screenshot, and seconds of each click."""
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "operant", "mcp"], env=dict(os.environ)
    )
    began = time.perf_counter()
    async with Client(server) as client:
        await client.call_tool("screenshot", {})
        first = time.perf_counter() - began
        clicks = []
        for number in range(CLICKS):
            began = time.perf_counter()
            await client.call_tool("click", {"x": 600 + number, "y": 400})
            clicks.append(time.perf_counter() - began)
    return first, clicks


def main() -> None:
    runs = [anyio.run(measure) for _ in range(int(sys.argv[1]) if len(sys.argv) > 1 else 5)]
    clicks = [one for _, run in runs for one in run]
    print(f"first screenshot: {statistics.median(first for first, _ in runs):.2f} s (median of {len(runs)})")
    print(f"click and screenshot: {1000 * statistics.median(clicks):.0f} ms (median of {len(clicks)})")


if __name__ == "__main__":
    main()
