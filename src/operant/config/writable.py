"""Whether something can be written where a flag or a setting says: found before work begins, and nothing is made."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from operant.errors import ConfigError

__all__ = ["check_file", "check_writable", "problem"]


def check_writable(directory: Path, setting: str) -> None:
    """Write something into it, or, if it is not there yet, where it would be made. Nothing is left behind."""
    if why := problem(directory):
        raise ConfigError(
            f"{setting} {os.fspath(directory)} can't be written: {why}",
            hint=f"choose another directory with --{setting.replace('_', '-')}",
        )


def check_file(path: Path, setting: str) -> None:
    """The same of a file: its directory can be written or made, and it is no directory itself."""
    if why := "it is a directory" if path.is_dir() else problem(path.parent):
        raise ConfigError(
            f"{setting} {os.fspath(path)} can't be written: {why}",
            hint=f"choose another file with --{setting.replace('_', '-')}",
        )


def problem(directory: Path) -> str:
    """Why nothing can be written there; empty if it can."""
    try:
        place = next(one for one in (directory, *directory.absolute().parents) if one.exists())
        with tempfile.TemporaryFile(dir=place):
            return ""
    except OSError as error:
        return error.strerror or type(error).__name__
