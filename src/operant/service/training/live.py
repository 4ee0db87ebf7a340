"""The desktops of a run that is under way, read from its directory. To look is to be a viewer: the run writes only then."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from operant.train.live import LIVE, STATE, WATCHED, picture_name

__all__ = ["read_live", "read_picture"]


def read_live(directory: Path) -> dict[str, Any]:
    """``status`` and ``desktops`` of a run; empty while there is nothing to see."""
    try:
        _count_as_viewer(directory)
        found = json.loads((directory / LIVE / STATE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def read_picture(directory: Path, index: int) -> bytes | None:
    """The last picture of one desktop as JPEG."""
    try:
        _count_as_viewer(directory)
        return (directory / LIVE / picture_name(index)).read_bytes()
    except OSError:
        return None


def _count_as_viewer(directory: Path) -> None:
    """The run writes what it shows for a few seconds after this."""
    (directory / LIVE / WATCHED).touch()
