"""Rules of task files about one value: equal, ordered, near, within a range, or matched by a pattern."""

from __future__ import annotations

import operator
import re
from collections.abc import Mapping
from typing import Any

from operant.errors import TaskError

__all__ = ["matches_record", "matches_rule"]

ORDERS = {name: getattr(operator, name) for name in ("eq", "ne", "lt", "le", "gt", "ge")}
FLAGS = {
    "I": re.I,
    "S": re.S,
    "M": re.M,
    "X": re.X,
    "A": re.A,
    "IGNORECASE": re.I,
    "DOTALL": re.S,
    "MULTILINE": re.M,
}


def matches_rule(value: Any, rule: Mapping[str, Any]) -> bool:
    """Whether a value is as ``{"method": ..., "ref": ...}`` says."""
    method, wanted = str(rule["method"]), rule["ref"]
    kind, _, detail = method.partition(".")
    if kind == "re":
        return isinstance(value, str) and re.search(wanted, value, _flags(detail)) is not None
    if method in ORDERS:
        return _ordered(ORDERS[method], value, wanted)
    if method.startswith("approx:"):
        number = _number(value)
        return number is not None and abs(number - wanted) <= float(method.partition(":")[2])
    if kind == "range" and len(detail) == 2 and set(detail) <= set("te"):
        low, high = (ORDERS["l" + letter] for letter in detail)
        return _ordered(low, wanted[0], value) and _ordered(high, value, wanted[1])
    if method in ("str_list_eq", "str_set_eq"):
        parts = str(value).strip("\"'").split(",")
        return set(parts) == set(wanted) if method == "str_set_eq" else parts == list(wanted)
    if method == "spreadsheet_range":
        return _covers(value, wanted)
    raise TaskError(f"{method!r} is not a way to compare values")


def matches_record(record: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Whether a record has all of these values."""
    return all(name in record and record[name] == value for name, value in wanted.items())


def _flags(names: str) -> int:
    found = 0
    for name in filter(None, names.split(".")):
        if name not in FLAGS:
            raise TaskError(f"{name!r} is not a flag of a pattern")
        found |= FLAGS[name]
    return found


def _ordered(compare: Any, left: Any, right: Any) -> bool:
    try:
        return bool(compare(left, right))
    except TypeError:
        return False


def _number(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def _covers(value: Any, wanted: Any) -> bool:
    """Whether cells lie between a smallest and a largest range."""
    from openpyxl.worksheet.cell_range import MultiCellRange

    least, most = MultiCellRange(wanted[0]), MultiCellRange(wanted[1])
    given = value if isinstance(value, MultiCellRange) else MultiCellRange(str(value))
    return all(one in given for one in least) and all(one in most for one in given)
