"""What is wrong with a request, field by field, in plain words and with the nearest valid names.

Reads pydantic's report, all of it. Knows nothing of HTTP; ``problems`` makes an answer of it.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, get_args

from pydantic import BaseModel

from operant.service.schemas.base import FieldProblem

__all__ = ["hint_of", "mistakes", "sentence_of"]

MOST = 10  # told one by one; the rest is counted
FEW = 6  # choices that are named in the message
QUOTED = 40  # characters of what was given
PLACES = ("body", "query", "path", "header", "cookie")
PRIVATE = ("secret", "token", "password", "screenshot")
HINT = "the fields and their types are described at /docs"

#: pydantic's type of error -> what must be; ``{}`` is a limit of its context
SAID: Mapping[str, str] = {
    "missing": "is missing",
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
    "string_too_short": "must have at least {min_length} characters",
    "too_short": "must have at least {min_length} entries",
    "too_long": "may have at most {max_length} entries",
}
_KINDS = {
    "string_type": "text",
    "int_type": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "none_required": "null",
}
_UNION_MEMBER = re.compile(r"str|int|float|bool|none|dict\[.*|list\[.*|tuple\[.*|constrained-.*|[A-Z]\w*")


def mistakes(errors: Iterable[Mapping[str, Any]], model: type[BaseModel] | None = None) -> list[FieldProblem]:
    """Every wrong field once, in the order of the report; ``model`` knows the right names."""
    grouped: dict[str, list[Mapping[str, Any]]] = {}
    for error in errors:
        grouped.setdefault(_field(error["loc"]), []).append(error)
    found = [_mistake(field, group, model) for field, group in grouped.items()]
    # A mistyped name is also a missing one: once is enough.
    meant = {one.hint for one in found if one.hint}
    return [
        one
        for one in found
        if one.message != SAID["missing"] or f"did you mean {one.field.rpartition('.')[2]!r}?" not in meant
    ]


def sentence_of(found: Sequence[FieldProblem]) -> str:
    """All of them in one line."""
    told = [f"{one.field} {one.message}" if one.field else one.message for one in found[:MOST]]
    if len(found) > MOST:
        told.append(f"and {len(found) - MOST} more")
    return "; ".join(told) or "it can't be read"


def hint_of(found: Sequence[FieldProblem]) -> str:
    hints = [one.hint if len(found) == 1 else f"{one.field}: {one.hint}" for one in found[:MOST] if one.hint]
    return "; ".join(hints) or HINT


def _field(loc: Sequence[str | int]) -> str:
    """Where it is, such as ``formats.0``; which member of a union was tried is left out."""
    parts = [str(part) for part in (loc[1:] if loc and loc[0] in PLACES else loc)]
    named = [part for n, part in enumerate(parts) if n == 0 or not _UNION_MEMBER.fullmatch(part)]
    return ".".join(named)


def _mistake(field: str, group: Sequence[Mapping[str, Any]], model: type[BaseModel] | None) -> FieldProblem:
    first = group[0]
    kind, given = str(first["type"]), first.get("input")
    if kind == "json_invalid":
        return FieldProblem(field="", message=f"the body is not JSON: {_reason(first)}")
    if kind == "extra_forbidden":
        names = _names(model, field.split(".")[:-1])
        near = difflib.get_close_matches(field.rpartition(".")[2], names, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"fields: {', '.join(names)}" if names else None
        return FieldProblem(field=field, message="is not a field", hint=hint)
    if kind in ("value_error", "assertion_error"):
        return FieldProblem(field=field, message=_reason(first))
    if kind in ("literal_error", "enum"):
        return _choice(field, group)
    if len(group) > 1 and all(one["type"] in _KINDS for one in group):
        kinds = list(dict.fromkeys(_KINDS[one["type"]] for one in group))
        message = f"must be {', '.join(kinds[:-1])} or {kinds[-1]}"
    elif kind.endswith("too_short") and _context(first)["min_length"] == 1:
        message = "must not be empty"
    elif kind in SAID:
        message = SAID[kind].format_map(_Plain(_context(first)))
    else:  # such as the pattern of a name
        message = "is not in the form that is asked for"
    if not field:
        return FieldProblem(field="", message="the body must be a JSON object")
    told = message + ("" if kind == "missing" else _got(field, given))
    return FieldProblem(field=field, message=told, hint=None if kind in SAID else _about(model, field))


def _choice(field: str, group: Sequence[Mapping[str, Any]]) -> FieldProblem:
    names = re.findall(r"'([^']*)'", str(_context(group[0]).get("expected", "")))
    given = group[0].get("input")
    near = difflib.get_close_matches(given.lower(), names, 1) if isinstance(given, str) else []
    listed = ", ".join(names)
    if 0 < len(names) <= FEW:
        message = f"must be {_context(group[0])['expected']}{_got(field, given)}"
        return FieldProblem(field=field, message=message, hint=f"did you mean {near[0]!r}?" if near else None)
    hint = (
        f"did you mean {near[0]!r}?" if near else f"{field.rpartition('.')[2]}: {listed}" if listed else None
    )
    return FieldProblem(field=field, message=f"has no such choice{_got(field, given)}", hint=hint)


class _Plain(dict[str, Any]):
    """Limits as people write them: 20 and not 20.0."""

    def __getitem__(self, name: str) -> str:
        value = super().__getitem__(name)
        return f"{value:g}" if isinstance(value, float) else str(value)


def _context(error: Mapping[str, Any]) -> Mapping[str, Any]:
    return error.get("ctx") or {}


def _reason(error: Mapping[str, Any]) -> str:
    """The words of a validator of ours, or of the parser of JSON."""
    found = _context(error).get("error")
    text = str(found) if found is not None else str(error["msg"])
    return (
        text.removeprefix("Value error, ").removeprefix("Assertion failed, ").removeprefix("Invalid JSON: ")
    )


def _got(field: str, given: Any) -> str:
    """What was given, where it is short and no secret."""
    if (
        given == ""
        or any(word in field.lower() for word in PRIVATE)
        or isinstance(given, (dict, list, bytes))
    ):
        return ""
    shown = "null" if given is None else str(given).lower() if isinstance(given, bool) else repr(given)
    return f" (got {shown})" if len(shown) <= QUOTED else f" (got {shown[: QUOTED - 3]}...)"


def _about(model: Any, field: str) -> str | None:
    """What the field is, from its documentation."""
    found = getattr(model, "model_fields", {}).get(field)
    return found.description if found is not None else None


def _names(model: Any, path: Sequence[str]) -> list[str]:
    """The fields of the model at that place."""
    owner = model
    for part in path:
        fields = getattr(owner, "model_fields", None)
        annotation = fields[part].annotation if fields and part in fields else owner
        owner = _model_in(annotation)
    return list(getattr(owner, "model_fields", {}))


def _model_in(annotation: Any) -> Any:
    """The model that an annotation such as ``list[Member] | None`` holds."""
    if hasattr(annotation, "model_fields"):
        return annotation
    return next((found for one in get_args(annotation) if (found := _model_in(one)) is not None), None)
