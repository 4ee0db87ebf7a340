"""All attempts: a queue in front of the desktops, and the threads that let agents play.

An attempt without a session gets a desktop of its own for as long as it takes. Whatever the machine does wrong
is tried once more on another desktop; what is finished is on disk before anybody hears of it.
"""

from __future__ import annotations

import collections
import contextvars
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from loguru import logger

from operant.agents.base import Agent, PrivilegedAgent
from operant.errors import (
    DesktopError,
    OperantError,
    RequestForbidden,
    ServiceNotReady,
    TooManyRequests,
    UnknownAttempt,
)
from operant.rollout.episode import EpisodeResult, Step
from operant.rollout.loop import Limits, Recorder, Stopped, run_episode
from operant.rollout.store import EpisodeWriter
from operant.service.attempts.attempt import Attempt, Status
from operant.service.attempts.environment import SharedEnvironment
from operant.service.inference.predictor import Predictor
from operant.service.logs import current_request_id
from operant.service.masking import MaskedRecorder
from operant.service.sessions.session import Session
from operant.service.sessions.sessions import Sessions
from operant.service.sessions.sight import read_widgets
from operant.tasks.task import Task
from operant.types import Observation, Outcome

__all__ = ["Attempts"]

KEPT = 500
TRIES = 2
QUEUE_S = 600.0  # how long an attempt waits for a desktop

Observe = Callable[[Attempt, EpisodeResult], None]


class Attempts:
    """``observe`` hears of each that ended by itself; ``episode_id`` names what was written."""

    def __init__(
        self,
        sessions: Sessions,
        directory: Path,
        *,
        workers: int,
        queued: int,
        act_timeout_s: float,
        episode_id: Callable[[Path], str],
        observe: Observe = lambda attempt, result: None,
    ) -> None:
        self._sessions = sessions
        self._directory = directory
        self._most = workers + queued
        self._limits = Limits(act_s=act_timeout_s, begin_s=act_timeout_s)
        self._episode_id = episode_id
        self._observe = observe
        self._lock = threading.Lock()
        self._attempts: collections.OrderedDict[str, Attempt] = collections.OrderedDict()
        self._threads = ThreadPoolExecutor(workers, "operant-attempt")
        self._closed = False

    def start(
        self,
        task: Task,
        predictor: Predictor,
        *,
        deterministic: bool,
        session: Session | None = None,
        secrets: Sequence[str] = (),
        pace_s: float = 0.0,
        close: bool = False,
    ) -> Attempt:
        """Queue an attempt; it runs as soon as there is a thread and a desktop for it.

        ``close`` says that the model was loaded for this attempt alone and is let go of afterwards.
        """
        if predictor.info.privileged and task.oracle is None:
            raise RequestForbidden(
                f"{predictor.info.name} knows how to do tasks of a suite only", hint="give a task_id"
            )
        attempt = Attempt(
            uuid.uuid4().hex[:12],
            task,
            predictor.info.name,
            deterministic,
            session.id if session else None,
            tuple(secrets),
            current_request_id(),
            pace_s=pace_s,
        )
        with self._lock:
            if self._closed:
                raise ServiceNotReady("the service is stopping")
            if sum(not one.over for one in self._attempts.values()) >= self._most:
                raise TooManyRequests("too many tasks are waiting already", hint="wait until some have ended")
            self._attempts[attempt.id] = attempt
            while len(self._attempts) > KEPT and next(iter(self._attempts.values())).over:
                self._attempts.popitem(last=False)
        context = contextvars.copy_context()
        running = self._threads.submit(context.run, self._run, attempt, predictor, session)
        if close:
            running.add_done_callback(lambda _: predictor.close())
        return attempt

    def find(self, identity: str) -> Attempt:
        with self._lock:
            attempt = self._attempts.get(identity)
        if attempt is None:
            raise UnknownAttempt(f"there is no attempt {identity[:60]!r}", hint=f"the last {KEPT} are kept")
        return attempt

    def list(self) -> list[Attempt]:
        """The newest first."""
        with self._lock:
            return list(reversed(self._attempts.values()))

    def cancel(self, attempt: Attempt) -> None:
        """Stop before the next action; what has been done so far stays on disk as an episode cut short."""
        attempt.cancelled.set()
        if attempt.status == Status.QUEUED:
            attempt.move(Status.CANCELLED)

    def close(self) -> None:
        with self._lock:
            self._closed = True
            running = list(self._attempts.values())
        for attempt in running:
            self.cancel(attempt)
        self._threads.shutdown(wait=True, cancel_futures=True)

    # In a thread of its own.

    def _run(self, attempt: Attempt, predictor: Predictor, session: Session | None) -> None:
        if attempt.over:
            return
        try:
            for number in range(1, TRIES + 1):
                result, directory = self._try(attempt, predictor, session)
                again = result.outcome is Outcome.INFRA_ERROR and session is None
                if not again or number == TRIES or self._closed:
                    break
                logger.warning("attempt {}: {}; trying once more", attempt.id, result.why)
        except Stopped:
            attempt.move(Status.CANCELLED)
        except OperantError as error:
            logger.warning("attempt {} failed: {}", attempt.id, error.message)
            attempt.move(Status.FAILED, error=error)
        except Exception:  # noqa: BLE001 - an attempt that is never over would be waited for for ever
            logger.exception("attempt {} failed unexpectedly", attempt.id)
            attempt.move(
                Status.FAILED, error=ServiceNotReady("something unexpected went wrong; it is in the log")
            )
        else:
            self._observe(attempt, result)
            attempt.move(Status.FINISHED, result=attempt.judge(result, self._episode_id(directory)))

    def _try(
        self, attempt: Attempt, predictor: Predictor, session: Session | None
    ) -> tuple[EpisodeResult, Path]:
        directory = self._directory / _directory_name(attempt)
        agent = predictor.make_agent(deterministic=attempt.deterministic)
        try:
            with self._on(attempt, session) as place:
                attempt.session = place.id
                with place.working(attempt.id, attempt.instruction, attempt.model):
                    attempt.move(Status.RUNNING)
                    return self._play(attempt, agent, place, directory), directory
        finally:
            agent.close()

    def _play(self, attempt: Attempt, agent: Agent, place: Session, directory: Path) -> EpisodeResult:
        wants_widgets = "a11y" in agent.observation_type
        environment = SharedEnvironment(
            place,
            attempt.cancelled,
            with_tree=wants_widgets and (not place.live or read_widgets(place) is not None),
            secrets=attempt.secrets,
            pace_s=attempt.pace_s,
        )
        writer: Recorder = EpisodeWriter(directory, _about(attempt, agent))
        recorder = MaskedRecorder(_Both(writer, attempt), attempt.secrets)
        result = run_episode(agent, environment, attempt.task, recorder, self._limits, stop=attempt.cancelled)
        if result.outcome is Outcome.INFRA_ERROR:
            self._check(place)
        return result

    def _check(self, place: Session) -> None:
        """A desktop that fails is not to be used again."""
        try:
            check = getattr(place.desktop, "check", None)
            if check is not None:
                check()
        except DesktopError as error:
            self._sessions.broken(place, error)
        except OperantError:
            pass  # it was ended meanwhile

    @contextmanager
    def _on(self, attempt: Attempt, session: Session | None) -> Iterator[Session]:
        if session is not None:
            yield session
            return
        own = self._sessions.create(f"task-{attempt.id}", timeout_s=QUEUE_S, profile=attempt.task.profile)
        try:
            yield own
        finally:
            self._sessions.end(own)


class _Both:
    """Two recorders: first the disk, then those who wait."""

    def __init__(self, first: Recorder, second: Recorder) -> None:
        self._both = (first, second)

    def begin(self, task: Task) -> None:
        for one in self._both:
            one.begin(task)

    def look(self, observation: Observation) -> None:
        for one in self._both:
            one.look(observation)

    def step(self, step: Step, observation: Observation) -> None:
        for one in self._both:
            one.step(step, observation)

    def end(self, result: EpisodeResult) -> None:
        for one in self._both:
            one.end(result)

    def abandon(self) -> None:
        for one in self._both:
            one.abandon()


def _about(attempt: Attempt, agent: Agent) -> Mapping[str, Any]:
    return {
        "agent": attempt.model,
        "fingerprint": agent.fingerprint,
        "privileged": isinstance(agent, PrivilegedAgent),
        "observation_type": agent.observation_type,
        "attempt": attempt.id,
        "request_id": attempt.request_id,
    }


def _directory_name(attempt: Attempt) -> str:
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime(attempt.created))
    return f"{stamp}-{attempt.id}"
