"""The socket that a server of ours listens on."""

from __future__ import annotations

import socket

from operant.errors import ConfigError

__all__ = ["listen"]

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
