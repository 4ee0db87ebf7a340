"""What an agent is: it is given an instruction and observations, and answers with the next action.

An agent sees the instruction and the screen, and nothing of criteria, parameters or the desktop behind the
screen. ``PrivilegedAgent`` is the exception for oracles, and every episode of one is marked as such. Knows
nothing of loops, time limits or files: see ``operant.rollout``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from operant.types import Action, Observation, Size

if TYPE_CHECKING:
    from operant.desktop.protocol import Desktop
    from operant.tasks.task import Task

__all__ = ["Agent", "Decision", "PrivilegedAgent", "TaskView"]


@dataclass(frozen=True, slots=True)
class TaskView:
    """What an agent may know of a task before it looks."""

    instruction: str
    max_steps: int
    screen: Size
    seed: int = 0
    """For agents that draw: the same number for the same episode of an evaluation, on any machine."""


@dataclass(frozen=True, slots=True)
class Decision:
    """An action with what the agent said around it. Agents that have nothing to add return a plain action."""

    action: Action | None
    """None if what the agent said is no action: the step is spent and recorded as invalid."""
    response: str = ""
    """What the agent said, in its own words."""
    error: str = ""
    """Why there is no action."""
    record: Mapping[str, Any] = field(default_factory=dict)
    """What learning wants back of this step (values, log-probabilities, token ids); kept in the episode."""


class Agent(ABC):
    """One agent that plays one episode at a time. Subclass it and write ``act``."""

    observation_type: str = "screenshot"
    """In OSWorld's words: ``screenshot``, or ``screenshot_a11y_tree`` to be given the widgets too."""
    fingerprint: str = ""
    """Changes when the agent does, such as a hash of its weights: results of two are never mixed."""

    def begin(self, task: TaskView) -> None:  # noqa: B027 - most agents have nothing to forget
        """A new episode: forget the last one."""

    @abstractmethod
    def act(self, observation: Observation) -> Action | Decision:
        """The next action; ``InvalidAction`` for one that can't be: the step is spent, that is all."""

    def close(self) -> None:  # noqa: B027
        """Let go of everything."""


class PrivilegedAgent(Agent):
    """An agent that sees behind the screen. Its results say so."""

    @abstractmethod
    def attach(self, desktop: Desktop, task: Task) -> None:
        """The desktop and the task of the episode that begins."""
