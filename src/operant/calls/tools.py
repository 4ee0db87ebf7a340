"""Functions as tools of a protocol: a name without a dot, a JSON schema, and a call read back from them.

One home for hosted models' APIs and for MCP. Knows nothing of what a protocol puts around a tool.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from operant.calls.catalog import offered_functions
from operant.calls.declaration import Function, nearest
from operant.errors import UnknownFunction
from operant.types import Action

__all__ = ["function_of_tool", "tool_call", "tool_schema"]


def tool_schema(function: Function) -> dict[str, Any]:
    """The parameters as JSON Schema without null: some protocols refuse alternatives, and left out means null."""
    form = function.schema()
    properties = {name: _single(one) for name, one in form["properties"].items()}
    return {"type": "object", "properties": properties, "required": form["required"]}


def _single(form: dict[str, Any]) -> dict[str, Any]:
    return form["anyOf"][0] if "anyOf" in form else form


def function_of_tool(name: str) -> Function | None:
    """The function of a tool's name, whether it is offered now or not; None for a name of something else."""
    return next((one for one in _every() if one.tool_name == name), None)


def tool_call(name: str, arguments: Mapping[str, object]) -> Action:
    """The call that a tool's name and arguments ask for; the desktop checks the arguments."""
    function = function_of_tool(name)
    if function is None:
        names = [one.tool_name for one in _every()]
        raise UnknownFunction(f"there is no tool {name[:60]!r}{nearest(name, names)}")
    return Action.call(function.full_name, arguments)


def _every() -> tuple[Function, ...]:
    return offered_functions("api", everything=True)
