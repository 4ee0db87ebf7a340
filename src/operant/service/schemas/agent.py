"""Asking the agent for a whole task, and which model it is."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import ConfigDict, Field, model_validator

from operant.config.desktop import Profile
from operant.service.schemas.base import Criteria, Given, OutcomeName, Pair, Taken, UsageView

__all__ = [
    "AttemptView",
    "CompleteTaskRequest",
    "ModelInfoView",
    "ModelList",
    "ModelView",
    "SwitchRequest",
]


class CompleteTaskRequest(Taken):
    """Do all of this."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"task_id": "core/calculator-type-sum-v1", "max_steps": 20},
                {
                    "instruction": "Open the calculator application",
                    "success_criteria": {"window_title": "Calculator"},
                    "max_steps": 20,
                },
                {"instruction": "Open calculator and compute 15 + 27", "max_steps": 20, "wait": False},
            ]
        }
    )

    instruction: str | None = Field(None, min_length=1, max_length=4000)
    """What is wanted, in words. Without success_criteria the outcome is ``unverified``, and success stays null."""
    success_criteria: Criteria = None
    """How to tell whether the instruction was carried out, as in config/tasks.json: {"window_title": "Calculator"},
    {"file_exists": "output.txt"}. Several must all hold. Checked when the agent has said that it is done, or has no
    steps left."""
    task_id: str | None = Field(None, min_length=1, max_length=200)
    """A task of a suite, whose criteria decide."""
    seed: int = Field(0, ge=0, le=2**31 - 1)
    """Which instance of the task."""
    split: Literal["train", "heldout"] = "train"
    max_steps: int | None = Field(None, ge=1, le=1000)
    """Actions that there may be; the task's own cap, or 20, by default."""
    deterministic: bool = True
    session: str | None = Field(None, min_length=1, max_length=64)
    """Where; a desktop of its own by default."""
    profile: Profile | None = None
    """What a desktop of its own shows: ``full`` (menu, task bar, icons, run dialog) or ``bare``. An instruction gets the
    service's own by default; a task_id says itself where it begins."""
    model: str | None = Field(None, min_length=1, max_length=200)
    """Another model than the one that answers now, for this task only."""
    wait: bool = True
    """Answer when it is over; false answers at once, to be polled or streamed."""
    pace_s: float = Field(0.0, ge=0, le=10)
    """Seconds to wait before each action, so that people can follow."""
    secrets: list[str] = Field(default_factory=list, max_length=20)
    """Texts that are masked in logs, episodes and answers wherever they appear."""
    dry_run: bool = False
    """Only check everything and say what would be done."""

    @model_validator(mode="after")
    def _one_of_both(self) -> CompleteTaskRequest:
        wrong = []
        if (self.instruction is None) == (self.task_id is None):
            wrong.append("give an instruction or a task_id, and not both")
        if self.task_id is not None and self.success_criteria is not None:
            wrong.append("a task_id has criteria of its own; leave success_criteria away")
        if self.profile is not None and (self.task_id is not None or self.session is not None):
            wrong.append("a profile is for an instruction on a desktop of its own; leave it away")
        if wrong:
            raise ValueError("; ".join(wrong))
        return self


class StepView(Given):
    """One action of an attempt."""

    number: int
    action: dict[str, Any] | None
    description: str
    actor: str = ""
    """Who acted, in a team, and on which of its desktops."""
    invalid: str | None
    reward: float
    agent_ms: float
    desktop_ms: float
    value: float | None
    screen: Pair
    usage: UsageView | None = None
    """Of the turn that ends with this step."""


class AttemptView(Given):
    """An attempt at a task, whether it is over or not."""

    id: str
    status: Literal["queued", "running", "finished", "cancelled", "failed", "dry_run"]
    task_id: str
    instruction: str
    model: str
    session: str | None
    success: bool | None
    """What the criteria found. Null until it is finished, where there are no criteria (``unverified``), and where they
    could not be asked because the machine failed."""
    verified: bool
    """Whether criteria decided; then ``success`` is true or false."""
    claimed: bool
    """Whether the agent said that it is done. A claim is no success."""
    judge: Literal["criteria", "agent"]
    """``criteria`` decide, or there are none, and there is only the word of the ``agent``."""
    outcome: OutcomeName | None
    """``unverified`` where there are no criteria. Null until it is finished."""
    why: str
    reward: float
    steps_taken: int
    max_steps: int
    actions: list[StepView]
    episode: str | None
    """The episode's id for /api/v1/episodes, once it is finished."""
    created: float
    """Unix time."""
    usage: UsageView | None
    """Tokens and cost so far; null for agents that do not count them."""


class ModelInfoView(Given):
    """The model that answers."""

    name: str
    agent: str
    fingerprint: str
    batched: bool
    privileged: bool
    """Looks behind the screen: an oracle."""
    sees_widgets: bool
    """Reads the accessibility tree of a session besides its picture; a screenshot has none."""
    parameters: int | None
    action_formats: list[str]
    details: dict[str, Any]
    batch_size: int


class ModelView(Given):
    """A model that could answer."""

    name: str
    kind: Literal["agent", "checkpoint"]
    current: bool
    bytes: int | None
    modified: float | None


class ModelList(Given):
    current: str
    models: list[ModelView]


class SwitchRequest(Taken):
    """Let another model answer."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"name": "random"}]})

    name: str = Field(min_length=1, max_length=200)
    """As GET /api/v1/agent/models lists it."""
    dry_run: bool = False
    """Only load it and say whether it could answer."""
