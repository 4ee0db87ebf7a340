"""Asking the agent for the next action, and doing one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pydantic import ConfigDict, Field, model_validator

from operant.actions import FORMATS
from operant.service.schemas.base import Given, Pair, Taken, UsageView

__all__ = ["ExecuteRequest", "ExecuteResponse", "FormatName", "PredictRequest", "PredictResponse", "Region"]

if TYPE_CHECKING:
    FormatName = str
else:  # a new format is offered by itself
    FormatName = Literal[tuple(FORMATS)]


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
    """Operant's own form; /execute takes it, and this whole answer, as they are."""
    actions: list[dict[str, Any]]
    """All actions of the model's turn in order; ``action`` is the first, and most models give one."""
    formats: dict[str, Any]
    """The action in the formats that were asked for; null where a format has no words for it."""
    model: str
    error: str | None = None
    """Why there is no action."""
    usage: UsageView | None = None
    """What the question used; null for models that do not count."""


_OPTIONS = ("session", "dry_run", "secret")


class ExecuteRequest(Taken):
    """Do this. The answer of /predict is a request too, and so is its ``action`` alone."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"action": {"kind": "click", "point": [0.5, 0.5]}},
                {"action": "pyautogui.hotkey('ctrl', 's')", "format": "pyautogui"},
                {"action": {"kind": "type", "text": "hunter2"}, "secret": True},
                {"kind": "click", "point": [0.5, 0.5]},
            ]
        }
    )

    action: dict[str, Any] | list[dict[str, Any]] | str
    """An action in the named format, several of them, or a whole answer of /predict."""
    format: FormatName = "json"
    """How the action is written; an answer of /predict says it itself."""
    screen: Pair | None = None
    """Width and height that pixels in the action refer to; those of the session's screen by default."""
    session: str | None = Field(None, min_length=1, max_length=64)
    """Where; the default session's sandboxed desktop unless another one is named. ``live`` is the machine's own."""
    dry_run: bool = False
    """Only check it and say what would be done."""
    secret: bool = False
    """What is typed is masked in logs, episodes, metrics and answers."""

    @model_validator(mode="before")
    @classmethod
    def _unpack(cls, body: Any) -> Any:
        """What /predict gave, in whichever wrapping it comes."""
        if not isinstance(body, dict):
            return body
        options = {name: body[name] for name in _OPTIONS if name in body}
        if "kind" in body and "action" not in body:
            return options | {"action": {name: body[name] for name in body if name not in _OPTIONS}}
        if _is_answer(body):
            return options | _unpacked(body)
        if _is_answer(body.get("action")):
            return body | _unpacked(body["action"])
        return body


def _is_answer(found: Any) -> bool:
    """Told by two of its fields; computer_13 has the first one too."""
    return isinstance(found, dict) and "action_type" in found and "action" in found


def _unpacked(answer: dict[str, Any]) -> dict[str, Any]:
    if not answer.get("action"):
        why = str(answer.get("error") or "the model gave none")[:300]
        raise ValueError(f"there is no action in this answer of /predict: {why}")
    return {"action": answer.get("actions") or answer["action"], "format": "json"}


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
    """False for a dry run, and where the only action ends a task."""
    ends: Literal["done", "fail", "ask", "answer"] | None
    """The action that ends a task, if there is one: there is nothing to do for it."""
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
    result: str = ""
    """What a call answered."""
    frame: str | None
    """Where the settled picture is."""
