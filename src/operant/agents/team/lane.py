"""One part on a desktop of its own: set up like the episode's, played turn by turn, and what it changed in the end.

Everything that takes time (starting, thinking, collecting) happens in threads; the turns themselves are carried out by
the episode's loop. Knows nothing of other parts but the folder that is shared with them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from operant.agents.base import Agent, Decision
from operant.agents.team.background import in_background
from operant.agents.team.desks import Desks
from operant.agents.team.files import FileChanges, SharedFolder, changes_since, list_home
from operant.agents.team.member import Crew, Member
from operant.agents.team.planning import Part
from operant.agents.team.work import Message, PartWork
from operant.envs.task_environment import TaskEnvironment, typed_failures
from operant.errors import DesktopError, OperantError
from operant.types import Observation

if TYPE_CHECKING:
    from operant.desktop.pool import Lease
    from operant.tasks.task import Task

__all__ = ["Lane"]

NO_CAP = 1_000_000  # the episode counts the steps


class Lane:
    """``make_work`` makes the part with members of its own; ``before`` is what earlier parts did to the files."""

    def __init__(
        self,
        name: str,
        part: Part,
        make_work: Callable[[Mapping[str, Member]], PartWork],
        names: Sequence[str],
        *,
        crew: Crew,
        task: Task,
        desks: Desks,
        shared: SharedFolder,
        before: FileChanges,
        messages: Sequence[Message],
        shown: Agent,
    ) -> None:
        self.name = name
        self.part = part
        self.changes = FileChanges()
        """What the part did to the files, once it is collected."""
        self.environment: TaskEnvironment | None = None
        self._make_work = make_work
        self._names = names
        self._crew = crew
        self._task = replace(task, instruction=part.instruction, max_steps=NO_CAP)
        self._desks = desks
        self._shared = shared
        self._before = before
        self._messages = messages
        self._shown = shown
        self._work: PartWork | None = None
        self._members: dict[str, Member] = {}
        self._lease: Lease | None = None
        self._listing: dict[str, tuple[int, float]] = {}
        self._known: dict[str, tuple[tuple[int, float], int]] = {}

    @property
    def work(self) -> PartWork:
        assert self._work is not None
        return self._work

    def prepare(self) -> Future[Observation]:
        """Get members and a desktop, and set it up."""
        return in_background(f"operant-lane-{self.name}", self._prepare)

    def think(self, observation: Observation) -> Future[Decision]:
        """The next turn of the member that is on."""
        return in_background(f"operant-lane-{self.name}", lambda: self._think(observation))

    def collect(self) -> Future[None]:
        """Read what the part changed."""
        return in_background(f"operant-lane-{self.name}", self._collect)

    def leave(self, under_way: Future[Any] | None = None) -> None:
        """Let go of the desktop and of the members. Those in a call are closed when it ends, and not used again."""
        if under_way is None:
            self._crew.give_back(self._members.values())
        else:
            under_way.add_done_callback(lambda _: self._dismiss())
        if self._lease is not None:
            self._lease.release()

    def _dismiss(self) -> None:
        for member in self._members.values():
            with contextlib.suppress(Exception):  # foreign code
                member.close()
        if self._lease is not None:
            self._lease.release()  # it may have come too late

    @typed_failures()
    def _prepare(self) -> Observation:
        self._lease = self._desks.lease()
        self._members = self._crew.lend(self._names)
        desktop = self._lease.desktop
        try:
            self._task.begin(desktop)
            self._before.apply(desktop)
            self._shared.exchange(desktop, self._known)
            self._listing = list_home(desktop, self._shared.name)
        except DesktopError:
            raise
        except (OperantError, OSError) as error:
            why = error.message if isinstance(error, OperantError) else str(error)
            raise DesktopError(f"{self.name} could not be set up: {why}") from error
        for member in self._members.values():
            member.attach(desktop, self._task)
        self._work = self._make_work(self._members)
        agent = self._shown
        self.environment = TaskEnvironment(
            desktop, with_tree=agent.sees_widgets, still_ms=agent.still_ms, commands=agent.runs_commands
        )
        return self.environment.begin(self._task, prepared=True)

    @typed_failures()
    def _think(self, observation: Observation) -> Decision:
        assert self._lease is not None
        self._shared.tell("".join(f"{one.sender}: {one.text}\n" for one in list(self._messages)))
        self._shared.exchange(self._lease.desktop, self._known)
        return self.work.turn(observation)

    @typed_failures()
    def _collect(self) -> None:
        assert self._lease is not None
        self._shared.exchange(self._lease.desktop, self._known)
        self.changes = changes_since(self._lease.desktop, self._listing, self._shared.name)
