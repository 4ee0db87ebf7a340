"""Runs the service until it is stopped: uvicorn with our settings, and a line that says where it listens."""

from __future__ import annotations

from contextlib import AbstractContextManager, ExitStack, suppress

from loguru import logger

from operant.config.service import ServiceConfig
from operant.errors import OperantError, Terminated
from operant.service.app import create_app
from operant.service.listening import http_server, listen
from operant.service.logs import set_up_logging
from operant.service.runtime import Runtime
from operant.service.stream.viewer import MESSAGE_BYTES

__all__ = ["serve"]


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
    server = http_server(app, ws_max_size=2 * MESSAGE_BYTES)
    logger.info("Operant listens on http://{}:{} (API described at /docs)", shown, port)
    with ExitStack() as stack:
        if config.osworld_desktops:
            stack.enter_context(_osworld_server(config))
        # uvicorn sends itself the signal once more, when everything is closed. SIGTERM is how a service is ended.
        stack.enter_context(suppress(Terminated))
        server.run(sockets=[listening])


def _osworld_server(config: ServiceConfig) -> AbstractContextManager[object]:
    from operant.service.desktops.app import CALLS_PER_S, LARGEST_BODY
    from operant.service.desktops.osworld_machines import machine_config
    from operant.service.desktops.osworld_server import OSWorldServer

    free = config.osworld_port == 0
    server = OSWorldServer(
        config.osworld_desktops,
        # Its clients upload documents, and call as fast as desktops answer.
        config.model_copy(
            update={
                "port": config.osworld_port,
                "max_body_bytes": LARGEST_BODY,
                "requests_per_s": CALLS_PER_S,
                "request_burst": int(CALLS_PER_S),
            }
        ),
        machine_config(config.desktop),
        chromium_port=0 if free else 9222,
        vlc_port=0 if free else 8080,
        idle_s=config.session_ttl_s,
    )
    server.announce(config.token)
    return server
