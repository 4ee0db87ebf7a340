"""Training runs."""

from __future__ import annotations

from typing import Annotated, Any, Literal

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
    tasks: list[Annotated[str, Field(min_length=1, max_length=200)]] | None = Field(None, max_length=1000)
    """Only these tasks of the suite, by id."""
    curriculum: bool = False
    device: str | None = Field(None, pattern=r"^(cpu|cuda(:\d{1,3})?|auto)$")
    num_envs: int | None = Field(None, ge=1, le=1024)
    """Desktops that are played on at once; 8 if left out."""
    rollout_steps: int | None = Field(None, ge=1, le=10**9)
    """Steps between updates, over all desktops; 2048 if left out."""
    seed: int | None = Field(None, ge=0, le=2**31 - 1)
    init_from: str | None = Field(None, min_length=1, max_length=200)
    """Weights to begin with: ``default`` is the agent that comes with Operant; otherwise a checkpoint, as
    GET /api/v1/agent/models lists it. New weights if left out."""
    resume: str | None = Field(None, min_length=1, max_length=200)
    """A run that has ended, to go on with it. A checkpoint means the same as ``init_from``."""
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
    """The last update; while a rollout is collected, with the steps and episodes up to now, the success so far
    (``success_rate`` of ``counted`` episodes), ``fps``, ``left_s`` and the ``phase``."""
    reason: str | None
    """Why it failed."""
    hint: str | None
    """What to do about it."""
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
