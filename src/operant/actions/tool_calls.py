"""Calls of functions as servers and models write them: objects with a name and arguments, in any usual shape.

Chat Completions nests them (``{"function": {"name", "arguments"}}``), Responses and Gemini do not, and arguments come
as objects or as JSON text, at times damaged. Knows no function.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from operant.actions.lenient import LenientFields
from operant.actions.payload import batch, check_text, malformed

__all__ = ["FunctionCall", "function_calls", "read_arguments"]

_TRAILING_COMMA = re.compile(r",(\s*[}\]])")
_FENCE = re.compile(r"^\s*```(?:json)?\s*|\s*```\s*$")


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """A function's name and its arguments."""

    name: str
    arguments: Mapping[str, object]

    def fields(self) -> LenientFields:
        return LenientFields(self.arguments, self.name[:80])


def function_calls(payload: object) -> list[FunctionCall]:
    """The calls of one object or of a list of them."""
    return [_call(item) for item in batch(payload)]


def _call(item: object) -> FunctionCall:
    if not isinstance(item, Mapping):
        raise malformed("not a call of a function", item)
    inner = [item.get(name) for name in ("function", "function_call", "functionCall")]
    item = next((found for found in inner if isinstance(found, Mapping)), item)
    given: object = next(
        (item[key] for key in ("arguments", "args", "input") if item.get(key) is not None), {}
    )
    return FunctionCall(check_text(item.get("name")), read_arguments(given))


def read_arguments(given: object) -> Mapping[str, object]:
    """The arguments as an object; text is read as JSON, with a fence, a trailing comma or a lost brace forgiven."""
    if isinstance(given, str):
        given = _damaged_json(check_text(given))
    if not isinstance(given, Mapping):
        raise malformed("arguments are not an object", given)
    return given


def _damaged_json(text: str) -> object:
    tidy = _FENCE.sub("", text).strip()
    if not tidy:
        return {}
    for attempt in (tidy, _TRAILING_COMMA.sub(r"\1", tidy), tidy + "}", tidy + "]}"):
        try:
            # Models put newlines into strings; strict=False takes them.
            found = json.loads(attempt, strict=False)
        except (ValueError, RecursionError):
            continue
        # Some servers encode the arguments twice.
        return _damaged_json(found) if isinstance(found, str) and found != text else found
    raise malformed("arguments are not JSON", text)
