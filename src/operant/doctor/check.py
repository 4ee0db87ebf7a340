"""What the doctor finds: one prerequisite, whether it is there, and how to get it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

__all__ = ["Check", "CheckStatus", "Command"]


class CheckStatus(str, Enum):
    """Found, not found, or found but poor."""

    OK = "ok"
    WARN = "warn"
    MISSING = "missing"


class Command(str):
    """A fix that ``operant doctor --fix`` can run. Other fixes are sentences, or for the user's own shell."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Check:
    """One prerequisite. ``fix`` is a command to type, or a sentence where no command does it."""

    name: str
    status: CheckStatus
    detail: str
    fix: str | None = None
    required: bool = True
