"""The one reader of settings: a YAML file, the environment with ``.env``, ``--set`` and flags, each over the one before.

Names that begin with ``OPERANT_`` belong to Operant, so one that means nothing is an error. ``DEVICE``, ``LOG_LEVEL``,
``LOG_FORMAT``, ``TRAINING_ENABLED`` and ``API_TOKEN`` are read as well, because people expect them.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Mapping, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import yaml
from dotenv import dotenv_values
from pydantic import ValidationError
from pydantic_settings import (
    BaseSettings,
    InitSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from operant.config.base import Config, config_error
from operant.errors import ConfigError

if TYPE_CHECKING:
    from typing_extensions import Self  # in typing from Python 3.11 on

__all__ = ["LEVELS", "PREFIX", "Settings", "check_level", "read_environment", "read_variable", "read_yaml"]

PREFIX = "OPERANT_"
LEVELS = ("TRACE", "DEBUG", "INFO", "SUCCESS", "WARNING", "ERROR", "CRITICAL")
#: Read elsewhere: where caches are, and what Operant sets for its own processes.
INTERNAL = frozenset({"OPERANT_CACHE", "OPERANT_DESKTOP_OF", "OPERANT_REQUEST_ID"})
#: The layers of the settings that are being loaded, the strongest first. Without any, a model takes arguments only.
_layers: ContextVar[tuple[Mapping[str, Any], ...]] = ContextVar("layers", default=())


class Settings(Config, BaseSettings):
    """A model that is filled from a file, the environment and the command line."""

    model_config = SettingsConfigDict(validate_default=False)
    variables: ClassVar[Mapping[str, str]] = {}
    """Environment variable -> the dotted name of the setting that it stands for."""

    @classmethod
    def settings_customise_sources(
        cls, settings_cls: type[BaseSettings], init_settings: PydanticBaseSettingsSource, *_: Any, **__: Any
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        layers = (InitSettingsSource(settings_cls, dict(layer)) for layer in _layers.get())
        return (init_settings, *layers)

    @classmethod
    def load(
        cls,
        file: Path | None = None,
        *,
        assignments: Sequence[str] = (),
        environ: Mapping[str, str] | None = None,
        flags: Mapping[str, Any] | None = None,
        also: Iterable[str] = (),
    ) -> Self:
        """The settings of a file under those of the environment, of ``assignments`` and of ``flags``.

        An assignment is ``section.key=value`` with a value as YAML has it. Flags have dotted names. A flag that is None
        was not given; inside a section, None takes away what the file says. ``environ`` replaces the process's
        variables, ``also`` names variables that other settings have chosen.
        """
        given = {} if file is None else read_yaml(file)
        said = {name: value for name, value in (flags or {}).items() if value is not None}
        for section, layer in said.items():
            if isinstance(layer, Mapping) and isinstance(given.get(section), dict):
                given[section] = {k: v for k, v in given[section].items() if layer.get(k, ...) is not None}
        layers = (
            _nested({name: _without_none(value) for name, value in said.items()}),
            _nested(dict(_assignment(text) for text in assignments)),
            _nested(cls._from_variables(read_environment(environ, also=also))),
            given,
        )
        token = _layers.set(layers)
        try:
            return cls()
        except ValidationError as error:
            found = config_error(cls, error)
            where = f"{file}: " if file is not None and layers[:3] == ({}, {}, {}) else ""
            more = "" if where or file is None else f" (in {file}, a flag or a variable)"
            raise ConfigError(where + found.message + more, hint=found.hint) from error
        finally:
            _layers.reset(token)

    @classmethod
    def _from_variables(cls, environ: Mapping[str, str]) -> dict[str, Any]:
        """The settings that environment variables stand for."""
        return {setting: environ[name] for name, setting in cls.variables.items() if name in environ}


def read_environment(
    environ: Mapping[str, str] | None = None, *, also: Iterable[str] = (), checked: bool = True
) -> dict[str, str]:
    """The variables of the process over those of ``.env``; empty ones count as not set.

    ``checked`` refuses variables with our prefix that nothing reads.
    """
    path = Path.cwd() / ".env"
    written = dotenv_values(path, encoding="utf-8") if path.is_file() else {}
    given = os.environ if environ is None else environ
    if checked:
        _check_variables(written, also, where=f" (in {path})")
        _check_variables(given, also)
    return {name: value for layer in (written, given) for name, value in layer.items() if value}


def read_variable(name: str) -> str | None:
    """One variable of the process or of ``.env``, such as a token that settings refer to by the variable's name."""
    return read_environment(checked=False).get(name)


def read_yaml(path: Path) -> dict[str, Any]:
    """What a settings file holds."""
    try:
        found = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ConfigError(
            f"there is no file {path}", hint="operant init writes samples of all settings"
        ) from error
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} can't be read: {error}") from error
    except yaml.YAMLError as error:
        reason = " ".join(str(error).split())
        raise ConfigError(f"{path} can't be read, it is not YAML: {reason}") from error
    if not isinstance(found, dict | None):
        raise ConfigError(f"{path} holds no settings", hint="write sections with settings, such as training:")
    return {name: value for name, value in (found or {}).items() if value is not None}


def check_level(level: str) -> str:
    """A level of the log in capitals."""
    if level.upper() not in LEVELS:
        near = difflib.get_close_matches(level.upper(), LEVELS, 1)
        raise ValueError(f"levels are {', '.join(LEVELS)}" + (f"; did you mean {near[0]}?" if near else ""))
    return level.upper()


def _check_variables(names: Iterable[str], also: Iterable[str], where: str = "") -> None:
    """Refuse a variable with our prefix that nothing reads: most likely it is mistyped."""
    from operant.config.service import ServiceConfig

    # A whole section is no value for a variable, and "OPERANT_DESKTOP" is most likely OPERANT_DESKTOPS.
    fields = {field.upper() for field in ServiceConfig.model_fields.keys() - {"desktop"}} | {"CONFIG"}
    for name in names:
        if not name.startswith(PREFIX) or name in INTERNAL | set(also):
            continue
        field = name.removeprefix(PREFIX)
        if field not in fields:
            near = difflib.get_close_matches(field, sorted(fields), 1)
            hint = f"did you mean {PREFIX}{near[0]}?" if near else "docs/service.md lists those that are read"
            raise ConfigError(f"the environment variable {name} means nothing{where}", hint=hint)


def _assignment(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise ConfigError(f"{text!r} sets nothing", hint="write section.key=value")
    try:
        return name.strip(), yaml.safe_load(value)
    except yaml.YAMLError as error:
        raise ConfigError(f"{text!r}: the value is not YAML") from error


def _nested(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Dotted names as sections within sections."""
    nested: dict[str, Any] = {}
    for name, value in settings.items():
        *path, last = name.split(".")
        place = nested
        for part in path:
            place = place.setdefault(part, {})
            if not isinstance(place, dict):
                raise ConfigError(f"{name} is not a setting: {part} has no settings of its own")
        if isinstance(value, Mapping) and isinstance(place.get(last), dict):
            place[last] |= value
        else:
            place[last] = value
    return nested


def _without_none(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return value
    return {name: one for name, one in value.items() if one is not None}
