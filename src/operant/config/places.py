"""Where Operant keeps what it makes unless it is told otherwise: one directory, one setting.

``OPERANT_DATA_DIR`` names it, in the environment or in ``.env``; otherwise it is ``operant`` in the user's data
directory (``XDG_DATA_HOME``, ``~/.local/share``). The current directory stays clean. Nothing is made here.
"""

from __future__ import annotations

import os
from pathlib import Path

from operant.config.settings import read_environment

__all__ = ["VARIABLE", "data_dir", "place"]

VARIABLE = "OPERANT_DATA_DIR"


def data_dir(*, checked: bool = True) -> Path:
    """The directory of everything; ``operant serve --data-dir`` names another for its service.

    ``checked`` refuses mistyped variables, which is for commands and not for each start of a desktop.
    """
    if chosen := read_environment(checked=checked).get(VARIABLE):
        return Path(chosen).expanduser()
    home = os.environ.get("XDG_DATA_HOME")
    return (Path(home) if home else Path.home() / ".local" / "share") / "operant"


def place(name: str) -> Path:
    """Where one kind of thing goes: results, checkpoints, logs, vlm, pictures."""
    return data_dir() / name
