"""What a training run says of itself: ``progress.jsonl``, a line for each update, read as it grows, and ``status.json``,
where it is at this moment."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

__all__ = ["PROGRESS", "STATUS", "Progress", "is_reward_hack", "latest_of", "read_progress"]

PROGRESS, STATUS = "progress.jsonl", "status.json"
MOST_POINTS = 1000
MOST_BYTES = 64 << 20
WINDOW = 10  # updates on either side that are compared for the alarm
RISE = 0.15  # of the spread of rewards, that counts as rising

Progress = list[dict[str, Any]]


def read_progress(directory: Path, most: int = MOST_POINTS) -> Progress:
    """The updates so far, thinned out evenly if there are many. A line that is cut off is left for later."""
    path = directory / PROGRESS
    try:
        if path.stat().st_size > MOST_BYTES:
            return []
        lines = path.read_bytes().split(b"\n")[:-1]
    except OSError:
        return []
    if len(lines) > most:
        stride = (len(lines) - 1) / (most - 1)
        lines = [lines[round(index * stride)] for index in range(most)]
    found = []
    for line in lines:
        try:
            update = json.loads(line)
        except ValueError:
            continue
        if isinstance(update, dict):
            found.append({key: _finite(value) for key, value in update.items()})
    return found


def latest_of(directory: Path, progress: Progress) -> dict[str, Any] | None:
    """The last update, and over it where the run is at this moment; None before it has said anything."""
    last = progress[-1] if progress else {}
    try:
        now = json.loads((directory / STATUS).read_text(encoding="utf-8"))
        ahead = int(now["step"]) >= int(last.get("step", 0))
    except (OSError, ValueError, KeyError, TypeError):
        return last or None
    return {**last, **now} if ahead else last


def is_reward_hack(progress: Progress) -> bool:
    """Whether the reward rises clearly over the last updates and success does not: it learns something else."""
    points = [
        (float(one["mean_reward"]), float(one["success_rate"]))
        for one in progress
        if _is_number(one.get("mean_reward")) and _is_number(one.get("success_rate"))
    ]
    if len(points) < 2 * WINDOW:
        return False
    before, after = points[-2 * WINDOW : -WINDOW], points[-WINDOW:]
    rewards = [reward for reward, _ in points]
    spread = max(rewards) - min(rewards)
    risen = _mean([reward for reward, _ in after]) - _mean([reward for reward, _ in before])
    succeeded = _mean([rate for _, rate in after]) - _mean([rate for _, rate in before])
    return spread > 0 and risen > RISE * spread and succeeded <= 0.0 and _mean([r for _, r in after]) < 0.9


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _finite(value: Any) -> Any:
    """JSON for browsers has no NaN."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    return value
