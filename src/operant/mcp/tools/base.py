"""What a tool is: a name, a description, checked arguments, and a function of a session.

Knows nothing of any particular tool, nor of the protocol. Wrong arguments are an ``InvalidAction`` that names them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from operant.actions.payload import nearest
from operant.errors import InvalidAction
from operant.mcp.session import DesktopSession

__all__ = ["Acting", "Arguments", "Tool", "ToolReply"]


class Arguments(BaseModel):
    """The arguments of one tool: each field a type and a description."""

    model_config = ConfigDict(extra="forbid")


class Acting(Arguments):
    """The arguments of a tool that changes what is on the screen."""

    screenshot: bool = Field(True, description="Whether to answer with a screenshot of the settled screen.")


@dataclass(frozen=True)
class ToolReply:
    """What a tool answers: text, and where it shows something, pixels."""

    text: str = ""
    picture: npt.NDArray[np.uint8] | None = None


A = TypeVar("A", bound=Arguments)


@dataclass(frozen=True)
class Tool(Generic[A]):
    """``run`` is called in a thread of its own."""

    name: str
    description: str
    arguments: type[A]
    run: Callable[[DesktopSession, A], ToolReply]
    read_only: bool = False

    def schema(self) -> dict[str, Any]:
        """The arguments as JSON Schema, in the plain form that every client understands."""
        schema = self.arguments.model_json_schema()
        form = {"type": "object", "properties": _plain(schema.get("properties", {}))}
        return form | ({"required": schema["required"]} if "required" in schema else {})

    def call(self, session: DesktopSession, given: Mapping[str, Any]) -> ToolReply:
        try:
            checked = self.arguments.model_validate(given)
        except ValidationError as error:
            raise self._refusal(error) from error
        return self.run(session, checked)

    def _refusal(self, error: ValidationError) -> InvalidAction:
        """The first mistake in a sentence. A mistyped name comes first: it is also why another one is missing."""
        found = error.errors(include_url=False, include_input=False)
        names = list(self.arguments.model_fields)
        listed = f"its arguments are: {', '.join(names) or 'none'}"
        for one in found:
            if one["type"] == "extra_forbidden":
                wrong = str(one["loc"][-1])[:80]
                near = nearest(wrong.lower(), names)
                return InvalidAction(
                    f"{self.name} has no argument {wrong!r}", hint=f"{near} {listed}" if near else listed
                )
        where = ".".join(str(part) for part in found[0]["loc"])
        said = "it is missing" if found[0]["type"] == "missing" else found[0]["msg"]
        return InvalidAction(f"{self.name}: {where[:80]}: {said}", hint=listed)


def _plain(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Without titles, and optional values without null: some clients refuse alternatives."""
    plain: dict[str, Any] = {}
    for name, form in properties.items():
        alternatives = [one for one in form.get("anyOf", ()) if one.get("type") != "null"]
        merged = {**form, **alternatives[0]} if len(alternatives) == 1 else dict(form)
        dropped = {"title", "anyOf"} | ({"default"} if merged.get("default") is None else set())
        plain[name] = {key: value for key, value in merged.items() if key not in dropped}
    return plain
