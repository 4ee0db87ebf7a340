"""What is wrong with a request, field by field, in plain words and with the nearest valid names.

Reads pydantic's report, all of it. Knows nothing of HTTP; ``problems`` makes an answer of it.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, get_args

from pydantic import BaseModel

from operant.config.plain_words import MISSING, choices, got, plain, reason
from operant.service.schemas.base import FieldProblem

__all__ = ["hint_of", "mistakes", "sentence_of"]

MOST = 10  # told one by one; the rest is counted
PLACES = ("body", "query", "path", "header", "cookie")
HINT = "the fields and their types are described at /docs"

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
        if one.message != MISSING or f"did you mean {one.field.rpartition('.')[2]!r}?" not in meant
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
        return FieldProblem(field="", message=f"the body is not JSON: {reason(first)}")
    if kind == "extra_forbidden":
        names = _names(model, field.split(".")[:-1])
        near = difflib.get_close_matches(field.rpartition(".")[2], names, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"fields: {', '.join(names)}" if names else None
        return FieldProblem(field=field, message="is not a field", hint=hint)
    if kind in ("value_error", "assertion_error"):
        return FieldProblem(field=field, message=reason(first))
    if kind in ("literal_error", "enum"):
        return _choice(field, group)
    if len(group) > 1 and all(one["type"] in _KINDS for one in group):
        kinds = list(dict.fromkeys(_KINDS[one["type"]] for one in group))
        message = f"must be {', '.join(kinds[:-1])} or {kinds[-1]}"
    else:  # None for such as the pattern of a name
        message = plain(first) or "is not in the form that is asked for"
    if not field:
        return FieldProblem(field="", message="the body must be a JSON object")
    told = message + ("" if kind == "missing" else got(field, given))
    return FieldProblem(field=field, message=told, hint=None if plain(first) else _about(model, field))


def _choice(field: str, group: Sequence[Mapping[str, Any]]) -> FieldProblem:
    names, given = choices(group[0]), group[0].get("input")
    near = difflib.get_close_matches(given.lower(), names, 1) if isinstance(given, str) else []
    hint = f"did you mean {near[0]!r}?" if near else None
    if said := plain(group[0]):
        return FieldProblem(field=field, message=said + got(field, given), hint=hint)
    if hint is None and names:
        hint = f"{field.rpartition('.')[2]}: {', '.join(names)}"
    return FieldProblem(field=field, message=f"has no such choice{got(field, given)}", hint=hint)


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
