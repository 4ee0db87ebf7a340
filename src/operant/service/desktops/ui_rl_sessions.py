"""Sessions of UI-RL's protocol: a desktop with a task set up on it, until its client ends it or goes away.

Session types are tasks of ours. A session ends when its client says so or does nothing for a while; the pool resets or
replaces the desktop. Knows nothing of HTTP.
"""

from __future__ import annotations

import difflib
import re
import secrets
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from loguru import logger

from operant.actions import ui_rl
from operant.config.desktop import DesktopConfig
from operant.desktop.pool import DesktopPool, Lease
from operant.desktop.protocol import Desktop
from operant.desktop.sandbox import SandboxDesktop
from operant.errors import ConfigError, DesktopClosed, SessionExpired, UnknownSession, UnknownTask
from operant.tasks.criteria.base import World
from operant.tasks.criteria.question import Unclear
from operant.tasks.task import Task
from operant.types import MAX_DURATION_S, ActionKind

__all__ = ["SessionType", "UIRLSessions", "session_types"]

LEASE_WAIT_S = 10.0
MOST_SEEDS = 2**31
REMEMBERED = 1000  # sessions that have ended
SHORT = re.compile(r"[^/]+/(.+)-v[0-9]+")

Frame = npt.NDArray[np.uint8]


class SessionType(Protocol):
    """What a template of a suite and a task of a file have in common."""

    @property
    def id(self) -> str: ...

    def instance(self, seed: int, split: str = "train") -> Task: ...


def session_types(templates: Iterable[SessionType]) -> dict[str, SessionType]:
    """Templates by id and by short name: ``core/fill-field-v1`` is ``fill_field``. The first of a name counts."""
    found: dict[str, SessionType] = {}
    for template in templates:
        short = SHORT.fullmatch(template.id)
        for name in (template.id, short[1].replace("-", "_") if short else template.id):
            found.setdefault(name, template)
    return found


class UIRLSessions:
    """All sessions of one server. Safe for threads."""

    def __init__(
        self,
        count: int,
        types: Mapping[str, SessionType],
        config: DesktopConfig | None = None,
        *,
        default_type: str = "simple_data_entry",
        idle_s: float = 300.0,
        lease_wait_s: float = LEASE_WAIT_S,
        factory: Callable[[DesktopConfig], Desktop] = SandboxDesktop,
    ) -> None:
        self.types = dict(types)
        self.default_type = default_type
        self.idle_s = idle_s
        self.lease_wait_s = lease_wait_s
        self._type(default_type)
        self.pool = DesktopPool(count, config, ttl_s=idle_s, factory=factory)
        # Not from 1: a client of a server that was started anew must not find another's session under its number.
        self._next = int(time.time())
        self._sessions: dict[int, _Session] = {}
        self._ended: dict[int, None] = {}
        self._single: int | None = None
        self._lock = threading.Lock()
        self._single_lock = threading.Lock()

    # Coming and going.

    def create(self, type: str | None = None, count: int = 1, seed: int | None = None) -> list[int]:
        """Begin so many sessions, or none. ``seed`` decides what fills a task's blanks."""
        template = self._type(type or self.default_type)
        if not 1 <= count <= self.pool.size:
            raise ConfigError(
                f"n={count} sessions at once can't be",
                hint=f"this server has {self.pool.size} desktops: see --desktops",
            )
        with ThreadPoolExecutor(count, thread_name_prefix="operant-session") as beginners:
            futures = [beginners.submit(self._begin, template, seed) for _ in range(count)]
        failures = [error for future in futures if (error := future.exception()) is not None]
        made = [future.result() for future in futures if future.exception() is None]
        if failures:
            for session in made:
                session.lease.release()
            raise failures[0]
        with self._lock:
            numbers = list(range(self._next, self._next + count))
            self._next += count
            self._forget()
            self._sessions.update(zip(numbers, made, strict=True))
        logger.info("{}: sessions {}", template.id, numbers)
        return numbers

    def _type(self, name: str) -> SessionType:
        if name not in self.types:
            near = difflib.get_close_matches(name[:80], self.types, 1)
            raise UnknownTask(
                f"there is no session type {name[:80]!r}",
                hint=f"did you mean {near[0]!r}?" if near else "GET /types lists them",
            )
        return self.types[name]

    def _begin(self, template: SessionType, seed: int | None) -> _Session:
        task = template.instance(secrets.randbelow(MOST_SEEDS) if seed is None else seed)
        lease = self.pool.lease(timeout_s=self.lease_wait_s, ttl_s=self.idle_s + MAX_DURATION_S)
        try:
            task.begin(lease.desktop)
            lease.renew(self.idle_s)
        except BaseException:
            lease.release()
            raise
        return _Session(task, lease)

    def end(self, number: int) -> None:
        with self._lock:
            session = self._sessions.pop(number, None)
            if session is not None:
                self._ended[number] = None
        if session is None:
            raise self._unknown(number)
        session.release()
        logger.info("session {} has ended", number)

    def single(self, *, anew: bool = False) -> int:
        """The session of those who know of no others: begun when it is first needed, or anew."""
        with self._single_lock:
            if anew and self._single is not None:
                with self._lock:
                    before = self._sessions.pop(self._single, None)
                if before is not None:
                    before.release()
                self._single = None
            if self._single is None:
                (self._single,) = self.create()
            number, session = self._single, self._sessions.get(self._single)
            if session is None or session.ended:
                self._single = None  # its client hears of it once, and then may begin again
                self._ended[number] = None
            return number

    def close(self) -> None:
        self.pool.close()

    # Using one.

    @contextmanager
    def _using(self, number: int) -> Iterator[_Session]:
        with self._lock:
            session = self._sessions.get(number)
        if session is None:
            raise self._unknown(number)
        with session.lock:
            if session.ended:
                with self._lock:
                    self._sessions.pop(number, None)
                    self._ended[number] = None
                raise self._unknown(number)
            session.lease.renew(self.idle_s + MAX_DURATION_S)
            try:
                yield session
            finally:
                session.lease.renew(self.idle_s)

    def _unknown(self, number: int) -> UnknownSession:
        if number in self._ended:
            return SessionExpired(
                f"session {number} has ended",
                hint=f"POST /session begins another; one that is unused for {self.idle_s:g} s is ended",
            )
        return UnknownSession(f"there is no session {number}", hint="POST /session begins one")

    def screenshot(self, number: int) -> Frame:
        with self._using(number) as session:
            return session.lease.desktop.frame()

    def act(self, number: int, parameters: Mapping[str, Any], delay_s: float = 0.0) -> Frame:
        """Do it, wait until the screen has settled and for so long at least, and look."""
        with self._using(number) as session:
            desktop = session.lease.desktop
            (action,) = ui_rl.parse(parameters, desktop.size)
            if action.kind is ActionKind.SCREENSHOT:
                return desktop.frame()
            began = time.monotonic()
            frame = desktop.perform(action)
            session.actions += 1
            left = delay_s - (time.monotonic() - began)
            if left <= 0:
                return frame
            time.sleep(left)
            return desktop.frame()

    def progress(self, number: int) -> dict[str, Any]:
        """How many of the task's criteria hold, and whether it is done."""
        with self._using(number) as session:
            world = World(session.lease.desktop)
            verdicts = [part.check(world) for part in session.task.success.parts()]
        return {
            "progress": sum(map(bool, verdicts)) / len(verdicts),
            "done": all(map(bool, verdicts)),
            "criteria": [
                {"holds": bool(verdict), "known": not isinstance(verdict, Unclear), "why": verdict.why}
                for verdict in verdicts
            ],
        }

    def about(self, number: int) -> dict[str, Any]:
        with self._using(number) as session:
            return session.about(number)

    def status(self) -> dict[int, dict[str, Any]]:
        """Sessions that run."""
        with self._lock:
            self._forget()
            running = dict(self._sessions)
        return {number: session.about(number) for number, session in running.items()}

    def _forget(self) -> None:
        for number in [number for number, session in self._sessions.items() if session.ended]:
            del self._sessions[number]
            self._ended[number] = None
        for number in list(self._ended)[: max(0, len(self._ended) - REMEMBERED)]:
            del self._ended[number]


class _Session:
    """One client's task."""

    def __init__(self, task: Task, lease: Lease) -> None:
        self.task = task
        self.lease = lease
        self.lock = threading.Lock()
        self.actions = 0
        self.began = datetime.now(UTC)

    @property
    def ended(self) -> bool:
        try:
            return self.lease.desktop is None
        except DesktopClosed:
            return True

    def release(self) -> None:
        """Give the desktop back once no call is under way."""
        with self.lock:
            self.lease.release()

    def about(self, number: int) -> dict[str, Any]:
        return {
            "id": number,
            "start_time": self.began.isoformat(),
            "action_count": self.actions,
            "stop_time": None,
            "type": self.task.id,
            "seed": self.task.seed,
            "instruction": self.task.instruction,
        }
