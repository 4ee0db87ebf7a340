"""What log lines look like: text for people on a terminal, one JSON object a line elsewhere.

One rule for every verb and for the service; ``LOG_FORMAT`` (human or json) overrides it. Knows no settings.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from typing import Any

from loguru import logger

from operant.errors import ConfigError

__all__ = ["FORMATS", "HUMAN", "log_to_stderr"]

FORMATS = ("auto", "human", "json")
HUMAN = "<dim>{time:HH:mm:ss.SSS}</dim> <level>{level: <7}</level> {message}"

_handler = 0  # loguru's own, until it is replaced


def log_to_stderr(level: str = "INFO", log_format: str | None = None, human: str = HUMAN) -> None:
    """Log from this level on. Replaces what this function or loguru set up before, and no other handler."""
    global _handler
    chosen = (log_format or os.environ.get("LOG_FORMAT") or "auto").lower()
    if chosen not in FORMATS:
        raise ConfigError(f"LOG_FORMAT: there is no format {chosen!r}", hint=f"one of {', '.join(FORMATS)}")
    terminal = sys.stderr.isatty()
    with suppress(ValueError):  # something else has removed it
        logger.remove(_handler)
    if chosen == "json" or (chosen == "auto" and not terminal):
        _handler = logger.add(_write_json, level=level, backtrace=False, diagnose=False)
    else:
        colour = terminal and not os.environ.get("NO_COLOR")
        _handler = logger.add(
            _write, format=human, level=level, colorize=colour, backtrace=False, diagnose=False
        )


def _write(message: str) -> None:
    sys.stderr.write(message)


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
    sys.stderr.write(json.dumps(line, default=str, ensure_ascii=False) + "\n")
