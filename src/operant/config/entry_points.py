"""Extensions of installed packages, by entry-point group: ``operant.suites`` and ``operant.agents``, for example.

Reads what packages declare; a package is imported when its name is asked for, so a broken one breaks no other.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from loguru import logger

from operant.config.imported import imported
from operant.errors import ConfigError

__all__ = ["find", "installed", "load"]

_warned: set[tuple[str, str, str]] = set()


def installed(group: str, builtin: Mapping[str, str]) -> dict[str, EntryPoint]:
    """Built-in extensions and those of installed packages, by name.

    A name that is taken stays with the first owner, built-in ones before packages; the log warns of the others.
    """
    found = {name: EntryPoint(name, path, group) for name, path in builtin.items()}
    for entry in entry_points(group=group):
        owner = found.setdefault(entry.name, entry)
        clash = (group, entry.name, entry.value)
        if owner.value != entry.value and clash not in _warned:
            _warned.add(clash)
            logger.warning(
                "{}: the name {!r} of {} is taken by {}; rename or uninstall one of them",
                group,
                entry.name,
                _package(entry),
                _package(owner),
            )
    return found


def find(name: str, group: str, builtin: Mapping[str, str]) -> EntryPoint | None:
    """The extension of that name; a built-in one without a search of the installed packages, which takes a while."""
    if name in builtin:
        return EntryPoint(name, builtin[name], group)
    return installed(group, builtin).get(name)


def load(entry: EntryPoint, *, form: str = "module:name") -> Any:
    """Import what an entry point names."""
    path = entry.value.partition("[")[0].strip()  # extras may follow
    try:
        return imported(path, form=form, example=f"my_package:{form.partition(':')[2]}")
    except ConfigError as error:
        raise ConfigError(
            f"{entry.name!r} of {_package(entry)}: {error.message}",
            hint=f"mend or uninstall that package; {error.hint}"
            if error.hint
            else "mend or uninstall that package",
        ) from error.__cause__ or error


def _package(entry: EntryPoint) -> str:
    return f"the package {entry.dist.name} {entry.dist.version}" if entry.dist is not None else "operant"
