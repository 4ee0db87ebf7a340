"""Asking the agent: one action, one execution, one whole task."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pydantic import ConfigDict, Field, model_validator

from operant.actions import FORMATS
from operant.config.desktop import Profile
from operant.service.schemas.base import Criteria, Given, Pair, Taken

__all__ = [
    "AttemptView",
    "CompleteTaskRequest",
    "ExecuteRequest",
    "ExecuteResponse",
    "FormatName",
    "ModelInfoView",
    "ModelList",
    "ModelView",
    "PredictRequest",
    "PredictResponse",
    "SwitchRequest",
]

if TYPE_CHECKING:
    FormatName = str
else:  # a new format is offered by itself
    FormatName = Literal[tuple(FORMATS)]
Secret = str


class PredictRequest(Taken):
    """What should be done next?"""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "instruction": "Open the calculator application",
                    "session": "default",
                    "deterministic": True,
                }
            ]
        }
    )

    instruction: str = Field(min_length=1, max_length=4000)
    """What is wanted, in words."""
    use_live_screen: bool = False
    """Look at the screen of the service's machine; it must have been started with --allow-live."""
    screenshot: str | None = Field(None, max_length=64 << 20)
    """PNG, JPEG or WebP in base64, with or without data:image/...;base64, before it."""
    session: str | None = Field(None, min_length=1, max_length=64)
    """Look at this session's screen; without a screenshot, the default session's."""
    deterministic: bool = True
    """The likeliest action instead of one that is drawn."""
    formats: list[FormatName] = Field(default_factory=list, max_length=len(FORMATS))
    """Further formats to write the action in."""
    step: int = Field(0, ge=0, le=100_000)
    """Actions taken so far."""
    max_steps: int = Field(30, ge=1, le=100_000)
    """Actions that there may be."""
    seed: int = Field(0, ge=0, le=2**31 - 1)
    """For agents that draw."""


class PredictResponse(Given):
    """The next action."""

    action_type: str | None
    """click, type, scroll, ...; null if the model gave no action."""
    coordinates: Pair | None
    """Pixels of the screen that was shown."""
    text: str | None
    keys: list[str]
    confidence: float | None
    """From 0 to 1; null if the model does not say."""
    value: float | None
    """What the model's critic expects; null if it has none."""
    inference_time_ms: float
    """Of the model, for the batch that this was in."""
    batch_size: int
    """How many questions were answered together."""
    screen: Pair
    """Width and height that the coordinates refer to."""
    action: dict[str, Any] | None
    """Operant's own form; send it to /execute as it is."""
    formats: dict[str, Any]
    """The action in the formats that were asked for; null where a format has no words for it."""
    model: str
    error: str | None = None
    """Why there is no action."""


class ExecuteRequest(Taken):
    """Do this."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"action": {"kind": "click", "point": [0.5, 0.5]}},
                {"action": "pyautogui.hotkey('ctrl', 's')", "format": "pyautogui"},
                {"action": {"kind": "type", "text": "hunter2"}, "secret": True},
            ]
        }
    )

    action: dict[str, Any] | str
    """An action in the named format."""
    format: FormatName = "json"
    session: str | None = Field(None, min_length=1, max_length=64)
    """Where; the default session's sandboxed desktop unless another one is named. ``live`` is the machine's own."""
    dry_run: bool = False
    """Only check it and say what would be done."""
    secret: bool = False
    """What is typed is masked in logs, episodes, metrics and answers."""


class Region(Given):
    """A rectangle in pixels."""

    x: int
    y: int
    width: int
    height: int


class ExecuteResponse(Given):
    """What it led to."""

    session: str
    performed: bool
    """False for a dry run."""
    actions: list[dict[str, Any]]
    """What was done, in Operant's own form, secrets masked."""
    description: str
    changed: bool
    """Whether any pixel is different."""
    changed_share: float
    """The share of pixels that are, from 0 to 1."""
    changed_region: Region | None
    """The smallest rectangle around them."""
    settled: bool
    """Whether the screen was still at the end."""
    waited_ms: float
    """How long that took."""
    opened_windows: list[str]
    closed_windows: list[str]
    pointer: Pair | None
    frame: str | None
    """Where the settled picture is."""


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
    """What is wanted, in words. Without success_criteria it cannot be verified, and success stays null."""
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
        if (self.instruction is None) == (self.task_id is None):
            raise ValueError("give an instruction or a task_id, and not both")
        if self.task_id is not None and self.success_criteria is not None:
            raise ValueError("a task_id has criteria of its own; leave success_criteria away")
        if self.profile is not None and (self.task_id is not None or self.session is not None):
            raise ValueError("a profile is for an instruction on a desktop of its own; leave it away")
        return self


class StepView(Given):
    """One action of an attempt."""

    number: int
    action: dict[str, Any] | None
    description: str
    invalid: str | None
    reward: float
    agent_ms: float
    desktop_ms: float
    value: float | None
    screen: Pair


class AttemptView(Given):
    """An attempt at a task, whether it is over or not."""

    id: str
    status: Literal["queued", "running", "finished", "cancelled", "failed", "dry_run"]
    task_id: str
    instruction: str
    model: str
    session: str | None
    success: bool | None
    """What the criteria found. Null until it is finished, where there are no criteria, and where they could not be
    asked because the machine failed."""
    verified: bool
    """Whether the criteria were asked; then ``success`` is true or false."""
    claimed: bool
    """Whether the agent said that it is done. It may not have been verified."""
    judge: Literal["criteria", "agent", "nobody yet"]
    """Who decides: the criteria, or the agent alone where there are none."""
    outcome: str | None
    why: str
    reward: float
    steps_taken: int
    max_steps: int
    actions: list[StepView]
    episode: str | None
    """The episode's id for /api/v1/episodes, once it is finished."""
    created: float
    """Unix time."""


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
