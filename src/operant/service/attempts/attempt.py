"""One attempt of an agent at a task: what it has done so far, for those who wait, poll or listen."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from operant.actions.describe import describe
from operant.actions.json_actions import to_json
from operant.agents.base import Usage
from operant.errors import OperantError
from operant.rollout.episode import EpisodeResult, Step
from operant.service.masking import mask_text
from operant.tasks.task import Task
from operant.types import ActionKind, Observation, Size

__all__ = ["Attempt", "Result", "Status"]


class Status:
    """How far an attempt is."""

    QUEUED, RUNNING, FINISHED, CANCELLED, FAILED = "queued", "running", "finished", "cancelled", "failed"
    OVER = frozenset({FINISHED, CANCELLED, FAILED})


@dataclass(frozen=True)
class Result:
    """How it ended."""

    success: bool | None
    """What the criteria found; None where they could not be asked."""
    claimed: bool
    """Whether the agent said that it is done."""
    outcome: str
    why: str
    reward: float
    episode: str
    usage: Usage | None = None
    """What the agent used; None if it does not count."""

    @property
    def verified(self) -> bool:
        """Whether criteria decided."""
        return self.success is not None


@dataclass(eq=False)
class Attempt:
    """Implements ``rollout.loop.Recorder``: the loop tells it what happens. Waiting is done by its condition."""

    id: str
    task: Task
    model: str
    deterministic: bool
    session: str | None = None
    secrets: Sequence[str] = ()
    request_id: str = ""
    created: float = field(default_factory=time.time)
    status: str = Status.QUEUED
    steps: list[Mapping[str, Any]] = field(default_factory=list)
    result: Result | None = None
    error: OperantError | None = None
    cancelled: threading.Event = field(default_factory=threading.Event)
    changed: threading.Condition = field(default_factory=threading.Condition)
    last: Step | None = None
    _used: Usage | None = None
    pace_s: float = 0.0
    """Seconds before each action, for people who watch."""

    @property
    def over(self) -> bool:
        return self.status in Status.OVER

    @property
    def instruction(self) -> str:
        """What is wanted, as it may be told."""
        return mask_text(self.task.instruction, self.secrets)

    @property
    def usage(self) -> Usage | None:
        """What the agent has used so far; None if it does not count."""
        return self.result.usage if self.result is not None else self._used

    def move(self, status: str, *, result: Result | None = None, error: OperantError | None = None) -> None:
        with self.changed:
            if self.over:
                return
            self.status, self.result, self.error = status, result, error
            self.changed.notify_all()

    def wait(self, timeout_s: float | None = None) -> bool:
        """Whether it was over in time."""
        with self.changed:
            return self.changed.wait_for(lambda: self.over, timeout_s)

    def wait_beyond(self, seen: int, timeout_s: float) -> None:
        """Return when there are more steps than that, it is over, or the time is up."""
        with self.changed:
            self.changed.wait_for(lambda: len(self.steps) > seen or self.over, timeout_s)

    def judge(self, result: EpisodeResult, episode: str) -> Result:
        """The criteria decide; where none did, what the agent said is a claim."""
        last = self.last.action if self.last is not None else None
        claimed = last is not None and last.kind in (ActionKind.DONE, ActionKind.ANSWER)
        success = result.success if result.outcome.is_experience else None
        return Result(
            success, claimed, result.outcome.value, result.why, result.reward, episode, result.usage
        )

    # What the loop tells.

    def begin(self, task: Task) -> None:
        with self.changed:
            self.steps.clear()  # another try after a machine's failure begins anew
            self.last = None
            self._used = None

    def look(self, observation: Observation) -> None:
        pass

    def step(self, step: Step, observation: Observation) -> None:
        height, width = observation.screen.shape[:2]
        told = {
            "number": step.number,
            "action": None if step.action is None else to_json(step.action),
            "description": describe(step.action, Size(width, height)),
            "actor": step.who,
            "invalid": step.invalid,
            "reward": step.reward,
            "agent_ms": round(step.agent_ms, 2),
            "desktop_ms": round(step.desktop_ms, 2),
            "value": _number(step.record.get("value")),
            "screen": [width, height],
            "usage": None if step.usage is None else asdict(step.usage),
        }
        with self.changed:
            self.last = step
            self._used = Usage.total([self._used, step.usage])
            self.steps.append(told)
            self.changed.notify_all()

    def end(self, result: EpisodeResult) -> None:
        pass

    def abandon(self) -> None:
        pass


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, (int, float)) else None
