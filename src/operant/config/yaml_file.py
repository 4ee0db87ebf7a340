"""A settings file: YAML that is checked against its model, with dotted overrides on top."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

import yaml

from operant.config.base import Config
from operant.errors import ConfigError

__all__ = ["load_yaml"]

Model = TypeVar("Model", bound=Config)


def load_yaml(path: Path, model: type[Model], overrides: Sequence[str] = ()) -> Model:
    """The settings of a file. An override is ``section.key=value``, with a value as YAML has it."""
    try:
        found = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ConfigError(f"there is no file {path}") from error
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        reason = str(error).replace("\n", " ")
        raise ConfigError(f"{path} can't be read: {reason}") from error
    if not isinstance(found, dict):
        raise ConfigError(f"{path} holds no settings")
    for override in overrides:
        _apply(found, override)
    try:
        return model.build(**found)  # type: ignore[no-any-return]
    except ConfigError as error:
        raise ConfigError(f"{path}: {error.message}", hint=error.hint) from error


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
