"""Log lines of a command: to stderr, from a level on."""

from __future__ import annotations

import sys

from operant.errors import ConfigError

__all__ = ["log_at"]


def log_at(level: str) -> None:
    """Log from this level on, and nothing below it."""
    from loguru import logger

    from operant.config.settings import check_level

    try:
        known = check_level(level)
    except ValueError as error:
        raise ConfigError(f"there is no log level {level!r}", hint=str(error)) from error
    logger.remove()
    logger.add(sys.stderr, level=known)
