"""Tasks and episodes in lists, and one at a time."""

from __future__ import annotations

from typing import Any

from operant.service.schemas.base import Given, UsageView

__all__ = ["EpisodeList", "EpisodeRow", "EpisodeStep", "EpisodeView", "TaskRow"]


class TaskRow(Given):
    id: str
    example: str
    """The instruction of its first instance."""
    difficulty: str
    apps: list[str]
    skill: str
    family: str
    unseen: bool


class EpisodeRow(Given):
    id: str
    task: str
    instruction: str
    agent: str
    outcome: str | None
    """Null while it runs, and for ever if it was cut short."""
    reward: float
    steps: int
    calls: int = 0
    """Steps that called a function of an application."""
    gui_actions: int = 0
    """Steps with pointer or keyboard."""
    started: str
    difficulty: str
    usage: UsageView | None = None
    """Tokens and cost; null for agents that do not count them."""


class EpisodeList(Given):
    total: int
    episodes: list[EpisodeRow]


class EpisodeStep(Given):
    number: int
    action: dict[str, Any] | None
    description: str
    actor: str = ""
    """Who acted, in a team, and on which of its desktops."""
    response: str
    invalid: str | None
    result: str = ""
    """What a call answered, at most 2000 characters."""
    reward: float
    value: float | None
    agent_ms: float
    desktop_ms: float
    screenshot: str | None
    usage: UsageView | None = None
    """Of the turn that ends with this step."""


class EpisodeView(Given):
    id: str
    task: str
    instruction: str
    agent: str
    outcome: str | None
    why: str
    reward: float
    difficulty: str
    seed: int | None
    started: str
    first_screenshot: str | None
    calls: int = 0
    gui_actions: int = 0
    usage: UsageView | None = None
    steps: list[EpisodeStep]
