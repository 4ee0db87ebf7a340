"""One client over pipes: the session lives as long as the process. Standard output belongs to the protocol."""

from __future__ import annotations

import os
import signal
from types import FrameType

import anyio
from mcp.server.stdio import stdio_server

from operant.mcp.offer import Offer
from operant.mcp.server import make_server
from operant.mcp.session import DesktopSession

__all__ = ["serve_stdio"]


def serve_stdio(offer: Offer) -> None:
    """Returns when the client is gone and its desktop is closed."""
    session = DesktopSession(offer, "stdio")
    server = make_server(offer, lambda context: session)

    def leave(number: int, frame: FrameType | None) -> None:
        # A thread waits for input and can't be interrupted, so the process does not end by itself.
        session.close()
        os._exit(128 + number)

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, leave)

    async def serve() -> None:
        async with stdio_server() as (reader, writer):
            await server.run(reader, writer, server.create_initialization_options())

    try:
        anyio.run(serve)
    finally:
        session.close()
