"""Runs the service until it is stopped: uvicorn with our settings, and a line that says where it listens."""

from __future__ import annotations

from contextlib import suppress

import uvicorn
from loguru import logger

from operant.config.service import ServiceConfig
from operant.errors import OperantError
from operant.service.app import create_app
from operant.service.listening import listen
from operant.service.logs import set_up_logging
from operant.service.runtime import Runtime
from operant.service.stream.viewer import MESSAGE_BYTES

__all__ = ["serve"]

GOODBYE_S = 5  # how long requests that are under way have when the service stops


def serve(config: ServiceConfig, runtime: Runtime | None = None) -> None:
    """Returns when the service has stopped and every desktop is closed."""
    set_up_logging(config.log_format, config.log_level)
    runtime = runtime or Runtime(config)
    app = create_app(config, runtime)
    listening = listen(config.host, config.port)
    try:
        runtime.check()
    except OperantError:
        listening.close()
        raise
    host, port = listening.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    server = uvicorn.Server(
        uvicorn.Config(
            app,
            log_config=None,
            ws_max_size=2 * MESSAGE_BYTES,
            timeout_graceful_shutdown=GOODBYE_S,
            server_header=False,
            proxy_headers=False,
        )
    )
    logger.info("Operant listens on http://{}:{} (API described at /docs)", shown, port)
    with suppress(KeyboardInterrupt):  # raised by uvicorn once more, when everything is closed
        server.run(sockets=[listening])
