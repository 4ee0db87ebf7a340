"""Success criteria that a client sends: those of task files, as far as a stranger may ask.

They are bounded in size and number, because each of them makes the service look at a desktop. A criterion may
run a command inside the sandbox, where clients start programs anyway; none may name a file of the service's
machine.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

from operant.errors import TaskError
from operant.tasks.criteria.base import Criterion
from operant.tasks.criteria.combine import leaves
from operant.tasks.criteria.parse import CRITERIA, parse_criterion

__all__ = ["FIELD", "MAX_BYTES", "MAX_CRITERIA", "criterion_of_client", "criterion_of_text"]

FIELD = "success_criteria"
MAX_BYTES = 256 << 10  # room for a reference picture
MAX_CRITERIA = 20
MAX_SAID = 400  # characters of an error

#: Fields that are files of the service's machine: a client could find out what lies there.
HOST_FIELDS = {
    name: key
    for key, kind in CRITERIA.items()
    for name, field in kind.model_fields.items()
    if Path in (field.annotation, *get_args(field.annotation))
}


def criterion_of_client(data: Mapping[str, Any] | list[Any]) -> Criterion:
    """The criterion that a request describes; a mistake names its place and the nearest valid name."""
    _check_size(data)
    for name, key in HOST_FIELDS.items():
        if _mentions(data, name):
            raise TaskError(
                f"{FIELD}: {name} of {key} is a file of the service's machine, which requests may not read",
                hint="send the picture itself as reference_base64",
            )
    try:
        found = parse_criterion(data, FIELD)
    except TaskError as error:
        raise TaskError(_short(error.message), hint=error.hint) from error
    if sum(1 for _ in leaves(found)) > MAX_CRITERIA:
        raise TaskError(f"{FIELD}: there are more than {MAX_CRITERIA} criteria in it")
    return found


def criterion_of_text(text: str) -> Criterion | None:
    """The criterion that a user wrote as JSON into a form; None if the form was left empty."""
    if not text.strip():
        return None
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise TaskError(
            f"line {error.lineno}, column {error.colno}: this is not JSON ({error.msg})",
            hint='write it like {"window_title": "Calculator"}',
        ) from error
    except (RecursionError, ValueError) as error:
        raise TaskError(f"this is not JSON that can be read: {_short(str(error))}") from error
    if not isinstance(data, (dict, list)):
        raise TaskError(
            f"{_short(repr(data))} is not a criterion", hint='write it like {"window_title": "Calculator"}'
        )
    return criterion_of_client(data)


def _check_size(data: object) -> None:
    try:
        size = len(json.dumps(data, ensure_ascii=False).encode())
    except (RecursionError, ValueError) as error:  # nested without end, or half a character
        raise TaskError(f"{FIELD}: this is not data that can be read") from error
    if size > MAX_BYTES:
        raise TaskError(f"{FIELD}: {size} bytes are more than the {MAX_BYTES} that are taken")


def _mentions(data: object, name: str) -> bool:
    if isinstance(data, Mapping):
        return name in data or any(_mentions(one, name) for one in data.values())
    return isinstance(data, list) and any(_mentions(one, name) for one in data)


def _short(text: str) -> str:
    return text if len(text) <= MAX_SAID else text[: MAX_SAID - 3] + "..."
