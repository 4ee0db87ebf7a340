"""Settings of an evaluation beyond what is played: ``operant eval --config FILE``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import field_validator

from operant.config.base import Config
from operant.config.desktop import DesktopConfig
from operant.config.environment import check_level, environment
from operant.config.yaml_file import build_over

__all__ = ["EvaluationConfig"]

#: variable -> the setting that it stands for
VARIABLES = {"DEVICE": "device", "LOG_LEVEL": "log_level"}


class EvaluationConfig(Config):
    """Flags win over the environment, and that over the file."""

    device: str | None = None
    """Where networks calculate: cpu, cuda, cuda:1, mps or auto; left out, the agent's own choice."""
    log_level: str = "INFO"
    """Least level that is logged."""
    desktop: DesktopConfig = DesktopConfig()
    """What the desktops are like."""

    @field_validator("log_level")
    @classmethod
    def _known(cls, level: str) -> str:
        return check_level(level)

    @classmethod
    def load(
        cls, file: Path | None = None, variables: Mapping[str, str] | None = None, **flags: Any
    ) -> EvaluationConfig:
        """Everything put together; flags that are None were not given."""
        told = environment(variables=variables)
        said = {setting: told[name] for name, setting in VARIABLES.items() if name in told}
        return build_over(cls, file, said, flags)
