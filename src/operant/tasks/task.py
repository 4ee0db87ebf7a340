"""One task as an agent meets it: a template filled in, or a task read from a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from operant.config.desktop import Profile
from operant.desktop.protocol import Capability, Desktop, require
from operant.errors import OperantError, SetupFailed
from operant.tasks.criteria.base import Criterion, NoCriteria
from operant.tasks.setup import SetupStep
from operant.types import ActionMode, Difficulty

if TYPE_CHECKING:
    from operant.tasks.oracle import Oracle

__all__ = ["Task"]


@dataclass(frozen=True)
class Task:
    """What has to be done from which state, how it is known to be done, and who can show how."""

    id: str
    """``suite/name-vN``; the version changes when results could."""
    instruction: str
    difficulty: Difficulty
    success: Criterion
    setup: tuple[SetupStep, ...] = ()
    closing: tuple[SetupStep, ...] = ()
    """Done once after the agent's last action and before the criteria, such as saving what it left open."""
    feasible: bool = True
    """Whether it can be done at all. Where it can't, saying so (``fail``) is the success, and nothing else is."""
    profile: Profile = "bare"
    """What the desktop shows before the set-up: a window manager only, or also panel, menu and icons (``full``)."""
    max_steps: int = 30
    gui_only: bool = False
    """Whether it is about using pointer and keyboard: functions of applications can't be called."""
    apps: tuple[str, ...] = ()
    skill: str = ""
    family: str = ""
    unseen: bool = False
    seed: int | None = None
    split: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    oracle: Oracle | None = None
    """Shows how it is done with pointer and keyboard."""
    api_oracle: Oracle | None = None
    """Shows how it is done by calls of functions of applications, if it can be."""

    def actions_on(self, desktop: Desktop) -> ActionMode:
        """What an agent may do to solve it on that desktop."""
        return "gui" if self.gui_only else getattr(desktop, "actions", "gui")

    def oracle_for(self, actions: ActionMode) -> Oracle | None:
        """The oracle that does only what is allowed; where both are, calls where they can do the task."""
        if actions == "gui" or (actions == "both" and self.api_oracle is None):
            return self.oracle
        return self.api_oracle

    @property
    def checked(self) -> bool:
        """Whether criteria decide about it. Otherwise its episodes end ``unverified``."""
        return not isinstance(self.success, NoCriteria)

    @property
    def needs(self) -> frozenset[Capability]:
        """What a desktop must be able to do for the set-up; criteria and oracles may need more."""
        needs = frozenset[Capability]().union(*(step.needs() for step in (*self.setup, *self.closing)))
        return needs if self.profile == "bare" else needs | {Capability.PROFILES}

    def begin(self, desktop: Desktop) -> None:
        """Bring a freshly reset desktop into this task's initial state; ``NotSupported`` if it can't be."""
        require(desktop, self.needs, f"the set-up of {self.id}")
        if Capability.PROFILES in desktop.capabilities:
            desktop.use_profile(self.profile)
        self._apply(self.setup, desktop, "set-up")

    def close(self, desktop: Desktop) -> None:
        """Do what comes between the agent and the criteria."""
        if self.closing:
            self._apply(self.closing, desktop, "closing")

    def _apply(self, steps: tuple[SetupStep, ...], desktop: Desktop, what: str) -> None:
        try:
            for step in steps:
                step.apply(desktop)
            desktop.settle()
        except (OperantError, OSError):
            raise
        except Exception as error:  # of a user's own step, or of ours in an unforeseen case
            raise SetupFailed(f"{self.id}: the {what} raised {type(error).__name__}: {error}") from error
