"""Functions that a model wrote and that passed admission: kept in the user's data directory, loaded in sandboxes only.

``apis/APPLICATION/FUNCTION`` holds the code, its tests, the evidence and where it came from. Code is read as text here. A
function whose code is not what was admitted, or that was revoked, is not loaded. Knows nothing of how one is admitted:
see ``operant.building``.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from operant.atomic_files import replacing, write_atomically
from operant.calls.declaration import Function, nearest
from operant.calls.reading import read_api
from operant.errors import ConfigError, UnknownFunction

__all__ = [
    "AdmittedFunction",
    "admitted_code",
    "admitted_functions",
    "code_files",
    "declared",
    "revoke",
    "store",
    "stored_functions",
]

PACKAGE = "admitted"  # inside a desktop
CODE, TESTS, EVIDENCE, PROVENANCE, REVOKED = (
    "code.py",
    "tests.json",
    "evidence.json",
    "provenance.json",
    "revoked.json",
)
LARGEST = 1 << 20  # bytes of one file

State = Literal["admitted", "revoked", "changed", "unreadable"]


@dataclass(frozen=True, slots=True)
class AdmittedFunction:
    """One function of the store."""

    api: str
    name: str
    place: Path
    state: State
    """``changed`` means that the code is not what was admitted; only ``admitted`` functions are loaded."""
    function: Function | None = None
    wm_class: str = ""
    code: str = ""
    provenance: Mapping[str, Any] | None = None

    @property
    def full_name(self) -> str:
        return f"{self.api}.{self.name}"


def store(
    api: str,
    name: str,
    code: str,
    *,
    tests: object,
    evidence: Mapping[str, Any],
    provenance: Mapping[str, Any],
    wm_class: str = "",
) -> Path:
    """Keep a function that was admitted; one of the same name is replaced."""
    where = _root() / api / name
    about = {"sha256": _digest(code), "wm_class": wm_class, **evidence}
    with replacing(where) as new:
        new.mkdir(parents=True)
        (new / CODE).write_text(code, encoding="utf-8")
        for file, content in ((TESTS, tests), (EVIDENCE, about), (PROVENANCE, dict(provenance))):
            (new / file).write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", "utf-8")
    return where


def stored_functions() -> list[AdmittedFunction]:
    """Every function of the store, revoked ones too."""
    found = sorted(one.parent for one in _root().glob(f"*/*/{CODE}"))
    return [_read(one) for one in found if not one.name.startswith(".")]


def admitted_functions() -> list[AdmittedFunction]:
    """Those that are loaded."""
    return [one for one in stored_functions() if one.state == "admitted"]


def admitted_code() -> dict[str, bytes]:
    """The files of these functions for the archive that a desktop is given, by path."""
    files: dict[str, bytes] = {}
    for one in admitted_functions():
        files |= code_files(one.api, one.name, one.code)
    return files


def code_files(api: str, name: str, code: str) -> dict[str, bytes]:
    """Where the code of one function lies in the archive."""
    return {
        f"{PACKAGE}/__init__.py": b"",
        f"{PACKAGE}/{api}/__init__.py": b"",
        f"{PACKAGE}/{api}/{name}.py": code.encode(),
    }


def declared(api: str, name: str, code: str) -> Function:
    """The one public function of a module, as a desktop finds it; ``ConfigError`` if there is no such or another."""
    functions = read_api(api, code).functions
    if [one.name for one in functions] != [name]:
        names = ", ".join(one.name for one in functions)
        raise ConfigError(f"the module must have one public function, {name}, and has {names}")
    return replace(functions[0], module=f"{PACKAGE}.{api}.{name}")


def revoke(name: str, reason: str = "") -> AdmittedFunction:
    """Load a function no more. Its files stay, with the time and the reason."""
    known = {one.full_name: one for one in stored_functions()}
    if name not in known:
        said = nearest(name, known) or (f"; there are {', '.join(known)}" if known else "; none was admitted")
        raise UnknownFunction(f"no function {name[:60]!r} was admitted{said}")
    at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    about = json.dumps({"revoked": at, "reason": reason}, indent=2) + "\n"
    write_atomically(known[name].place / REVOKED, about)
    return _read(known[name].place)


def _read(where: Path) -> AdmittedFunction:
    api, name = where.parent.name, where.name
    bare = AdmittedFunction(api, name, where, "unreadable")
    try:
        code = (where / CODE).read_bytes()[:LARGEST].decode()
        evidence = json.loads((where / EVIDENCE).read_bytes()[:LARGEST])
        provenance = json.loads((where / PROVENANCE).read_bytes()[:LARGEST])
        function = declared(api, name, code)
        wm_class, admitted = str(evidence["wm_class"]), evidence["sha256"] == _digest(code)
    except (OSError, ValueError, KeyError, TypeError, RecursionError, ConfigError):
        return bare
    state: State = "revoked" if (where / REVOKED).exists() else "admitted" if admitted else "changed"
    return AdmittedFunction(api, name, where, state, function, wm_class, code, provenance)


def _digest(code: str) -> str:
    return hashlib.sha256(code.encode()).hexdigest()


def _root() -> Path:
    # Formats of actions import this module, and settings are heavy.
    from operant.config.places import data_dir

    return data_dir(checked=False) / "apis"
