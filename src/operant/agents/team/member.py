"""A member of a team: an agent that is asked with a time limit, and replaced after a call that did not end.

Knows nothing of parts or reviews. Whatever the agent does wrong becomes ``MemberFailed``; a model server or a desktop
that is down stays the machine's failure.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from operant.agents.base import Agent, Decision, PrivilegedAgent, TaskView
from operant.agents.deadline import Deadline
from operant.config.team import MemberSettings
from operant.errors import AgentTimeout, DesktopError, InvalidAction, ModelServerError
from operant.types import Action, Observation

if TYPE_CHECKING:
    from operant.desktop.protocol import Desktop
    from operant.tasks.task import Task

__all__ = ["Member", "MemberFailed"]


class MemberFailed(Exception):
    """A member raised, or did not answer in time; carries the sentence that says so."""


class Member:
    """One member. ``make`` makes its agent, and another one if that hangs."""

    def __init__(self, name: str, settings: MemberSettings, make: Callable[[], Agent]) -> None:
        self.name = name
        self.settings = settings
        self._make = make
        self._attached: tuple[Desktop, Task] | None = None
        self._use(make())

    def attach(self, desktop: Desktop, task: Task) -> None:
        """Where it plays; only a privileged agent is told."""
        self._attached = desktop, task

    def begin(self, view: TaskView) -> None:
        """A new round of a part, with an agent that answers."""
        if self._deadline.lost:
            self._use(self._make())
        if isinstance(self.agent, PrivilegedAgent) and self._attached is not None:
            self._ask(self.agent.attach, *self._attached)
        self._ask(self.agent.begin, view)

    def act(self, observation: Observation) -> Decision:
        try:
            said = self._ask(self.agent.act, observation)
        except InvalidAction as error:
            return Decision(error=error.message)
        if isinstance(said, Decision):
            return said
        if isinstance(said, Action):
            return Decision((said,))
        return Decision(error=f"{self.name} returned a {type(said).__name__} and not an action")

    def close(self) -> None:
        if not self._deadline.lost:  # an agent that hangs in a call can't be closed
            self.agent.close()
        self._deadline.__exit__()

    def _use(self, agent: Agent) -> None:
        self.agent = agent
        self._deadline = Deadline(f"operant-member-{self.name}")

    def _ask(self, function: Callable[..., Any], *args: Any) -> Any:
        try:
            return self._deadline.call(self.settings.turn_s, function, *args)
        except AgentTimeout as error:
            raise MemberFailed(f"{self.name} hangs: {error.message}") from error
        except (InvalidAction, ModelServerError):
            raise
        except BaseException as error:  # whatever foreign code raises, even SystemExit
            if isinstance(error, DesktopError) and isinstance(self.agent, PrivilegedAgent):
                raise
            raise MemberFailed(f"{self.name} failed: {type(error).__name__}: {error}") from error
