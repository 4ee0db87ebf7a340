"""Checks a request against the types that the vendor's own SDK ships, field by field.

The SDKs of Anthropic and OpenAI describe requests as ``TypedDict``. Unknown fields, missing ones and wrong types
are refused, so that a client and our servers cannot share one wrong idea of a protocol. Knows no vendor.
"""

from __future__ import annotations

import collections.abc
import functools
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import typing_extensions
from typing_extensions import NotRequired, Required

from operant.testing.vendors.problem import ApiProblem, invalid

__all__ = ["check_typed"]

_WRAPPERS = (Required, NotRequired)
_PLAIN: Mapping[Any, tuple[type, ...]] = {
    str: (str,),
    int: (int,),
    float: (int, float),
    bool: (bool,),
}


def check_typed(value: object, kind: Any, *, allow: Mapping[str, frozenset[str]] | None = None) -> None:
    """Raise ``ApiProblem`` if a JSON value is not of an SDK's type.

    ``allow`` names fields that the vendor documents and its SDK's types lack: type name -> fields.
    """
    wrong = _wrong(value, kind, "", allow or {})
    if wrong is not None:
        raise wrong


def _wrong(value: object, kind: Any, path: str, allow: Mapping[str, frozenset[str]]) -> ApiProblem | None:
    origin = get_origin(kind)
    if origin in _WRAPPERS or origin is Annotated:
        return _wrong(value, get_args(kind)[0], path, allow)
    if typing_extensions.is_typeddict(kind):
        return _wrong_fields(value, kind, path, allow)
    if origin is Literal:
        if value in get_args(kind) and type(value) in {type(one) for one in get_args(kind)}:
            return None
        wanted = ", ".join(repr(one) for one in get_args(kind))
        return _refuse(path, f"Input should be {wanted}", value)
    if origin is Union or str(origin) == "<class 'types.UnionType'>":
        return _wrong_union(value, get_args(kind), path, allow)
    if kind is None or kind is type(None):
        return None if value is None else _refuse(path, "Input should be null", value)
    if origin in (dict, collections.abc.Mapping):
        if not isinstance(value, dict):
            return _refuse(path, "Input should be an object", value)
        inner = get_args(kind)[1]
        return _first(_wrong(item, inner, _below(path, key), allow) for key, item in value.items())
    if _is_list(origin):
        if not isinstance(value, list):
            return _refuse(path, "Input should be a list", value)
        inner = get_args(kind)[0]
        return _first(_wrong(item, inner, _below(path, index), allow) for index, item in enumerate(value))
    if kind in _PLAIN:
        if isinstance(value, _PLAIN[kind]) and isinstance(value, bool) == (kind is bool):
            return None
        return _refuse(path, f"Input should be a valid {kind.__name__}", value)
    return None  # object, Any, and files, which JSON cannot hold


def _is_list(origin: Any) -> bool:
    return origin in (list, collections.abc.Iterable, collections.abc.Sequence) or (
        getattr(origin, "__name__", "") == "SequenceNotStr"
    )


def _is_required(hint: Any) -> bool:
    origin: Any = get_origin(hint)
    return origin is Required


@functools.lru_cache(maxsize=2048)
def _fields(kind: Any) -> tuple[dict[str, Any], frozenset[str]]:
    """The types of a TypedDict's fields, and those that must be there."""
    hints = typing_extensions.get_type_hints(kind, include_extras=True)
    return hints, frozenset(name for name, hint in hints.items() if _is_required(hint))


def _wrong_fields(
    value: object, kind: Any, path: str, allow: Mapping[str, frozenset[str]]
) -> ApiProblem | None:
    if not isinstance(value, dict):
        return _refuse(path, "Input should be an object", value)
    hints, needed = _fields(kind)
    for name in sorted(needed):
        if name not in value:
            return invalid(f"{_below(path, name)}: Field required", param=_below(path, name))
    for name, item in value.items():
        if name not in hints:
            if name in allow.get(kind.__name__, frozenset()):
                continue
            below = _below(path, name)
            return invalid(f"{below}: Extra inputs are not permitted", param=below)
        wrong = _wrong(item, hints[name], _below(path, name), allow)
        if wrong is not None:
            return wrong
    return None


def _wrong_union(
    value: object, kinds: tuple[Any, ...], path: str, allow: Mapping[str, frozenset[str]]
) -> ApiProblem | None:
    """None if one of the types takes it. Otherwise the complaint of the one whose ``type`` or ``role`` it names."""
    meant: ApiProblem | None = None
    others: list[ApiProblem] = []
    for kind in kinds:
        wrong = _wrong(value, kind, path, allow)
        if wrong is None:
            return None
        others.append(wrong)
        if meant is None and _names(value, kind):
            meant = wrong
    # A complaint from further inside comes from a type that fits the value better.
    deepest = max(others, key=lambda one: (one.param or "").count("."), default=None)
    return meant or deepest or _refuse(path, "Input has no valid type", value)


def _names(value: object, kind: Any) -> bool:
    """Whether the value's ``type`` or ``role`` is that of this TypedDict."""
    if not isinstance(value, dict) or not typing_extensions.is_typeddict(kind):
        return False
    hints, _ = _fields(kind)
    told = [name for name in ("type", "role") if name in value and name in hints]
    return bool(told) and all(_wrong(value[name], hints[name], name, {}) is None for name in told)


def _first(found: collections.abc.Iterable[ApiProblem | None]) -> ApiProblem | None:
    return next((one for one in found if one is not None), None)


def _below(path: str, name: object) -> str:
    return f"{path}.{name}" if path else str(name)


def _refuse(path: str, why: str, value: object) -> ApiProblem:
    said = repr(value)
    return invalid(f"{path}: {why}, not {said if len(said) <= 60 else said[:57] + '...'}", param=path)
