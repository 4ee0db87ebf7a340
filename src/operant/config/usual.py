"""Where settings usually lie: ranges and a word of advice beside the fields, for warnings and for the guide.

A model of settings that has such ranges holds them in ``usual``, by field. What a field does is its docstring. What it
may never be is its type's matter; this is about what seldom works.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from loguru import logger
from pydantic import BaseModel

__all__ = ["Usual", "unusual", "warn_unusual"]


@dataclass(frozen=True)
class Usual:
    """From where to where, both included, and what to try."""

    low: float
    high: float
    advice: str

    def __str__(self) -> str:
        return f"{self.low:g} to {self.high:g}"


def unusual(config: BaseModel) -> list[str]:
    """A sentence for each setting outside its range; None is never unusual."""
    usual: Mapping[str, Usual] = getattr(config, "usual", {})
    return [
        f"{name} is {value:g}, usual is {known}. {known.advice}"
        for name, known in usual.items()
        if (value := getattr(config, name)) is not None and not known.low <= value <= known.high
    ]


def warn_unusual(config: BaseModel) -> None:
    for sentence in unusual(config):
        logger.warning("{}", sentence)
