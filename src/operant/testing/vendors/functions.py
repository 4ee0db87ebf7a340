"""Functions that a request declares beside a computer tool: what vendors allow, and a call as a model says it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from operant.errors import ActionNotExpressible
from operant.testing.vendors.problem import invalid
from operant.types import Action, ActionKind

__all__ = ["DeclaredFunction", "SaidCall", "check_arguments", "check_functions", "said_call"]

_JSON_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list, tuple),
    "object": (dict,),
}


@dataclass(frozen=True)
class DeclaredFunction:
    """One entry of a request's tools."""

    name: str
    description: str
    schema: Mapping[str, Any]


@dataclass(frozen=True)
class SaidCall:
    """A call of a declared function."""

    name: str
    arguments: Mapping[str, Any]


def check_functions(
    declared: Iterable[DeclaredFunction],
    *,
    names: re.Pattern[str],
    most: int,
    keywords: frozenset[str] | None = None,
) -> dict[str, DeclaredFunction]:
    """The functions by name. Refuses names, numbers and schemas that the vendor refuses.

    ``keywords`` are those of JSON Schema that it knows; None for all.
    """
    found: dict[str, DeclaredFunction] = {}
    for place, one in enumerate(declared):
        path = f"tools.{place}"
        if not names.fullmatch(one.name):
            raise invalid(f"{path}.name: String should match pattern '{names.pattern}'", param=path)
        if one.name in found:
            raise invalid("tools: Tool names must be unique.", param="tools")
        _check_schema(one.schema, path, keywords)
        found[one.name] = one
    if len(found) > most:
        raise invalid(f"tools: List should have at most {most} items, not {len(found)}", param="tools")
    return found


def _check_schema(schema: Mapping[str, Any], path: str, keywords: frozenset[str] | None) -> None:
    if schema.get("type") != "object":
        raise invalid(f"{path}: the schema's type must be 'object'", param=path)
    properties = schema.get("properties", {})
    missing = set(schema.get("required", ())) - set(properties)
    if missing:
        raise invalid(f"{path}: required names no property: {sorted(missing)}", param=path)
    for form in (schema, *_within(properties.values())):
        if form.get("type", "string") not in _JSON_TYPES:
            raise invalid(f"{path}: {form['type']!r} is not valid under any of the given schemas", param=path)
        unknown = set(form) - keywords if keywords is not None else set()
        if unknown:
            raise invalid(f"{path}: unknown name {min(unknown)!r}: Cannot find field.", param=path)


def _within(forms: Iterable[Mapping[str, Any]]) -> Iterable[Mapping[str, Any]]:
    for form in forms:
        yield form
        inner = [form.get("items"), form.get("additionalProperties"), *form.get("anyOf", ())]
        yield from _within(one for one in inner if isinstance(one, Mapping))


def check_arguments(function: DeclaredFunction, arguments: Mapping[str, Any]) -> None:
    """A model keeps to the schema that it was given."""
    properties = function.schema.get("properties") or {}
    unknown = set(arguments) - set(properties)
    missing = set(function.schema.get("required") or ()) - set(arguments)
    if unknown or missing:
        raise invalid(
            f"the function {function.name} declares no {sorted(unknown)} and wants {sorted(missing)}",
            param="tools",
        )
    for name, value in arguments.items():
        kind = properties[name].get("type")
        if kind is not None and not _fits(value, kind):
            raise invalid(f"{function.name}: {name} is declared as {kind}, not {value!r}", param="tools")


def _fits(value: object, kind: str) -> bool:
    if isinstance(value, bool) or kind == "boolean":
        return isinstance(value, bool) and kind == "boolean"
    if kind == "integer" and isinstance(value, float):
        return value.is_integer()  # 5.0 is one in JSON Schema
    return isinstance(value, _JSON_TYPES[kind])


def said_call(action: Action, declared: Mapping[str, DeclaredFunction]) -> SaidCall | None:
    """The call as one of a declared function; None for other actions."""
    if action.kind is not ActionKind.CALL:
        return None
    function = declared.get(action.function.replace(".", "_"))
    if function is None:
        raise ActionNotExpressible(f"the request declares no function for {action.function}")
    names = list(function.schema.get("properties") or {})
    arguments = {**dict(zip(names, action.args, strict=False)), **dict(action.kwargs)}
    check_arguments(function, arguments)
    return SaidCall(function.name, arguments)
