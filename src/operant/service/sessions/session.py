"""One leased desktop: what is done to it, who may do it, and what those who watch are told.

An agent and a person can share one. While an agent is at work only it acts; a person who takes over makes it
wait, and hands back when done. Everything here may be called from any thread.
"""

from __future__ import annotations

import collections
import itertools
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from operant.actions.describe import describe
from operant.actions.json_actions import to_json
from operant.calls.permission import check_allowed
from operant.config.desktop import Profile
from operant.desktop.local import LocalDesktop
from operant.desktop.protocol import Desktop
from operant.errors import DesktopError, NotApproved, SessionBusy, SessionExpired, UnknownEpisode
from operant.service.masking import mask_action
from operant.service.sessions.changes import Box, changed_box, changed_share, window_changes
from operant.tasks.criteria.base import Criterion
from operant.types import Action, Observation, PastAction, Size

__all__ = ["Event", "Performed", "Session"]

FRAMES_KEPT = 4  # 4 MB each
DEEDS_KEPT = 64
EVENTS_KEPT = 100
CANCEL_POLL_S = 0.1  # between two looks at a cancellation while waiting for a turn


@dataclass(frozen=True, slots=True)
class Event:
    """Something that those who watch are told."""

    number: int
    kind: str
    data: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Performed:
    """What an action led to."""

    frame: int
    """Which of the session's frames shows it settled."""
    changed: bool
    settled: bool
    waited_ms: float
    region: Box | None
    share: float
    opened: list[str]
    closed: list[str]
    pointer: tuple[int, int]
    text: str = ""
    """What a call answered."""


class Session:
    """``release`` gives the desktop back; ``approve`` may hold an action until it is approved, ``confirm`` a turn
    until its safety checks are."""

    def __init__(
        self,
        identity: str,
        desktop: Desktop,
        ttl_s: float,
        *,
        renew: Callable[[float], None] = lambda ttl_s: None,
        release: Callable[[], None] = lambda: None,
        approve: Callable[[str], None] | None = None,
        confirm: Callable[[str], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.id = identity
        self.ttl_s = ttl_s
        self.live = isinstance(desktop, LocalDesktop)
        self.created = time.time()
        self.steps = 0
        self.attempt: str | None = None
        self.instruction = ""
        self.model = ""
        self.taken_over = False
        self.closed = False
        self.success: Criterion | None = None  # decides about instructions that bring no criteria
        self.seen: Observation | None = None  # by an agent that was asked for one action
        self._desktop = desktop
        self._renew, self._release, self._approve, self._confirm = renew, release, approve, confirm
        self._clock = clock
        self._exclusive = threading.RLock()
        self._turn = threading.Condition()
        self._events: collections.deque[Event] = collections.deque(maxlen=EVENTS_KEPT)
        self._numbers = itertools.count(1)
        self._frames: collections.OrderedDict[int, npt.NDArray[np.uint8]] = collections.OrderedDict()
        self._past_actions: collections.deque[PastAction] = collections.deque(maxlen=DEEDS_KEPT)
        self.touch()

    # Time.

    def touch(self) -> None:
        """It is being used: it lives on."""
        self.expires_at = self._clock() + self.ttl_s
        self._renew(self.ttl_s + 60.0)  # the pool is the second line of defence

    @property
    def expires_in_s(self) -> float:
        return max(0.0, self.expires_at - self._clock())

    def close(self) -> None:
        """Give the desktop back. Waiting calls are told."""
        with self._turn:
            if self.closed:
                return
            self.closed = True
            self._turn.notify_all()
        self.publish("closed")
        self._release()

    # Looking.

    @property
    def desktop(self) -> Desktop:
        if self.closed:
            raise SessionExpired(f"the session {self.id} has ended", hint="POST /api/v1/sessions for another")
        return self._desktop

    @property
    def size(self) -> Size:
        return self._desktop.size

    @property
    def profile(self) -> Profile | None:
        """What the desktop shows besides programs; None for a screen that is not ours."""
        return self._desktop.profile

    def look(self) -> npt.NDArray[np.uint8]:
        """The screen now, without waiting for a turn."""
        return self.desktop.glance()

    def kept_frame(self, number: int) -> npt.NDArray[np.uint8]:
        try:
            return self._frames[number]
        except KeyError:
            raise UnknownEpisode(
                f"frame {number} is not kept any more", hint=f"the last {FRAMES_KEPT} are"
            ) from None

    def past_actions(self, most: int) -> tuple[PastAction, ...]:
        """The last actions of people and programs, at most so many, the last one last."""
        return tuple(self._past_actions)[max(0, len(self._past_actions) - most) :]

    # Acting.

    def perform(self, action: Action, *, secret: bool = False) -> Performed:
        """A person's action. Refused while an agent works, unless it was taken over."""
        if self.attempt is not None and not self.taken_over:
            raise SessionBusy("an agent is at work here", hint="take over first, or cancel its task")
        with self.exclusive_access():
            desktop = self.desktop
            if not self.live:
                check_allowed(action, getattr(desktop, "actions", "gui"), "this desktop")
            if self.live and self._approve is not None:
                self._approve(describe(mask_action(action, wholly=secret), desktop.size))
            before, windows = desktop.frame(), desktop.windows()
            told = mask_action(action, wholly=secret)
            self.announce(told, "person")
            after = desktop.perform(action)
            opened, closed = window_changes(windows, desktop.windows())
            step = desktop.last_step
            region = changed_box(before, after)
            target = self.seen.aimed_at(action) if self.seen is not None else ""
            self._past_actions.append(PastAction(told, target, region is not None))
            return Performed(
                self.keep(after),
                region is not None,
                step.settled,
                step.waited_ms,
                region,
                changed_share(before, after) if region else 0.0,
                opened,
                closed,
                desktop.pointer(),
                step.text,
            )

    @contextmanager
    def exclusive_access(self) -> Iterator[None]:
        """Nothing else is done to the desktop meanwhile."""
        with self._exclusive:
            self.touch()
            yield
            self.touch()

    def approve(self, action: Action) -> None:
        if self._approve is not None:
            self._approve(describe(action, self.size))

    def confirm(self, check: str) -> None:
        """Return when a person has confirmed a model's safety check; ``NotApproved`` otherwise."""
        if self._confirm is None:
            raise NotApproved("there is no one to ask")
        self._confirm(f"safety check: {check}")

    def keep(self, frame: npt.NDArray[np.uint8]) -> int:
        self.steps += 1
        self._frames[self.steps] = frame
        while len(self._frames) > FRAMES_KEPT:
            self._frames.popitem(last=False)
        return self.steps

    # Taking turns.

    def take_over(self, on: bool) -> None:
        """A person wants to act (or has finished); the agent waits meanwhile."""
        with self._turn:
            if self.taken_over == on:
                return
            self.taken_over = on
            self._turn.notify_all()
        self.touch()
        self.publish("control", taken_over=on, attempt=self.attempt)

    def wait_for_turn(self, cancelled: threading.Event) -> None:
        """Block the agent while a person has control."""
        with self._turn:
            while self.taken_over and not self.closed and not cancelled.is_set():
                self._turn.wait(CANCEL_POLL_S)
        if self.closed:
            raise DesktopError("the session was ended")

    @contextmanager
    def working(self, attempt: str, instruction: str, model: str) -> Iterator[None]:
        """An agent works here until this is left."""
        with self._turn:
            if self.attempt is not None:
                raise SessionBusy(f"{self.attempt} is at work here", hint="wait for it, or cancel it")
            self.attempt, self.instruction, self.model = attempt, instruction, model
        self.publish("attempt", attempt=attempt, instruction=instruction, model=model)
        try:
            yield
        finally:
            with self._turn:
                self.attempt, self.instruction, self.model = None, "", ""
            self.publish("attempt", attempt=None, instruction="", model="")

    # Telling.

    def announce(self, action: Action, by: str) -> None:
        """Those who watch draw it on the picture."""
        where = to_json(action)
        self.publish(
            "action",
            by=by,
            description=describe(action, self.size),
            point=where.get("point"),
            path=where.get("path"),
            clicks=action.clicks,
        )

    def publish(self, kind: str, **data: Any) -> None:
        self._events.append(Event(next(self._numbers), kind, data))

    def events_after(self, number: int) -> list[Event]:
        return [event for event in list(self._events) if event.number > number]
