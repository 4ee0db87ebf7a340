"""Desktops on loan."""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict, Field

from operant.config.desktop import Profile
from operant.service.schemas.base import Criteria, Given, Pair, Taken
from operant.types import Window

__all__ = [
    "ApprovalAnswer",
    "ApprovalView",
    "CheckRequest",
    "CheckView",
    "ControlRequest",
    "LaunchRequest",
    "SessionRequest",
    "SessionView",
    "WindowView",
]


class SessionRequest(Taken):
    """Lease a desktop."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"name": "letters", "ttl_s": 300, "launch": ["mousepad"]},
                {"success_criteria": {"window_title": "Calculator"}},
            ]
        }
    )

    name: str | None = Field(None, max_length=64)
    """What the session is called, and its id: letters, digits, - and _; one is made up by default."""
    ttl_s: float | None = Field(None, ge=1, le=86_400)
    """Seconds after its last use that it ends."""
    launch: list[str] | None = Field(None, min_length=1, max_length=64)
    """A program to open in it, with its arguments."""
    profile: Profile | None = None
    """``full`` has application menu, task bar, icons and run dialog, ``bare`` a window manager only; the service's own
    (``full``, unless it was set up otherwise) by default."""
    success_criteria: Criteria = None
    """What is to be reached in it, as in config/tasks.json. Decides about instructions in this session that bring no
    criteria, and POST .../check asks it at any time."""
    dry_run: bool = False
    """Only say whether a desktop is free."""


class CheckRequest(Taken):
    """Ask criteria about a session's desktop as it is now."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"success_criteria": {"file_exists": "output.txt"}}]}
    )

    success_criteria: Criteria = None
    """As in config/tasks.json; the session's own by default."""
    answer: str | None = Field(None, max_length=4000)
    """What the user reports in words, for criteria that ask for an answer."""


class CheckView(Given):
    """What the criteria found."""

    success: bool
    why: str


class WindowView(Given):
    title: str
    application: str
    x: int
    y: int
    width: int
    height: int
    focused: bool

    @classmethod
    def of(cls, window: Window) -> WindowView:
        place = {"x": window.x, "y": window.y, "width": window.width, "height": window.height}
        return cls(title=window.title, application=window.wm_class, focused=window.focused, **place)


class SessionView(Given):
    """A session."""

    id: str
    kind: Literal["sandbox", "live"]
    profile: Profile | None
    """What it shows besides programs; null for the live screen."""
    size: Pair
    created: float
    """Unix time."""
    expires_in_s: float
    steps: int
    attempt: str | None
    """The attempt that is at work there."""
    instruction: str
    model: str
    taken_over: bool
    """A person has control, and the agent waits."""
    stream: str
    """Where its WebSocket is."""
    frame: str
    """Where its picture is."""


class LaunchRequest(Taken):
    """Open a program in a sandboxed desktop."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"command": ["galculator"]}]})

    command: list[str] = Field(min_length=1, max_length=64)
    """The program and its arguments; no shell is involved."""


class ControlRequest(Taken):
    """Take over from the agent, or hand back to it."""

    taken_over: bool


class ApprovalView(Given):
    """An action on the live screen that waits for a yes."""

    id: str
    description: str
    asked_at: float


class ApprovalAnswer(Taken):
    approve: bool
