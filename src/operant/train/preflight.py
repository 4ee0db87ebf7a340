"""What can be known before a desktop starts: directories that can be written, checkpoints to begin with."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from operant.errors import ConfigError

__all__ = ["DEFAULT_AGENT", "check_new_run", "check_writable", "first_weights"]

#: The name of the agent that comes with Operant, where a checkpoint is asked for.
DEFAULT_AGENT = "default"


def first_weights(name: str | Path | None) -> Path | None:
    """The checkpoint that a run begins with: a file, or ``default``, the agent that comes with Operant."""
    if name is None:
        return None
    if str(name) == DEFAULT_AGENT:
        from operant.agents.hierarchical.agent import DEFAULT

        return DEFAULT
    return Path(name)


def check_writable(directory: Path, setting: str) -> None:
    """Write something into it, or, if it is not there yet, where it would be made. Nothing is left behind."""
    place = next(one for one in (directory, *directory.absolute().parents) if one.exists())
    try:
        with tempfile.TemporaryFile(dir=place):
            pass
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise ConfigError(
            f"{setting} {os.fspath(directory)} can't be written: {why}",
            hint=f"choose another directory with --{setting.replace('_', '-')}",
        ) from error


def check_new_run(save_dir: Path) -> None:
    """That no checkpoints of another run lie there, to be mixed with ours."""
    if save_dir.is_dir() and any(save_dir.glob("*.pt")):
        raise ConfigError(
            f"{save_dir} holds the checkpoints of another run",
            hint="go on with it by --resume, or choose another --save-dir",
        )
