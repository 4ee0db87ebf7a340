"""What an agent is: it is given an instruction and observations, and answers with the next actions.

An agent sees the instruction and the screen, and nothing of criteria, parameters or the desktop behind the
screen. ``PrivilegedAgent`` is the exception for oracles, and every episode of one is marked as such. An
``AttachedAgent`` is given the desktop to work with, not to look behind the screen. Knows nothing of loops, time limits
or files: see ``operant.rollout``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from operant.agents.usage import Usage
from operant.calls.offer import FunctionOffer
from operant.errors import AgentError, ConfigError
from operant.types import Action, ActionMode, Observation, Size

if TYPE_CHECKING:
    from operant.desktop.protocol import Desktop
    from operant.envs.task_environment import TaskEnvironment
    from operant.tasks.task import Task

__all__ = ["Agent", "AttachedAgent", "Decision", "PrivilegedAgent", "TaskView", "Usage"]


@dataclass(frozen=True, slots=True)
class TaskView:
    """What an agent may know of a task before it looks."""

    instruction: str
    max_steps: int
    screen: Size
    seed: int = 0
    """For agents that draw: the same number for the same episode of an evaluation, on any machine."""
    actions: ActionMode = "gui"
    """What may be done: ``operant.calls`` says which functions are offered for that."""
    all_functions: bool = False
    """Whether functions of all applications are offered, and not only those of the focused one."""

    @property
    def offer(self) -> FunctionOffer:
        """The functions that may be called."""
        return FunctionOffer(self.actions, self.all_functions)


@dataclass(frozen=True, slots=True)
class Decision:
    """A turn of the agent: actions, with what it said around them. One plain action needs no ``Decision``."""

    actions: tuple[Action, ...] = ()
    """Performed in order until one fails; the agent sees what they led to. Without any, the step is invalid."""
    response: str = ""
    """What the agent said, in its own words."""
    error: str = ""
    """Why there is no action."""
    record: Mapping[str, Any] = field(default_factory=dict)
    """What learning wants back of this turn (values, log-probabilities, token ids); kept in the episode."""
    usage: Usage | None = None
    """What the turn used; None for agents that do not count."""
    end: str = ""
    """Ends the episode as a failure without an action. The reason: ``refusal``, ``token_limit``, ``safety_check`` ..."""
    actor: str = ""
    """Who acted, in a team."""
    desktop: str = ""
    """Which of the agent's own desktops the actions are for (``AttachedAgent.environment``); empty for the episode's."""
    checks: tuple[str, ...] = ()
    """Safety checks of the model's vendor. Outside a sandbox a person confirms them first, or nothing is performed and
    the episode ends (``safety_check``)."""


class Agent(ABC):
    """One agent that plays one episode at a time. Subclass it and write ``act``."""

    observation_type: str = "screenshot"
    """In OSWorld's words: ``screenshot``, ``a11y_tree``, ``screenshot_a11y_tree`` or ``som`` (marks on widgets). All but
    the first are given the widgets too."""
    still_ms: int = 0
    """What it is shown has been still for so many milliseconds (it is waited for at most 2 s); 0: as desktops settle."""
    unpriced: str = ""
    """The model that it pays for at a price that is not known; empty if it costs nothing or the price is known."""
    runs_commands: bool = False
    """Whether it may call: functions of applications also where the episode is played with pointer and keyboard, and
    ``run``, ``read_file`` and ``write_file`` inside the desktop. Not in tasks that are ``gui_only``."""
    cannot_call: str = ""
    """Why it has no words for a call of a function, such as its format; empty if it has, or needs none."""
    fingerprint: str = ""
    """Changes when the agent does, such as a hash of its weights: results of two are never mixed."""

    @property
    def sees_widgets(self) -> bool:
        """Whether it wants the accessibility tree, which takes time to fetch."""
        return self.observation_type != "screenshot"

    def preflight(self) -> None:  # noqa: B027 - most agents need nothing that may be missing
        """Check what episodes will need, such as a server and a key, before any desktop starts; typed errors."""

    def check_actions(self, actions: ActionMode) -> str:
        """Before any desktop starts: ``ConfigError`` if it can do nothing under this setting; else a warning, or empty."""
        if actions == "api" and self.cannot_call:
            raise ConfigError(f"--actions api leaves nothing to do: {self.cannot_call}", hint="--actions gui")
        if actions == "both" and self.cannot_call:
            return f"no functions will be called: {self.cannot_call}"
        return ""

    def begin(self, task: TaskView) -> None:  # noqa: B027 - most agents have nothing to forget
        """A new episode: forget the last one."""

    @abstractmethod
    def act(self, observation: Observation) -> Action | Decision:
        """The next action or turn; ``InvalidAction`` for one that can't be: the step is spent, that is all."""

    def close(self) -> None:  # noqa: B027
        """Let go of everything."""


class AttachedAgent(Agent):
    """An agent whose machinery works with the desktop: it copies files, say, or opens desktops of its own beside it.

    What its models are shown is still the screen.
    """

    @abstractmethod
    def attach(self, desktop: Desktop, task: Task) -> None:
        """The desktop and the task of the episode that begins."""

    def environment(self, desktop: str) -> TaskEnvironment:
        """Where a turn for one of its own desktops (``Decision.desktop``) is carried out."""
        raise AgentError(f"there is no desktop {desktop!r}")


class PrivilegedAgent(AttachedAgent):
    """An agent that sees behind the screen. Its results say so."""
