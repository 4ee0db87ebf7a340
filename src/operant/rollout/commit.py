"""Which state of the source something was done with."""

from __future__ import annotations

import functools
import subprocess
from pathlib import Path

__all__ = ["commit"]


@functools.cache
def commit() -> str | None:
    """The commit of the checkout that this package runs from, with a mark if files were changed since."""
    command = ["git", "describe", "--always", "--dirty", "--abbrev=12"]
    try:
        said = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return said.stdout.strip() or None
