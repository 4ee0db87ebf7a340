"""What commands of the desktop say."""

from __future__ import annotations

import collections
from collections.abc import Callable, Mapping
from typing import Any

from operant.desktop.osworld.machine_image import VIDEO_TYPES
from operant.tasks.osworld import guest
from operant.tasks.osworld.getters.evidence import Evidence

__all__ = ["GETTERS"]


def _command_line(source: Mapping[str, Any], evidence: Evidence) -> str:
    shell = str(source.get("shell", False)).lower() == "true"
    return guest.run(evidence.desktop, source["command"], shell).output


def _default_video_player(source: Mapping[str, Any], evidence: Evidence) -> str:
    """The desktop file that most kinds of videos are opened with."""
    said = collections.Counter[str]()
    for kind in VIDEO_TYPES:
        found = evidence.desktop.run(["xdg-mime", "query", "default", f"video/{kind}"], timeout_s=10.0)
        if found.output.strip():
            said[found.output] += 1
    return said.most_common(1)[0][0] if said else "unknown"


GETTERS: dict[str, Callable[[Mapping[str, Any], Evidence], Any]] = {
    "vm_command_line": _command_line,
    "default_video_player": _default_video_player,
}
