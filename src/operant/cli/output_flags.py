"""Flags that say where something goes: refused while the command line is read if nothing can be written there.

What is written may be the work of an hour, so the end is no time to find out.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

__all__ = ["DirectoryOption", "FileOption", "default_picture"]


def FileOption(*names: str, **described: Any) -> Any:  # noqa: N802 - reads like typer.Option
    """An option that names a file to write."""
    return typer.Option(*names, callback=_check_file, **described)


def DirectoryOption(*names: str, **described: Any) -> Any:  # noqa: N802 - reads like typer.Option
    """An option that names a directory to write into."""
    return typer.Option(*names, callback=_check_directory, **described)


def default_picture(name: str, flag: str) -> Path:
    """Where a picture goes without this flag; refused now if nothing can be written there."""
    from operant.config.places import VARIABLE, place
    from operant.config.writable import problem
    from operant.errors import ConfigError

    path = place("pictures") / f"{name}.png"
    if why := problem(path.parent):
        raise ConfigError(
            f"{path} can't be written: {why}",
            hint=f"choose a file with {flag}, or a directory with {VARIABLE}",
        )
    return path


def _check_file(param: typer.CallbackParam, value: Any) -> Any:
    from operant.config.writable import check_file

    if value is not None:
        check_file(Path(value), str(param.name))
    return value


def _check_directory(param: typer.CallbackParam, value: Any) -> Any:
    from operant.config.writable import check_writable

    if value is not None:
        check_writable(Path(value), str(param.name))
    return value
