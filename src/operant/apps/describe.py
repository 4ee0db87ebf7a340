"""What an application's module offers, read from its annotations and docstrings."""

from __future__ import annotations

import dataclasses
import inspect
import sys
import typing

from operant.apps.base import App

__all__ = ["moves_of", "state_fields"]

#: How the annotation of a function ends that is a move, a goal or part of an oracle.
RESULTS = ("Move", "Goal", "Milestone", "Goals", "Milestones")


def state_fields(app: App) -> dict[str, str]:
    """Name and type of each field of what ``state`` returns; empty if the application has no state of its own."""
    result = inspect.signature(type(app).state).return_annotation
    module = sys.modules[type(app).__module__]
    kind = getattr(module, result.partition(" |")[0], None) if isinstance(result, str) else result
    if not (isinstance(kind, type) and dataclasses.is_dataclass(kind)):
        return {}
    return {
        one.name: one.type if isinstance(one.type, str) else str(one.type) for one in dataclasses.fields(kind)
    }


def moves_of(app: App) -> dict[str, str]:
    """The moves of its module: name and first line of the docstring."""
    module = sys.modules[type(app).__module__]
    found: dict[str, str] = {}
    for name, function in inspect.getmembers(module, inspect.isfunction):
        public = not name.startswith("_") and function.__module__ == module.__name__
        result = typing.cast(object, inspect.signature(function).return_annotation)
        kind = result if isinstance(result, str) else getattr(result, "__name__", "")
        if public and kind.split(".")[-1].split("[")[0] in RESULTS:
            found[name] = (inspect.getdoc(function) or "").partition("\n")[0]
    return found
