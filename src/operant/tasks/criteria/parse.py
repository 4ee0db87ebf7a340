"""Criteria as task files write them.

``{file_exists: output.txt}`` is short for ``{file_exists: {path: output.txt}}``; several keys in one mapping,
and several entries in a list, must all hold.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from pydantic import ValidationError

from operant.config.base import Config, config_error
from operant.errors import TaskError
from operant.tasks.criteria.answers import Answer
from operant.tasks.criteria.base import Criterion
from operant.tasks.criteria.combine import AllOf, AnyOf, Not
from operant.tasks.criteria.documents import DocumentText, SpreadsheetCell
from operant.tasks.criteria.files import (
    DirectoryContains,
    FileContains,
    FileEquals,
    FileExists,
    FileNotExists,
)
from operant.tasks.criteria.images import ImageSimilar, ImageSize
from operant.tasks.criteria.programs import ClipboardEquals, CommandOutput, ProcessRunning
from operant.tasks.criteria.settings import Setting
from operant.tasks.criteria.widgets import Accessible, Url
from operant.tasks.criteria.windows import WindowAbsent, WindowGeometry, WindowTitle

__all__ = ["CRITERIA", "build", "nearest", "parse_criterion"]

Model = TypeVar("Model", bound=Config)

#: The key of a criterion in a task file -> the criterion.
CRITERIA: dict[str, type[Criterion]] = {
    "file_exists": FileExists,
    "file_not_exists": FileNotExists,
    "file_contains": FileContains,
    "file_equals": FileEquals,
    "directory_contains": DirectoryContains,
    "window_title": WindowTitle,
    "window_absent": WindowAbsent,
    "window_geometry": WindowGeometry,
    "process_running": ProcessRunning,
    "clipboard_equals": ClipboardEquals,
    "command_output": CommandOutput,
    "accessible": Accessible,
    "url": Url,
    "setting": Setting,
    "spreadsheet_cell": SpreadsheetCell,
    "document_text": DocumentText,
    "image_similar": ImageSimilar,
    "image_size": ImageSize,
    "answer": Answer,
    "all": AllOf,
    "any": AnyOf,
    "not": Not,
}
#: What a bare text stands for.
SHORT = {
    "file_exists": "path",
    "file_not_exists": "path",
    "window_title": "title",
    "window_absent": "title",
    "process_running": "name",
    "clipboard_equals": "text",
    "url": "url",
    "answer": "text",
}
MAX_DEPTH = 20


def parse_criterion(data: object, where: str, *, depth: int = 0) -> Criterion:
    """The criterion that ``data`` describes; ``where`` names the file, the task and the field in errors."""
    if depth > MAX_DEPTH:
        raise TaskError(f"{where}: criteria are nested too deeply")
    if isinstance(data, list):
        return _all(_each(data, where, depth), where)
    if not isinstance(data, Mapping):
        raise TaskError(
            f"{where}: {data!r} is not a criterion", hint="write it like {file_exists: output.txt}"
        )
    return _all([_one(key, value, f"{where}.{key}", depth) for key, value in data.items()], where)


def _each(data: object, where: str, depth: int) -> list[Criterion]:
    if isinstance(data, Mapping):
        return [parse_criterion({key: value}, where, depth=depth + 1) for key, value in data.items()]
    if not isinstance(data, list):
        raise TaskError(f"{where}: {data!r} is not a list of criteria")
    return [parse_criterion(item, f"{where}[{index}]", depth=depth + 1) for index, item in enumerate(data)]


def _one(key: object, value: object, where: str, depth: int) -> Criterion:
    if key in ("all", "any"):
        found = _each(value, where, depth)
        if not found:
            raise TaskError(f"{where}: there is no criterion in it")
        return AllOf(of=tuple(found)) if key == "all" else AnyOf(of=tuple(found))
    if key == "not":
        return Not(of=parse_criterion(value, where, depth=depth + 1))
    kind = CRITERIA.get(str(key))
    if kind is None:
        raise TaskError(f"{where}: {key!r} is not a criterion", hint=nearest(key, CRITERIA))
    if isinstance(value, list):
        return _all(
            [_built(str(key), kind, item, f"{where}[{index}]") for index, item in enumerate(value)], where
        )
    return _built(str(key), kind, value, where)


def _built(key: str, kind: type[Criterion], value: object, where: str) -> Criterion:
    if key in SHORT and isinstance(value, str):
        value = {SHORT[key]: value}
    return build(kind, value, where, f"a {key}")


def build(kind: type[Model], data: object, where: str, called: str) -> Model:
    """A model out of a mapping of a task file; mistakes name the place and the nearest valid field."""
    names = [field.alias or name for name, field in kind.model_fields.items()]
    if not isinstance(data, Mapping):
        hint = f"write it as a mapping with {', '.join(names)}"
        raise TaskError(f"{where}: {data!r} is not what {called} takes", hint=hint)
    fields: dict[str, Any] = {str(name): item for name, item in data.items()}
    for name in fields:
        if name not in names:
            raise TaskError(f"{where}.{name}: {called} has no {name!r}", hint=nearest(name, names))
    try:
        return kind(**fields)
    except ValidationError as error:
        told = config_error(kind, error)
        first = error.errors()[0]
        quotes = "put it in quotes" if first["type"] == "string_type" else None
        between = "." if first["loc"] else ": "
        raise TaskError(f"{where}{between}{told.message}", hint=told.hint or quotes) from error
    except TaskError as error:
        raise TaskError(f"{where}: {error.message}", hint=error.hint) from error


def nearest(name: object, names: Iterable[str]) -> str:
    """A hint: the valid name that comes closest, or all of them."""
    known = list(names)
    near = difflib.get_close_matches(str(name), known, 1)
    return f"did you mean {near[0]!r}?" if near else f"valid: {', '.join(known)}"


def _all(found: list[Criterion], where: str) -> Criterion:
    if not found:
        raise TaskError(f"{where}: there is no criterion in it")
    return found[0] if len(found) == 1 else AllOf(of=tuple(found))
