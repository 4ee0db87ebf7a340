"""Ports of this machine that lead to ports inside a desktop."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Callable, Sequence

from loguru import logger
from starlette.concurrency import run_in_threadpool

from operant.errors import OperantError

__all__ = ["forwarded"]

CHUNK = 1 << 16
Dial = Callable[[], socket.socket]


@contextlib.asynccontextmanager
async def forwarded(lines: Sequence[tuple[socket.socket, Dial]]) -> AsyncIterator[None]:
    """While it lasts, each connection to a listening socket goes on to what its ``dial`` connects to."""
    async with contextlib.AsyncExitStack() as stack:
        for listening, dial in lines:
            server = await asyncio.start_server(_Forward(dial).serve, sock=listening)
            stack.callback(server.close)
        yield


class _Forward:
    def __init__(self, dial: Dial) -> None:
        self._dial = dial

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            inside = await run_in_threadpool(self._dial)
            inside.setblocking(False)
            far_reader, far_writer = await asyncio.open_connection(sock=inside)
        except (OperantError, OSError) as error:
            logger.debug("nothing listens inside the desktop: {}", error)
            writer.close()
            return
        ways = [
            asyncio.ensure_future(_copy(reader, far_writer)),
            asyncio.ensure_future(_copy(far_reader, writer)),
        ]
        try:
            await asyncio.gather(*ways)
        finally:
            for way in ways:
                way.cancel()
            writer.close()
            far_writer.close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(CHUNK):
            writer.write(data)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()
