"""What pydantic finds wrong with a value, in plain words: for settings, flags and requests alike.

Knows one finding of a report at a time. Which field it is about and what else is known of it is the caller's.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

__all__ = ["MISSING", "choices", "context", "got", "plain", "reason"]

QUOTED = 40  # characters of what was given
FEW = 6  # choices that are named
PRIVATE = ("secret", "token", "password", "screenshot")
MISSING = "is missing"

#: pydantic's type of error -> what must be; ``{}`` is a limit of its context
SAID: Mapping[str, str] = {
    "missing": MISSING,
    "string_type": "must be text",
    "string_unicode": "must be text",
    "string_too_long": "may have at most {max_length} characters",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_parsing_size": "must be a smaller number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "finite_number": "must be a finite number",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "greater_than": "must be more than {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be at most {le}",
    "list_type": "must be a list",
    "tuple_type": "must be a list",
    "dict_type": "must be an object",
    "mapping_type": "must be an object",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
    "path_type": "must be a path",
    "string_too_short": "must have at least {min_length} characters",
    "too_short": "must have at least {min_length} entries",
    "too_long": "may have at most {max_length} entries",
}


def plain(error: Mapping[str, Any]) -> str | None:
    """What must be, as the rest of a sentence that begins with the field; None where pydantic's types do not say."""
    kind = str(error["type"])
    if kind.endswith("too_short") and context(error)["min_length"] == 1:
        return "must not be empty"
    if kind in ("literal_error", "enum") and 0 < len(choices(error)) <= FEW:
        return f"must be {context(error)['expected']}"
    said = SAID.get(kind)
    return None if said is None else said.format_map(_Plain(context(error)))


def choices(error: Mapping[str, Any]) -> list[str]:
    """The names of which one was asked for."""
    return re.findall(r"'([^']*)'", str(context(error).get("expected", "")))


def context(error: Mapping[str, Any]) -> Mapping[str, Any]:
    return error.get("ctx") or {}


def reason(error: Mapping[str, Any]) -> str:
    """The words of a validator of ours, or of the parser of JSON."""
    found = context(error).get("error")
    text = str(found) if found is not None else str(error["msg"])
    for said in ("Value error, ", "Assertion failed, ", "Invalid JSON: "):
        text = text.removeprefix(said)
    return text


def got(field: str, given: Any) -> str:
    """What was given, where it is short and no secret."""
    if (
        given == ""
        or any(word in field.lower() for word in PRIVATE)
        or isinstance(given, (dict, list, bytes))
    ):
        return ""
    shown = "null" if given is None else str(given).lower() if isinstance(given, bool) else repr(given)
    return f" (got {shown})" if len(shown) <= QUOTED else f" (got {shown[: QUOTED - 3]}...)"


class _Plain(dict[str, Any]):
    """Limits as people write them: 20 and not 20.0."""

    def __getitem__(self, name: str) -> str:
        value = super().__getitem__(name)
        return f"{value:g}" if isinstance(value, float) else str(value)
