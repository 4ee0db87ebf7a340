"""A settings file: YAML that is checked against its model, with dotted overrides on top."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import yaml

from operant.config.base import Config
from operant.errors import ConfigError

__all__ = ["build_over", "load_yaml", "overlaid", "read_yaml"]

Model = TypeVar("Model", bound=Config)


def load_yaml(
    path: Path, model: type[Model], overrides: Sequence[str] = (), **sections: Mapping[str, Any]
) -> Model:
    """The settings of a file. An override is ``section.key=value``, with a value as YAML has it; ``sections`` hold
    values over those of the file."""
    found = read_yaml(path)
    for override in overrides:
        _apply(found, override)
    for name, layer in sections.items():
        if layer:
            found[name] = overlaid(found.get(name), layer)
    try:
        return model.build(**found)  # type: ignore[no-any-return]
    except ConfigError as error:
        raise ConfigError(f"{path}: {error.message}", hint=error.hint) from error


def read_yaml(path: Path) -> dict[str, Any]:
    """What a file holds."""
    try:
        found = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ConfigError(f"there is no file {path}") from error
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        reason = str(error).replace("\n", " ")
        raise ConfigError(f"{path} can't be read: {reason}") from error
    if not isinstance(found, dict):
        raise ConfigError(f"{path} holds no settings")
    return found


def overlaid(section: Any, layer: Mapping[str, Any]) -> Any:
    """A section of a file with other values over it; None takes one away. What is no section stays, to be refused."""
    if not isinstance(section, Mapping | None):
        return section
    return {name: value for name, value in {**(section or {}), **layer}.items() if value is not None}


def build_over(model: type[Model], path: Path | None, *layers: Mapping[str, Any]) -> Model:
    """The settings of a file, if there is one, under those of each layer; what is None there was not said.

    A layer adds to a section of the file, takes away what is None in it, and replaces everything else.
    """
    values = {} if path is None else read_yaml(path)
    for layer in layers:
        for name, value in layer.items():
            if isinstance(value, Mapping):
                values[name] = overlaid(values.get(name), value)
            elif value is not None:
                values[name] = value
    try:
        return model.build(**values)  # type: ignore[no-any-return]
    except ConfigError as error:
        where = "" if path is None else f" (in {path}, a flag or a variable)"
        raise ConfigError(error.message + where, hint=error.hint) from error


def _apply(settings: dict[str, Any], override: str) -> None:
    name, equals, text = override.partition("=")
    if not equals or not name:
        raise ConfigError(f"{override!r} sets nothing", hint="write section.key=value")
    *path, last = name.strip().split(".")
    place: Any = settings
    for part in path:
        place = place.setdefault(part, {}) if isinstance(place, dict) else None
        if not isinstance(place, dict):
            raise ConfigError(f"{name} is not a setting: {part} has no settings of its own")
    try:
        place[last] = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ConfigError(f"{override!r}: the value is not YAML") from error
