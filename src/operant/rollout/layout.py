"""Where episodes lie: OSWorld's ``{action_space}/{observation_type}/{model}/{domain}/{task_id}/``.

Only names and paths. Every name that comes from outside is made safe to be one component of a path.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

__all__ = [
    "ACTION_SPACE",
    "EPISODE",
    "OBSERVATIONS",
    "PARTIAL",
    "RECORDING",
    "RESULT",
    "TRAJECTORY",
    "agent_directory",
    "domain",
    "episode_name",
    "safe_name",
    "screenshot_name",
    "timestamp",
]

ACTION_SPACE = "pyautogui"
"""What ``action`` in ``traj.jsonl`` is written in, so that OSWorld's tools can read it."""
EPISODE = "episode.json"
PARTIAL = "episode.partial.json"
OBSERVATIONS = "observations.bin"
TRAJECTORY = "traj.jsonl"
RESULT = "result.txt"
RECORDING = "recording.mp4"

LONGEST_NAME = 120


def safe_name(text: str) -> str:
    """One component of a path, readable, and different for different texts."""
    name = re.sub(r"[^\w.,=+-]|^\.", _in_hexadecimal, text)
    if len(name.encode()) > LONGEST_NAME:
        digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:12]
        name = name.encode()[: LONGEST_NAME - 13].decode("utf-8", "ignore") + "-" + digest
    return name or "%00"


def _in_hexadecimal(match: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in match[0].encode("utf-8", "replace"))


def agent_directory(root: Path, observation_type: str, agent: str) -> Path:
    return root / ACTION_SPACE / safe_name(observation_type) / safe_name(agent)


def domain(apps: Sequence[str]) -> str:
    """The application, or OSWorld's name for several."""
    return safe_name(apps[0]) if len(apps) == 1 else "multi_apps" if apps else "desktop"


def episode_name(task: str, split: str | None, seed: int | None) -> str:
    """``core.note-v1.heldout.7``: the task and its instance."""
    parts = [task.replace("/", ".", 1), split or "", "" if seed is None else str(seed)]
    return safe_name(".".join(part for part in parts if part))


def timestamp(now: datetime) -> str:
    return now.strftime("%Y%m%d@%H%M%S%f")


def screenshot_name(step: int, stamp: str) -> str:
    return f"step_{step}_{stamp}.png"
