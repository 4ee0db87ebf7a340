"""Settings that say where desktops come from: the names of providers, and the file with what each of them needs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import Field, field_validator

from operant.config.base import Config
from operant.config.settings import Settings

__all__ = ["PlaceConfig", "ProviderSettings"]


class ProviderSettings(Settings):
    """A base for the settings of commands that need desktops."""

    provider: tuple[str, ...] = ()
    """Where desktops are: sandbox, remote, osworld, docker, aws, vm; several, separated by commas, are mixed. Left out, all
    that ``provider_config`` has a section for; without that, sandbox."""
    provider_config: Path | None = None
    """A YAML file with a section for each provider."""
    path_to_vm: Path | None = None
    """The file of a virtual machine, .vmx or .qcow2, in which desktops run: the provider vm."""

    @field_validator("provider", mode="before")
    @classmethod
    def _listed_names(cls, names: Any) -> Any:
        return (
            tuple(part.strip() for part in names.split(",") if part.strip())
            if isinstance(names, str)
            else names
        )


class PlaceConfig(Config):
    """What the settings of all providers have: a section of the file that ``--provider-config`` names."""

    desktops: int | None = Field(None, ge=1)
    """At most so many desktops at once; left out, as many as are asked for."""
