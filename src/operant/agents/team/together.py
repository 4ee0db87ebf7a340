"""Parts that are done at once, each on a desktop of its own, until all are done and their files are joined.

While members think, at the same time, the loop carries out one turn after another: whichever member answers first acts
next. A part that changed the same file as another one is done again afterwards, on the episode's desktop.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import replace
from typing import Any

from operant.agents.base import Decision
from operant.agents.team.files import FileChanges
from operant.agents.team.lane import Lane
from operant.agents.team.planning import Part
from operant.agents.team.work import LOOK
from operant.errors import ApplicationError, DesktopTimeout
from operant.types import Observation

__all__ = ["Together"]

WAIT_S = 15.0  # how long a turn waits for a member; the loop gives an agent more
SILENCE_S = 300.0  # no lane is silent for longer: members have time limits, and so has a desktop's start


class Together:
    """``make_lane`` opens a lane for a part; at most ``at_once`` are open."""

    def __init__(
        self, parts: Sequence[Part], at_once: int, make_lane: Callable[[Part], Lane], coordinator: str
    ) -> None:
        self.failed = ""
        """Why the stage failed."""
        self.answer = ""
        self.changes = FileChanges()
        """What all parts together did to the files."""
        self.again: list[Part] = []
        """Parts that could not be joined."""
        self.over = False
        self._waiting = list(parts)
        self._at_once = at_once
        self._make_lane = make_lane
        self._coordinator = coordinator
        self._open: dict[str, Lane] = {}
        self._under_way: dict[Future[Any], Lane] = {}
        self._acting: Lane | None = None
        self._heard = time.monotonic()

    def lane(self, name: str) -> Lane:
        return self._open[name]

    def turn(self, observation: Observation) -> Decision | None:
        """The next turn, for the desktop that it names; None when all parts are done, or one has failed.

        The observation is what the last turn led to, on its own desktop.
        """
        acted, self._acting = self._acting, None
        if acted is not None:
            self._go_on(acted, observation)
        while not self.failed:
            self._open_more()
            if not self._under_way:
                break
            done, _ = wait(self._under_way, WAIT_S, FIRST_COMPLETED)
            if not done:
                return self._still_waiting()
            self._heard = time.monotonic()
            decision = self._take(done.pop())
            if decision is not None:
                return decision
        self.over = True
        self.leave()
        return None

    def leave(self) -> None:
        """Give all desktops back, whatever is under way."""
        busy = {lane.name: future for future, lane in self._under_way.items()}
        for lane in self._open.values():
            lane.leave(busy.get(lane.name))
        self._open.clear()
        self._under_way.clear()

    def _open_more(self) -> None:
        while self._waiting and len(self._open) < self._at_once:
            lane = self._make_lane(self._waiting.pop(0))
            self._open[lane.name] = lane
            self._under_way[lane.prepare()] = lane

    def _take(self, done: Future[Any]) -> Decision | None:
        """What a lane has ready: its next turn, or a step further without one."""
        lane = self._under_way.pop(done)
        try:
            result = done.result()
        except ApplicationError as error:  # files that are too many to be joined
            self.failed = f"{lane.name}: {error.message}"
            return None
        if isinstance(result, Observation):
            # A look, so that the episode holds how this desktop begins.
            self._acting = lane
            said = f"hands out: {lane.part.instruction}"
            return Decision((LOOK,), response=said, actor=self._coordinator, desktop=lane.name)
        if isinstance(result, Decision):
            self._acting = lane
            return replace(result, desktop=lane.name)
        self._join(lane)
        return None

    def _go_on(self, lane: Lane, observation: Observation) -> None:
        work = lane.work
        if work.accepted is None:
            self._under_way[lane.think(observation)] = lane
        elif work.accepted:
            self._under_way[lane.collect()] = lane
        else:
            self.failed = f"{lane.name}, {lane.part.instruction[:80]!r}: {work.why}"

    def _join(self, lane: Lane) -> None:
        del self._open[lane.name]
        lane.leave()
        if self.changes.conflicts(lane.changes):
            self.again.append(lane.part)
            return
        self.changes = self.changes.joined(lane.changes)
        self.answer = lane.work.answer or self.answer

    def _still_waiting(self) -> Decision:
        names = sorted(lane.name for lane in self._under_way.values())
        if time.monotonic() - self._heard > SILENCE_S:
            raise DesktopTimeout(f"nothing came from {', '.join(names)} within {SILENCE_S:g} s")
        return Decision((LOOK,), response=f"waiting for {', '.join(names)}", actor=self._coordinator)
