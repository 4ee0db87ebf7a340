"""Log lines: for people on a terminal, as JSON for machines, each with the id of the request behind it."""

from __future__ import annotations

import json
import logging
import os
import sys
import uuid
from contextvars import ContextVar
from typing import Any

from loguru import logger

__all__ = ["current_request_id", "new_request_id", "request_id", "set_up_logging"]

#: the request that is being answered; copied into the threads that work for it
request_id: ContextVar[str] = ContextVar("operant_request_id", default="")

HUMAN = "<dim>{time:HH:mm:ss.SSS}</dim> <level>{level: <7}</level> {message} <dim>{extra[request_id]}</dim>"


def current_request_id() -> str:
    return request_id.get()


def new_request_id() -> str:
    return uuid.uuid4().hex[:16]


def set_up_logging(log_format: str = "auto", level: str = "INFO") -> None:
    """Send everything, also what uvicorn says, to stderr in one form."""
    as_json = log_format == "json" or (log_format == "auto" and not sys.stderr.isatty())
    logger.remove()
    logger.configure(patcher=_add_request_id)
    if as_json:
        logger.add(_write_json, level=level, backtrace=False, diagnose=False)
    else:
        colour = sys.stderr.isatty() and not os.environ.get("NO_COLOR")
        logger.add(sys.stderr, format=HUMAN, level=level, colorize=colour, backtrace=False, diagnose=False)
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access", "nicegui"):
        foreign = logging.getLogger(name)
        foreign.handlers = [_ToLoguru()]
        foreign.propagate = False
    # The guard writes a line for each request, with its id and without its query.
    logging.getLogger("uvicorn.access").disabled = True


def _add_request_id(record: Any) -> None:
    record["extra"].setdefault("request_id", request_id.get())


def _write_json(message: Any) -> None:
    record = message.record
    line = {
        "time": record["time"].isoformat(),
        "level": record["level"].name,
        "message": record["message"],
        **{key: value for key, value in record["extra"].items() if value != ""},
    }
    if record["exception"] is not None:
        line["exception"] = f"{record['exception'].type.__name__}: {record['exception'].value}"
    sys.stderr.write(json.dumps(line, default=str) + "\n")


class _ToLoguru(logging.Handler):
    """Hands the records of the standard library's loggers on."""

    def emit(self, record: logging.LogRecord) -> None:
        known = (
            record.levelname
            if record.levelname in ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
            else "INFO"
        )
        logger.opt(exception=record.exc_info).log(known, "{}", record.getMessage())
