"""The socket that a server of ours listens on, and the HTTP server behind it."""

from __future__ import annotations

import socket
from typing import Any

import uvicorn

from operant.errors import ConfigError

__all__ = ["IDLE_LINE_S", "http_server", "listen"]

GOODBYE_S = 5  # how long requests that are under way have when a server stops
IDLE_LINE_S = 75  # for desktops: longer than clients keep a line that they don't use
BACKLOG = 2048  # clients that may wait to be taken; uvicorn's own number


def listen(host: str, port: int, flag: str = "--port") -> socket.socket:
    """A socket that listens; a port that is taken is an error at once.

    A client that knows the address may connect from now on, and waits until the server takes it.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
        listening.listen(BACKLOG)
    except OSError as error:
        listening.close()
        raise ConfigError(
            f"can't listen on {host}:{port}: {error.strerror or error}", hint=f"choose another {flag}"
        ) from error
    return listening


def http_server(app: Any, **more: Any) -> uvicorn.Server:
    """An HTTP server that leaves logging to us, names no software and believes no proxy's headers."""
    return uvicorn.Server(
        uvicorn.Config(
            app,
            log_config=None,
            timeout_graceful_shutdown=GOODBYE_S,
            server_header=False,
            proxy_headers=False,
            **more,
        )
    )
