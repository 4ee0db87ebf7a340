"""``module:name`` of a setting, imported: how users put code of their own into a run. Never evaluated."""

from __future__ import annotations

import difflib
import importlib
import os
import re
import sys
from types import ModuleType
from typing import Any

from operant.errors import ConfigError

__all__ = ["imported"]

_DOTTED = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")
MOST_NAMES = 12  # in a hint


def imported(path: str, *, form: str = "module:name", example: str, here: bool = False) -> Any:
    """What ``module:name`` names. ``here``: modules of the current directory come first, as for ``python -m``."""
    module_name, _, attribute = path.partition(":")
    if not (_DOTTED.fullmatch(module_name) and _DOTTED.fullmatch(attribute)):
        raise ConfigError(f"{path!r} is not {form}", hint=f"for example {example}")
    if here and (directory := os.getcwd()) not in sys.path:
        sys.path.insert(0, directory)
    try:
        found: Any = importlib.import_module(module_name)
    except Exception as error:  # foreign code may raise anything when it is imported
        raise ConfigError(
            f"{path!r}: {module_name} can't be imported: {type(error).__name__}: {error}",
            hint="modules are looked for in the current directory and in the installed packages",
        ) from error
    for part in attribute.split("."):
        if not hasattr(found, part):
            raise ConfigError(f"{path!r}: {module_name} has no {attribute}", hint=_offered(found, part))
        found = getattr(found, part)
    return found


def _offered(owner: Any, name: str) -> str | None:
    """The nearest name, or those that a module or a class defines."""
    near = difflib.get_close_matches(name, dir(owner), 1)
    if near:
        return f"did you mean {near[0]!r}?"
    home = getattr(owner, "__name__", None)
    own = [
        one
        for one, value in vars(owner).items()
        if not one.startswith("_")
        and not isinstance(value, ModuleType)
        and getattr(value, "__module__", home) == home
    ]
    names = ", ".join(own[:MOST_NAMES]) + (", ..." if len(own) > MOST_NAMES else "")
    return f"it has {names}" if own else "it defines no names"
