"""Answers in the forms that OSWorld's guest server gives: a text, a JSON object, a status and a message."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import Response

from operant.errors import InvalidAction

__all__ = ["command_of", "error", "flag", "jsonified", "seconds", "text", "text_field"]

LONGEST_S = 3600.0


def text(said: str, status: int = 200) -> Response:
    return Response(said, status, media_type="text/html; charset=utf-8")


def jsonified(value: Mapping[str, Any] | Sequence[Any], status: int = 200) -> Response:
    return Response(json.dumps(value), status, media_type="application/json")


def error(status: int, message: str) -> Response:
    return jsonified({"status": "error", "message": message}, status)


# What a client may say, checked before anything is done with it.


def command_of(data: Mapping[str, Any]) -> str | list[str]:
    command = data.get("command")
    if isinstance(command, str):
        return command
    if isinstance(command, list) and all(isinstance(word, str) for word in command):
        return command
    raise InvalidAction("command is a text or a list of texts")


def flag(data: Mapping[str, Any], name: str) -> bool:
    return bool(data.get(name, False))


def seconds(data: Mapping[str, Any], name: str, usual: float) -> float:
    given = data.get(name, usual)
    if isinstance(given, bool) or not isinstance(given, (int, float)) or not 0 < given <= LONGEST_S:
        raise InvalidAction(f"{name} is a number of seconds up to {LONGEST_S:g}")
    return float(given)


def text_field(data: Mapping[str, Any], name: str) -> str:
    """A text, empty if it is not there."""
    given = data.get(name) or ""
    if not isinstance(given, str):
        raise InvalidAction(f"{name} is a text")
    return given
