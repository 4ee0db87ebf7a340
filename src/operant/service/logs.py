"""Log lines: for people on a terminal, as JSON for machines, each with the id of the request behind it."""

from __future__ import annotations

import logging
import uuid
from contextvars import ContextVar
from typing import Any

from loguru import logger

from operant.config.log_lines import HUMAN, log_to_stderr

__all__ = ["current_request_id", "new_request_id", "request_id", "set_up_logging"]

#: the request that is being answered; copied into the threads that work for it
request_id: ContextVar[str] = ContextVar("operant_request_id", default="")

WITH_REQUEST = f"{HUMAN} <dim>{{extra[request_id]}}</dim>"


def current_request_id() -> str:
    return request_id.get()


def new_request_id() -> str:
    return uuid.uuid4().hex[:16]


def set_up_logging(log_format: str = "auto", level: str = "INFO") -> None:
    """Send everything, also what uvicorn says, to stderr in one form."""
    logger.configure(patcher=_add_request_id)
    log_to_stderr(level, log_format, WITH_REQUEST)
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access", "nicegui"):
        foreign = logging.getLogger(name)
        foreign.handlers = [_ToLoguru()]
        foreign.propagate = False
    # The guard writes a line for each request, with its id and without its query.
    logging.getLogger("uvicorn.access").disabled = True


def _add_request_id(record: Any) -> None:
    record["extra"].setdefault("request_id", request_id.get())


class _ToLoguru(logging.Handler):
    """Hands the records of the standard library's loggers on."""

    def emit(self, record: logging.LogRecord) -> None:
        known = (
            record.levelname
            if record.levelname in ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
            else "INFO"
        )
        logger.opt(exception=record.exc_info).log(known, "{}", record.getMessage())
