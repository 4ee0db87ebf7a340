"""Providers by name: the places where desktops can be, behind one protocol.

To add one: write ``operant/desktop/providers/<name>.py`` and one line in ``PROVIDERS``, or, in a package of your own, an
entry point of the group ``operant.providers``: name -> ``package:Provider``.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from operant.config.desktop import DesktopConfig
from operant.config.entry_points import find, installed, load
from operant.config.provider import ProviderSettings
from operant.config.settings import read_yaml
from operant.desktop.providers.base import Provider
from operant.desktop.providers.mixed import ProviderMix
from operant.errors import ConfigError, UnknownProvider
from operant.extras import missing_package

__all__ = ["GROUP", "PROVIDERS", "make_provider", "open_provider", "provider_name", "provider_names"]

#: The entry-point group of packages that bring providers.
GROUP = "operant.providers"
FORM = "module:Provider"

#: name -> "module:Provider", imported when it is asked for
PROVIDERS: dict[str, str] = {
    "sandbox": "operant.desktop.providers.sandbox:SandboxProvider",
    "remote": "operant.desktop.providers.remote:RemoteProvider",
    "osworld": "operant.desktop.providers.osworld:OsworldProvider",
    "docker": "operant.desktop.providers.docker:DockerProvider",
    "aws": "operant.desktop.providers.aws:AwsProvider",
    "vm": "operant.desktop.providers.vm:VmProvider",
}


def provider_names() -> list[str]:
    """Installed providers: the built-in ones, and those of packages."""
    return list(installed(GROUP, PROVIDERS))


def open_provider(
    settings: ProviderSettings, config: DesktopConfig, count: int | None = None
) -> Provider[Any]:
    """The provider that the settings name, checked, with leftovers of crashed owners removed; no desktop is started.

    ``count`` is how many desktops will be wanted at once.
    """
    if settings.path_to_vm is not None and "vm" not in (settings.provider or ("vm",)):
        raise ConfigError(
            f"--path-to-vm is for the provider vm, not for {', '.join(settings.provider)}",
            hint="leave --provider out, or say --provider vm",
        )
    given: dict[str, dict[str, Any]] = {}
    if settings.path_to_vm is not None:
        given["vm"] = {"path": settings.path_to_vm}
    provider = make_provider(_chosen(settings), settings.provider_config, given)
    try:
        _check_room(provider, count)
        provider.check(config)
        provider.sweep()
    except BaseException:
        provider.close()
        raise
    return provider


def provider_name(settings: ProviderSettings) -> str:
    """What the settings choose, in a word: ``sandbox``, or ``docker,remote``."""
    return ",".join(_chosen(settings))


def _chosen(settings: ProviderSettings) -> tuple[str, ...]:
    if settings.provider:
        return settings.provider
    if settings.path_to_vm is not None:
        return ("vm",)
    named = () if settings.provider_config is None else tuple(map(str, read_yaml(settings.provider_config)))
    return named or ("sandbox",)


def make_provider(
    names: Sequence[str], file: Path | None = None, given: dict[str, dict[str, Any]] | None = None
) -> Provider[Any]:
    """The provider of that name, or a mix of several; ``given`` goes over the sections of the file."""
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated is not None:
        raise ConfigError(f"the provider {repeated!r} is named twice", hint="its section holds its size")
    sections = {} if file is None else read_yaml(file)
    _check_sections(sections, file)
    parts = [_make(name, sections.get(name), (given or {}).get(name, {}), file) for name in names]
    limited = any(part.settings.desktops is not None for part in parts)
    return parts[0] if len(parts) == 1 and not limited else ProviderMix(parts)


def _make(name: str, section: Any, given: dict[str, Any], file: Path | None) -> Provider[Any]:
    kind = _load(name)
    if section is not None and not isinstance(section, dict):
        raise ConfigError(f"{file}: {name} must be a section with settings (got {section!r})")
    try:
        settings = kind.settings_type.build(**{**(section or {}), **given})
    except ConfigError as error:
        where = f"{file}: {name}" if file is not None else f"provider {name}"
        hint = error.hint or f"--provider-config names a file with a section {name}; see docs/providers.md"
        raise ConfigError(f"{where}: {error.message}", hint=hint) from error
    return kind(settings)


def _load(name: str) -> type[Provider[Any]]:
    entry = find(name, GROUP, PROVIDERS)
    if entry is None:
        names = provider_names()
        near = difflib.get_close_matches(name, names, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"providers: {', '.join(names)}"
        raise UnknownProvider(f"there is no provider {name!r}", hint=hint)
    try:
        found = load(entry, form=FORM)
    except ConfigError as error:
        if missing := missing_package(f"the provider {name!r}", error.__cause__):
            raise missing from error
        raise
    if not (isinstance(found, type) and issubclass(found, Provider)):
        raise UnknownProvider(
            f"{entry.value} is no provider", hint="subclass operant.desktop.providers.base.Provider"
        )
    return found


def _check_sections(sections: dict[str, Any], file: Path | None) -> None:
    if not sections:
        return
    names = provider_names()
    for name in sections:
        if name not in names:
            near = difflib.get_close_matches(str(name), names, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"its sections are providers: {', '.join(names)}"
            raise ConfigError(f"{file}: there is no provider {name!r}", hint=hint)


def _check_room(provider: Provider[Any], count: int | None) -> None:
    room = provider.room if isinstance(provider, ProviderMix) else None
    if count is not None and room is not None and room < count:
        raise ConfigError(
            f"{count} desktops are wanted at once, and the providers have room for {room}",
            hint="raise desktops in the section of a provider, or play fewer episodes at once",
        )
