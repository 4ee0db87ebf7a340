"""Settings of the system."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from operant.tasks.criteria.question import Refuted

__all__ = ["METRICS"]

Options = Mapping[str, Any]


def _favourites(result: str, rules: Options, options: Options) -> float:
    """A list as GSettings writes it; the order does not count."""
    return _same_names(re.findall(r"'([^']*)'", result), rules["expected"])


def _same_names(found: list[str], wanted: list[str]) -> float:
    if sorted(found) != sorted(wanted):
        raise Refuted(f"{', '.join(found)[:150] or 'nothing'} is there")
    return 1.0


def _moved(result: list[str], rules: Options, options: Options) -> float:
    return _same_names(list(result), list(rules["expected"]))


def _utc(result: str, rules: Any, options: Options) -> float:
    zone = next((line.strip() for line in result.splitlines() if "Time zone:" in line), "")
    if not zone.endswith("+0000)"):
        raise Refuted(zone or "no time zone is told")
    return 1.0


def _text_enlarged(result: str, rules: Any, options: Options) -> float:
    return float(float(result) > 1.0)


METRICS: dict[str, Callable[[Any, Any, Options], float]] = {
    "check_gnome_favorite_apps": _favourites,
    "check_moved_jpgs": _moved,
    "is_utc_0": _utc,
    "check_text_enlarged": _text_enlarged,
}
