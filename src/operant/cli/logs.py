"""Log lines of a command: to stderr, from a level on."""

from __future__ import annotations

import functools
import os
from typing import Any

from operant.errors import ConfigError

__all__ = ["log_at", "with_logs"]


def log_at(level: str) -> None:
    """Log from this level on, and nothing below it."""
    from operant.config.log_lines import log_to_stderr
    from operant.config.settings import check_level

    try:
        known = check_level(level)
    except ValueError as error:
        raise ConfigError(f"there is no log level {level!r}", hint=str(error)) from error
    log_to_stderr(known)


def with_logs(command: Any) -> Any:
    """The command, which sets up its log before it does anything; showing its help does not."""
    for part in getattr(command, "commands", {}).values():
        with_logs(part)
    if command.callback is not None and not hasattr(command, "commands"):
        command.callback = _after_set_up(command.callback)
    return command


def _after_set_up(callback: Any) -> Any:
    @functools.wraps(callback)
    def called(*args: Any, **kwargs: Any) -> Any:
        from operant.config.log_lines import log_to_stderr

        log_to_stderr(os.environ.get("LOGURU_LEVEL", "INFO"))
        return callback(*args, **kwargs)

    return called
