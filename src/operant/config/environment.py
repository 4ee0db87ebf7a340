"""Settings from the environment: variables, and a ``.env`` file for those that are not set."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from dotenv import dotenv_values

__all__ = ["environment"]


def environment(directory: Path | None = None, variables: Mapping[str, str] | None = None) -> dict[str, str]:
    """The variables of the process over those of ``.env``; empty ones count as not set."""
    path = (directory if directory is not None else Path.cwd()) / ".env"
    written = dotenv_values(path, encoding="utf-8") if path.is_file() else {}
    given = os.environ if variables is None else variables
    return {name: value for told in (written, given) for name, value in told.items() if value}
