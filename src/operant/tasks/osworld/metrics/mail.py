"""Thunderbird's preferences and filters."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from operant.tasks.criteria.question import Refuted
from operant.tasks.osworld.metrics.rules import matches_record, matches_rule
from operant.tasks.osworld.metrics.text import read_lines

__all__ = ["METRICS"]

Options = Mapping[str, Any]
PREFERENCE = re.compile(r'user_pref\("((?:[^"\\]|\\.)+)",\s*(.+)\);')
CONDITION = re.compile(r"""\b(?:AND|OR) \([\w ]+,[\w ']+,(?:"(?:[^"\\]|\\.)*"|[^)]*)\)|\bALL\b""")


def _preferences(result: Path, rules: Options, options: Options) -> float:
    found: dict[str, Any] = {}
    for line in read_lines(result):
        if match := PREFERENCE.fullmatch(line.strip()):
            try:
                found[match[1]] = json.loads(match[2])
            except ValueError:
                continue
    for name, rule in (rules.get("expect") or {}).items():
        if name not in found or not matches_rule(found[name], rule):
            raise Refuted(f"{name} is {found.get(name)!r:.80}")
    for name, rule in (rules.get("unexpect") or {}).items():
        if name in found and matches_rule(found[name], rule):
            raise Refuted(f"{name} is {found[name]!r:.80}")
    return 1.0


def _filters(result: Path, rules: Options, options: Options) -> float:
    """Filters are records of lines such as ``name="..."``; each begins with its name."""
    filters: list[dict[str, Any]] = []
    for line in read_lines(result):
        key, equals, rest = line.partition("=")
        value = re.sub(r"\\(.)", r"\1", rest.strip().strip('"')) if equals else ""
        if key == "name":
            filters.append({})
        if filters:
            filters[-1][key] = CONDITION.findall(value) if key == "condition" else value
    for wanted in rules.get("expect") or []:
        if not any(matches_record(one, wanted) for one in filters):
            raise Refuted(f"no filter is {wanted!r:.120}")
    for unwanted in rules.get("unexpect") or []:
        if any(matches_record(one, unwanted) for one in filters):
            raise Refuted(f"a filter is {unwanted!r:.120}")
    return 1.0


METRICS: dict[str, Callable[[Any, Any, Options], float]] = {
    "check_thunderbird_prefs": _preferences,
    "check_thunderbird_filter": _filters,
}
