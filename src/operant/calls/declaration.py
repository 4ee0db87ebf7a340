"""What is known of a function that can be called: its name, parameters, docstring and how long it may take.

Checks arguments, which models and clients write: every size is bounded, nothing is evaluated, and each complaint says
what was expected. Knows no desktop.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from operant.errors import BadArguments

__all__ = ["MAX_DEPTH", "MAX_ITEMS", "MAX_TEXT", "Api", "Function", "Parameter", "ValueType", "nearest"]

MAX_TEXT = 100_000  # characters of one text
MAX_ITEMS = 10_000  # values of one call, those in lists counted
MAX_DEPTH = 16
MAX_TOTAL = 200_000  # characters of all texts of one call
MAX_QUOTED = 60
REQUIRED = object()

Kind = Literal["text", "integer", "number", "boolean", "list", "record", "choice", "anything"]
_SCHEMAS: Mapping[str, str] = {
    "text": "string",
    "integer": "integer",
    "number": "number",
    "boolean": "boolean",
    "list": "array",
    "record": "object",
}
_SAID: Mapping[str, str] = {
    "text": "a text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "list": "a list",
    "record": "an object",
    "anything": "a JSON value",
}


@dataclass(frozen=True, slots=True)
class ValueType:
    """The type of an argument, as its annotation says it."""

    kind: Kind
    item: ValueType | None = None
    """Of a list's values, or of a record's."""
    choices: tuple[object, ...] = ()
    optional: bool = False
    """Whether None is a value too."""
    written: str = ""
    """The annotation itself."""

    def check(self, value: object, where: str, budget: _Budget, depth: int = MAX_DEPTH) -> None:
        """Raise ``BadArguments`` unless the value is of this type and bounded."""
        budget.spend(value, where)
        if depth == 0:
            raise BadArguments(f"{where} is nested too deeply")
        if value is None and self.optional:
            return
        if not self._fits(value):
            raise BadArguments(f"{where} must be {self.said()}, not {quoted(value)}")
        if isinstance(value, list | tuple):
            for index, one in enumerate(value):
                (self.item or ANYTHING).check(one, f"{where}[{index}]", budget, depth - 1)
        elif isinstance(value, Mapping):
            for key, one in value.items():
                TEXT.check(key, f"a key of {where}", budget, depth - 1)
                (self.item or ANYTHING).check(one, f"{where}[{quoted(key)}]", budget, depth - 1)

    def check_alone(self, value: object, where: str) -> None:
        """The same for a value that is not one of several."""
        self.check(value, where, _Budget())

    def _fits(self, value: object) -> bool:
        match self.kind:
            case "text":
                return isinstance(value, str)
            case "integer":
                return isinstance(value, int) and not isinstance(value, bool)
            case "number":
                return isinstance(value, int | float) and not isinstance(value, bool)
            case "boolean":
                return isinstance(value, bool)
            case "list":
                return isinstance(value, list | tuple)
            case "record":
                return isinstance(value, Mapping)
            case "choice":
                return any(type(value) is type(choice) and value == choice for choice in self.choices)
        return value is None or isinstance(value, str | int | float | list | tuple | Mapping)

    def said(self) -> str:
        """The type in words."""
        choices = ", ".join(repr(choice) for choice in self.choices)
        said = f"one of {choices}" if choices else _SAID[self.kind]
        return f"{said} or null" if self.optional else said

    def schema(self) -> dict[str, Any]:
        """The type as JSON Schema."""
        if self.kind == "choice":
            kinds = {type(choice) for choice in self.choices}
            form: dict[str, Any] = {"enum": list(self.choices)}
            if kinds == {str}:
                form = {"type": "string", **form}
            return form
        if self.kind == "anything":
            return {}
        form = {"type": _SCHEMAS[self.kind]}
        if self.kind == "list":
            form["items"] = (self.item or ANYTHING).schema()
        elif self.kind == "record":
            form["additionalProperties"] = (self.item or ANYTHING).schema()
        return {"anyOf": [form, {"type": "null"}]} if self.optional else form


TEXT, ANYTHING = ValueType("text"), ValueType("anything")


@dataclass(slots=True)
class _Budget:
    """What one call may still carry."""

    items: int = MAX_ITEMS
    characters: int = MAX_TOTAL

    def spend(self, value: object, where: str) -> None:
        self.items -= 1
        if self.items < 0:
            raise BadArguments(f"a call with more than {MAX_ITEMS} values")
        if isinstance(value, str):
            if len(value) > MAX_TEXT:
                raise BadArguments(
                    f"{where} is a text of {len(value)} characters, over the limit of {MAX_TEXT}"
                )
            if "\0" in value or any("\ud800" <= character <= "\udfff" for character in value):
                raise BadArguments(
                    f"{where} holds a character that no text may: NUL, or half of a surrogate pair"
                )
            self.characters -= len(value)
            if self.characters < 0:
                raise BadArguments(f"a call with more than {MAX_TOTAL} characters")
        elif isinstance(value, int) and not -(2**63) <= value < 2**63:
            raise BadArguments(f"{where} is an integer of {value.bit_length()} bits")
        elif isinstance(value, float) and not math.isfinite(value):
            raise BadArguments(f"{where} is {value}")
        elif isinstance(value, list | tuple | Mapping) and len(value) > self.items:
            raise BadArguments(f"a call with more than {MAX_ITEMS} values")


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a function."""

    name: str
    type: ValueType
    default: Any = field(default=REQUIRED)

    @property
    def required(self) -> bool:
        return self.default is REQUIRED

    def __str__(self) -> str:
        written = f"{self.name}: {self.type.written}"
        return written if self.required else f"{written} = {self.default!r}"


@dataclass(frozen=True, slots=True)
class Function:
    """A function that an agent may call."""

    api: str
    """The application, such as ``mousepad``."""
    name: str
    """Within its application, such as ``find_and_replace``."""
    parameters: tuple[Parameter, ...]
    doc: str
    result: str
    """The annotation of what it returns."""
    time_limit_s: float = 10.0
    module: str = ""
    """The module inside a desktop that holds it, where that is not the application's own."""

    @property
    def full_name(self) -> str:
        return f"{self.api}.{self.name}"

    @property
    def tool_name(self) -> str:
        """A name for protocols that allow no dot in it."""
        return f"{self.api}_{self.name}"

    @property
    def signature(self) -> str:
        """As a line of Python: ``files.move(source: str, target: str, overwrite: bool = False) -> str``."""
        return f"{self.full_name}({', '.join(map(str, self.parameters))}) -> {self.result}"

    def bind(self, args: Sequence[object], kwargs: Sequence[tuple[str, object]]) -> dict[str, Any]:
        """The arguments by name, checked; ``BadArguments`` says what is wrong with them."""
        names = [one.name for one in self.parameters]
        if len(args) > len(names):
            raise BadArguments(
                f"{self.full_name} takes {len(names)} arguments, and {len(args)} were given: {self.signature}"
            )
        given: dict[str, object] = dict(zip(names, args, strict=False))
        for name, value in kwargs:
            if not isinstance(name, str) or name not in names:
                said = nearest(name, names) if isinstance(name, str) else ""
                raise BadArguments(
                    f"{self.full_name} takes no argument {quoted(name)}{said}: {self.signature}"
                )
            if name in given:
                raise BadArguments(f"{self.full_name} got {name!r} twice")
            given[name] = value
        budget = _Budget()
        for one in self.parameters:
            if one.name in given:
                one.type.check(given[one.name], f"{self.full_name}: {one.name}", budget)
            elif one.required:
                raise BadArguments(f"{self.full_name} needs {one.name}: {self.signature}")
        return given

    def schema(self) -> dict[str, Any]:
        """The parameters as JSON Schema, as tools of hosted models and of MCP have them."""
        properties = {}
        for one in self.parameters:
            properties[one.name] = one.type.schema()
            if not one.required and one.default is not None:
                properties[one.name]["default"] = one.default
        return {
            "type": "object",
            "properties": properties,
            "required": [one.name for one in self.parameters if one.required],
            "additionalProperties": False,
        }


@dataclass(frozen=True, slots=True)
class Api:
    """The functions of one application."""

    name: str
    doc: str
    wm_class: str
    """The class of the windows that it belongs to; empty if it belongs to none."""
    functions: tuple[Function, ...]


def nearest(word: str, choices: Iterable[str]) -> str:
    """A piece of a sentence that names the closest choice; empty if none is close."""
    close = difflib.get_close_matches(word[:MAX_QUOTED], list(choices), n=1)
    return f" (did you mean {close[0]}?)" if close else ""


def quoted(value: object) -> str:
    """A value in a message, short whatever it is."""
    if isinstance(value, str):
        return repr(value if len(value) <= MAX_QUOTED else value[: MAX_QUOTED - 3] + "...")
    if value is None:
        return "null"
    if isinstance(value, bool | float):
        return str(value).lower()
    if isinstance(value, int):
        return str(value) if value.bit_length() < 128 else f"an integer of {value.bit_length()} bits"
    if isinstance(value, list | tuple | Mapping):
        return f"a {'list' if not isinstance(value, Mapping) else 'record'} of {len(value)}"
    return f"a {type(value).__name__}"
