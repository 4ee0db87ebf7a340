"""Criteria on settings that an application stored: in an ini or JSON file, or through GSettings."""

from __future__ import annotations

import json
import math
from typing import Any, Literal

from pydantic import Field, StrictBool, StrictFloat, StrictInt, StrictStr, model_validator

from operant.errors import TaskError
from operant.tasks.criteria.base import Verdict, World
from operant.tasks.criteria.places import SandboxPath, is_real, read_file
from operant.tasks.criteria.question import NoEvidence, Question, Refuted

__all__ = ["Setting"]

COMMAND_TIMEOUT_S = 10.0
MAX_SETTINGS = 4 << 20
TRUE, FALSE = ("true", "yes", "on", "1"), ("false", "no", "off", "0")


class Setting(Question):
    """A setting has that value: of a ``file``, or of a GSettings ``schema``."""

    key: str = Field(min_length=1)
    """Name of the setting; in JSON, the names that lead to it with dots between them."""
    equals: StrictBool | StrictInt | StrictFloat | StrictStr
    """Its value."""
    file: SandboxPath | None = None
    """The file that it stands in; relative paths start at HOME."""
    section: str | None = None
    """Section of an ini file; without it, the key may stand in any. In JSON, what comes before the key."""
    format: Literal["ini", "json"] = "ini"
    """What kind of file it is."""
    schema_id: str | None = Field(None, alias="schema")
    """GSettings schema, such as org.xfce.mousepad.preferences.view; ``schema`` in task files."""

    @model_validator(mode="after")
    def _one_place(self) -> Setting:
        if (self.file is None) == (self.schema_id is None):
            raise TaskError("a setting needs either a file or a schema")
        return self

    def judge(self, world: World) -> Verdict:
        if self.schema_id is not None:
            found = self._of_gsettings(world, self.schema_id)
        else:
            assert self.file is not None
            text = read_file(world, self.file, MAX_SETTINGS).decode("utf-8", "replace")
            if not is_real(world.desktop, self.file):
                raise Refuted(f"{self.file} is reached over a symbolic link")
            found = (
                _of_json(text, self._names())
                if self.format == "json"
                else _of_ini(text, self.section, self.key)
            )
        holds = _same(found, self.equals, typed=self.format == "json" and self.file is not None)
        return Verdict.compared(holds, f"{self.key} is {str(found)[:80]!r}", repr(str(self.equals)[:80]))

    def _names(self) -> list[str]:
        return [*(self.section.split(".") if self.section else []), *self.key.split(".")]

    def _of_gsettings(self, world: World, schema: str) -> str:
        """The value that programs would get, the default included."""
        result = world.desktop.run(["gsettings", "get", schema, self.key], timeout_s=COMMAND_TIMEOUT_S)
        if result.returncode != 0:
            raise NoEvidence(f"{schema} {self.key}: {result.stderr.decode('utf-8', 'replace').strip()[:200]}")
        return _unquoted(result.output.strip())


def _of_ini(text: str, section: str | None, key: str) -> str:
    """The value that stands last, as the programs that read such files take it."""
    found: str | None = None
    current: str | None = None
    for line in text.splitlines():
        line = line.strip()
        if line.startswith("[") and line.endswith("]"):
            current = line[1:-1].strip()
        elif "=" in line and not line.startswith(("#", ";")) and section in (None, current):
            name, _, value = line.partition("=")
            if name.strip() == key:
                found = value.strip()
    if found is None:
        raise Refuted(f"{key} is not set")
    return found


def _of_json(text: str, names: list[str]) -> Any:
    try:
        found = json.loads(text, parse_int=lambda digits: int(digits) if len(digits) < 30 else float(digits))
    except (ValueError, RecursionError) as error:
        raise NoEvidence(f"not JSON: {str(error)[:80]}") from error
    for name in names:
        if isinstance(found, dict) and name in found:
            found = found[name]
        elif isinstance(found, list) and name.isdecimal() and int(name[:9]) < len(found):
            found = found[int(name[:9])]
        else:
            raise Refuted(f"{'.'.join(names)} is not set")
    return found


def _same(found: Any, wanted: bool | int | float | str, *, typed: bool) -> bool:
    if typed:
        alike = isinstance(found, bool) == isinstance(wanted, bool) and isinstance(found, str) == isinstance(
            wanted, str
        )
        return alike and bool(found == wanted)
    text = str(found)
    if isinstance(wanted, bool):
        return text.lower() in (TRUE if wanted else FALSE)
    if isinstance(wanted, str):
        return text == wanted or _unquoted(text) == wanted
    try:
        return math.isclose(float(text), wanted, rel_tol=1e-9, abs_tol=1e-12)
    except ValueError:
        return False


def _unquoted(text: str) -> str:
    """A value as GVariant writes it, without its quotes or its type."""
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "'\"":
        return text[1:-1].replace("\\" + text[0], text[0]).replace("\\\\", "\\")
    kind, _, rest = text.partition(" ")
    return (
        rest if kind in ("uint32", "int64", "uint64", "byte", "int16", "uint16", "double") and rest else text
    )
