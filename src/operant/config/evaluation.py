"""Settings of an evaluation: ``operant eval --config FILE``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from pydantic import field_validator

from operant.config.desktop import DesktopConfig
from operant.config.provider import ProviderSettings
from operant.config.settings import check_level

__all__ = ["EvaluationConfig"]


class EvaluationConfig(ProviderSettings):
    """Flags win over the environment, and that over the file."""

    variables: ClassVar[Mapping[str, str]] = {"DEVICE": "device", "LOG_LEVEL": "log_level"}
    suite: str | None = None
    """Where tasks come from, as ``--suite`` takes it."""
    tasks: tuple[str, ...] = ()
    """Only these of them, by id; all if left out."""
    device: str | None = None
    """Where networks calculate: cpu, cuda, cuda:1, mps or auto; left out, the agent's own choice."""
    log_level: str = "INFO"
    """Least level that is logged."""
    prices: Path | None = None
    """A table of what models cost, over the vendors' list prices."""
    desktop: DesktopConfig = DesktopConfig()
    """What the desktops are like."""

    @field_validator("log_level")
    @classmethod
    def _known(cls, level: str) -> str:
        return check_level(level)
