"""Settings from the environment: variables, and a ``.env`` file for those that are not set.

Names that begin with ``OPERANT_`` are ours alone, so one that means nothing is an error. ``DEVICE``, ``LOG_LEVEL``,
``LOG_FORMAT``, ``TRAINING_ENABLED`` and ``API_TOKEN`` are read as well, because people expect them.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from dotenv import dotenv_values

from operant.errors import ConfigError

__all__ = ["LEVELS", "PREFIX", "check_level", "check_variables", "environment"]

PREFIX = "OPERANT_"
LEVELS = ("TRACE", "DEBUG", "INFO", "SUCCESS", "WARNING", "ERROR", "CRITICAL")
#: What our own processes tell each other.
MARKS = frozenset({"OPERANT_DESKTOP_OF", "OPERANT_REQUEST_ID"})


def environment(
    directory: Path | None = None, variables: Mapping[str, str] | None = None, *, also: Iterable[str] = ()
) -> dict[str, str]:
    """The variables of the process over those of ``.env``; empty ones count as not set.

    ``also`` names variables that settings chose themselves, such as the one with a server's token.
    """
    path = (directory if directory is not None else Path.cwd()) / ".env"
    written = dotenv_values(path, encoding="utf-8") if path.is_file() else {}
    given = os.environ if variables is None else variables
    check_variables(written, also=also, where=f" (in {path})")
    check_variables(given, also=also)
    return {name: value for told in (written, given) for name, value in told.items() if value}


def check_variables(names: Iterable[str], *, also: Iterable[str] = (), where: str = "") -> None:
    """Refuse a variable of ours that nothing reads: most likely it is mistyped."""
    from operant.config.service import ServiceConfig

    # A whole section is no value for a variable, and "OPERANT_DESKTOP" is most likely OPERANT_DESKTOPS.
    fields = {field.upper() for field in ServiceConfig.model_fields.keys() - {"desktop"}} | {"CONFIG"}
    for name in names:
        if not name.startswith(PREFIX) or name in MARKS | set(also):
            continue
        field = name.removeprefix(PREFIX)
        if field not in fields:
            near = difflib.get_close_matches(field, sorted(fields), 1)
            raise ConfigError(
                f"the environment variable {name} means nothing{where}",
                hint=f"did you mean {PREFIX}{near[0]}?"
                if near
                else "docs/service.md lists those that are read",
            )


def check_level(level: str) -> str:
    """A level of the log in capitals."""
    if level.upper() not in LEVELS:
        near = difflib.get_close_matches(level.upper(), LEVELS, 1)
        raise ValueError(f"levels are {', '.join(LEVELS)}" + (f"; did you mean {near[0]}?" if near else ""))
    return level.upper()
