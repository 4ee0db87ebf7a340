"""Members of a team: each an agent that is asked with a time limit, and replaced after a call that did not end.

Knows nothing of parts or reviews. Whatever the agent does wrong becomes ``MemberFailed``; a model server or a desktop
that is down stays the machine's failure.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from operant.agents.base import Agent, AttachedAgent, Decision, TaskView
from operant.agents.deadline import Deadline
from operant.config.team import MemberSettings, TeamSettings
from operant.errors import AgentTimeout, DesktopError, InvalidAction, ModelServerError
from operant.types import Action, Observation

if TYPE_CHECKING:
    from operant.desktop.protocol import Desktop
    from operant.tasks.task import Task

__all__ = ["Crew", "Member", "MemberFailed"]


class MemberFailed(Exception):
    """A member raised, or did not answer in time; carries the sentence that says so."""


class Member:
    """One member. ``make`` makes its agent, and another one if that hangs."""

    def __init__(self, name: str, settings: MemberSettings, make: Callable[[], Agent]) -> None:
        self.name = name
        self.settings = settings
        self._make = make
        self._attached: tuple[Desktop, Task] | None = None
        self._spent_s = 0.0
        self._use(make())

    def attach(self, desktop: Desktop, task: Task) -> None:
        """Where it plays; only a privileged agent is told."""
        self._attached = desktop, task

    def begin(self, view: TaskView) -> None:
        """A new round of a part, with an agent that answers."""
        self._spent_s = 0.0
        if self._deadline.lost:
            self._use(self._make())
        began = time.monotonic()
        if isinstance(self.agent, AttachedAgent) and self._attached is not None:
            self._ask(self.agent.attach, *self._attached)
        self._ask(self.agent.begin, view)
        self._spent_s = time.monotonic() - began  # beginning and the first answer are one turn

    def act(self, observation: Observation) -> Decision:
        try:
            said = self._ask(self.agent.act, observation)
        except InvalidAction as error:
            return Decision(error=error.message)
        finally:
            self._spent_s = 0.0
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
            return self._deadline.call(max(0.1, self.settings.turn_s - self._spent_s), function, *args)
        except AgentTimeout as error:
            raise MemberFailed(f"{self.name} hangs: {error.message}") from error
        except (InvalidAction, ModelServerError):
            raise
        except BaseException as error:  # whatever foreign code raises, even SystemExit
            if isinstance(error, DesktopError) and isinstance(self.agent, AttachedAgent):
                raise
            raise MemberFailed(f"{self.name} failed: {type(error).__name__}: {error}") from error


class Crew(Mapping[str, Member]):
    """The members by name, and more of each for parts that are done at once. Safe for threads."""

    def __init__(self, settings: TeamSettings, makers: Mapping[str, Callable[[], Agent]]) -> None:
        self._settings = settings
        self._makers = makers
        self._lock = threading.Lock()
        self._spare: dict[str, list[Member]] = {}
        self._closed = False
        self._first: dict[str, Member] = {}
        try:
            for name in settings.members:
                self._first[name] = self._make(name)
        except BaseException:
            self.close()
            raise

    def __getitem__(self, name: str) -> Member:
        return self._first[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._first)

    def __len__(self) -> int:
        return len(self._first)

    def chain(self, name: str) -> list[str]:
        """Who does a part of that member's: it, its deputy, the deputy's deputy."""
        chain = [name]
        while (deputy := self._settings.members[chain[-1]].deputy) is not None and deputy not in chain:
            chain.append(deputy)
        return chain

    def lend(self, names: Iterable[str]) -> dict[str, Member]:
        """Others of these members, for a desktop of their own."""
        lent: dict[str, Member] = {}
        for name in names:
            with self._lock:
                spare = self._spare.get(name)
                found = spare.pop() if spare else None
            lent[name] = found or self._make(name)
        return lent

    def give_back(self, members: Iterable[Member]) -> None:
        """For later parts. Only members that are not in a call may be given back."""
        with self._lock:
            if not self._closed:
                for member in members:
                    self._spare.setdefault(member.name, []).append(member)
                return
        for member in members:
            member.close()

    def close(self) -> None:
        with self._lock:
            self._closed = True
            everyone = [*self._first.values(), *(one for spare in self._spare.values() for one in spare)]
            self._spare = {}
        for member in everyone:
            member.close()

    def _make(self, name: str) -> Member:
        return Member(name, self._settings.members[name], self._makers[name])
