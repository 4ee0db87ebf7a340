"""Runs desktops for other machines until it is stopped."""

from __future__ import annotations

from fastapi import FastAPI
from loguru import logger

from operant.config.service import ServiceConfig
from operant.desktop.pool import DesktopPool
from operant.service.desktops.app import create_desktop_app
from operant.service.desktops.host import DesktopHost
from operant.service.desktops.ui_rl import create_ui_rl_app
from operant.service.desktops.ui_rl_sessions import UIRLSessions
from operant.service.listening import IDLE_LINE_S, http_server, listen
from operant.service.logs import set_up_logging

__all__ = ["serve_desktops", "serve_ui_rl"]


def serve_desktops(host: DesktopHost, config: ServiceConfig, *, level: str = "INFO") -> None:
    """Our own protocol. Returns when it was told to stop and every desktop is closed."""
    _serve(create_desktop_app(host, config), host.pool, config, level)


def serve_ui_rl(sessions: UIRLSessions, config: ServiceConfig, *, level: str = "INFO") -> None:
    """UI-RL's protocol. Returns when it was told to stop and every desktop is closed."""
    _serve(create_ui_rl_app(sessions, config), sessions.pool, config, level)


def _serve(app: FastAPI, pool: DesktopPool, config: ServiceConfig, level: str) -> None:
    set_up_logging(config.log_format, level)
    try:
        listening = listen(config.host, config.port)
    except BaseException:
        pool.close()
        raise
    name, port = listening.getsockname()[:2]
    server = http_server(app, timeout_keep_alive=IDLE_LINE_S)
    logger.info(
        "{} desktops of {} at http://{}:{}{}",
        pool.size,
        pool.config.size,
        f"[{name}]" if ":" in name else name,
        port,
        "" if config.token else " (this machine only: no token)",
    )
    server.run(sockets=[listening])
