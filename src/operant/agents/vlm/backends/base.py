"""What an inference backend is: it takes prompts from many callers at once, and newer weights in between.

A request that has begun ends under the weights it began with, and its answer says which these were.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from operant.agents.vlm.families import Units
from operant.agents.vlm.prompt import Prompt
from operant.agents.vlm.trajectory import Generation
from operant.types import Size

__all__ = ["Backend", "BackendStats", "Weights"]


@dataclass(frozen=True)
class Weights:
    """A version of what is trained: as tensors by name, or as an adapter's directory."""

    version: int
    tensors: Mapping[str, Any] = field(default_factory=dict)
    directory: Path | None = None


@dataclass
class BackendStats:
    """What was done so far."""

    requests: int = 0
    batches: int = 0
    tokens: int = 0
    busy_s: float = 0.0


class Backend(ABC):
    """Answers prompts. Safe for threads."""

    version: int = 0
    """Of the weights that the next request gets."""
    wants_directory: bool = False
    """Newer weights have to come as an adapter's directory."""
    units: Units
    """How the model counts coordinates."""

    def __init__(self) -> None:
        self.stats = BackendStats()

    @abstractmethod
    def submit(
        self, prompt: Prompt, *, seed: int = 0, temperature: float | None = None
    ) -> Future[Generation]:
        """The answer, once it is there. ``temperature`` instead of the settings' own."""

    @abstractmethod
    def shown(self, screen: Size) -> Size:
        """The size at which the model is to be shown a screen."""

    @abstractmethod
    def load(self, weights: Weights) -> None:
        """Use these weights for the requests that follow."""

    def close(self) -> None:  # noqa: B027 - not every backend holds something
        """Let go of everything; what is under way fails."""

    def __enter__(self) -> Backend:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
