"""``module:name`` of a setting, imported: how users put code of their own into a run. Never evaluated."""

from __future__ import annotations

import difflib
import importlib
import re
from typing import Any

from operant.errors import ConfigError

__all__ = ["imported"]

_DOTTED = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")


def imported(path: str, *, form: str = "module:name", example: str) -> Any:
    """What ``module:name`` names."""
    module_name, _, attribute = path.partition(":")
    if not (_DOTTED.fullmatch(module_name) and _DOTTED.fullmatch(attribute)):
        raise ConfigError(f"{path!r} is not {form}", hint=f"for example {example}")
    try:
        found: Any = importlib.import_module(module_name)
    except Exception as error:  # foreign code may raise anything when it is imported
        raise ConfigError(
            f"{path!r}: {module_name} can't be imported: {type(error).__name__}: {error}",
            hint="modules are looked for in the current directory and in the installed packages",
        ) from error
    for part in attribute.split("."):
        if not hasattr(found, part):
            near = difflib.get_close_matches(part, dir(found), 1)
            hint = f"did you mean {near[0]!r}?" if near else None
            raise ConfigError(f"{path!r}: {module_name} has no {attribute}", hint=hint)
        found = getattr(found, part)
    return found
