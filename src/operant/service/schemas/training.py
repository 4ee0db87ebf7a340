"""Training runs."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import ConfigDict, Field

from operant.service.schemas.base import Given, Taken

__all__ = ["RunView", "StartTraining", "StopTraining", "TrainingStatus"]


class StartTraining(Taken):
    """Begin a training run in a process of its own."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"total_timesteps": 100_000, "difficulty": "EASY", "curriculum": True}]
        }
    )

    total_timesteps: int = Field(100_000, ge=1, le=10**12)
    difficulty: Literal["EASY", "MEDIUM", "HARD"] | None = None
    suite: str | None = Field(None, min_length=1, max_length=200)
    """An installed suite, one that the server was started with, or several, separated by commas; core if left out."""
    curriculum: bool = False
    device: str | None = Field(None, pattern=r"^(cpu|cuda(:\d{1,3})?|auto)$")
    num_envs: int | None = Field(None, ge=1, le=1024)
    seed: int | None = Field(None, ge=0, le=2**31 - 1)
    resume: str | None = Field(None, min_length=1, max_length=200)
    """A run that has ended, to go on with it; or a checkpoint, as GET /api/v1/agent/models lists it, to begin a new run
    with its weights."""
    config: str | None = Field(None, pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}\.ya?ml$")
    """A file of the service's config directory."""
    name: str | None = Field(None, pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$")
    """What the run is called; the time it began by default."""
    dry_run: bool = False
    """Only say which command would be run."""


class StopTraining(Taken):
    run: str | None = Field(None, pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$")
    """Which one; the one under way by default."""


class RunView(Given):
    """A training run."""

    id: str
    state: Literal["running", "finished", "stopped", "failed", "lost", "dry_run"]
    started: float
    ended: float | None
    code: int | None
    command: list[str]
    options: dict[str, Any]
    request_id: str
    latest: dict[str, Any] | None
    """The last line of its progress."""
    checkpoints: list[str]
    reward_hack_alarm: bool
    """Reward rises and success does not."""


class TrainingStatus(Given):
    """What is going on."""

    enabled: bool
    running: bool
    run: RunView | None
    """The run under way, or else the last one."""
    progress: list[dict[str, Any]]
    """Its updates, thinned out evenly if there are many."""
    log_tail: str
    """The end of what it printed."""
