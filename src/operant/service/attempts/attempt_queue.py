"""All attempts: a queue in front of the desktops, and the threads that let agents play.

An attempt without a session gets a desktop of its own for as long as it takes, and another try on another desktop after
an infra error. What is finished is on disk before clients are told.
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
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from loguru import logger

from operant.agents.base import Agent, PrivilegedAgent
from operant.envs.retry import RetryPolicy
from operant.errors import (
    DesktopError,
    OperantError,
    RequestForbidden,
    ServiceNotReady,
    TooManyRequests,
    UnknownAttempt,
)
from operant.rollout.episode import EpisodeResult
from operant.rollout.loop import Limits, Stopped
from operant.rollout.player import Desktops, EpisodePlayer, Job, Lent, PlayedEpisode, lost_to_the_machine
from operant.rollout.recorders import Recorder, Recorders
from operant.rollout.store import EpisodeWriter
from operant.service.attempts.attempt import Attempt, Status
from operant.service.attempts.environment import SharedEnvironment
from operant.service.inference.predictor import Predictor
from operant.service.logs import current_request_id
from operant.service.masking import MaskedRecorder
from operant.service.sessions.registry import TASK, Sessions
from operant.service.sessions.session import Session
from operant.service.sessions.sight import read_widgets
from operant.tasks.task import Task
from operant.types import Outcome

__all__ = ["AttemptQueue"]

KEPT = 500
RETRY = RetryPolicy(tries=2, pause_s=0.0)
QUEUE_S = 600.0  # how long an attempt waits for a desktop

Observe = Callable[[Attempt, EpisodeResult], None]


class AttemptQueue:
    """``observe`` is called for each that ended by itself; ``episode_id`` names what was written."""

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
        player = EpisodePlayer(
            _SessionDesktops(self._sessions, session),
            lambda job: predictor.make_agent(deterministic=attempt.deterministic),
            make_recorder=self._recorder,
            limits=self._limits,
            retry=RETRY,
            is_lost=lambda played: session is None and not self._closed and _is_lost(played),
        )
        try:
            played = player.play_through(_AttemptJob(attempt.task, attempt=attempt), attempt.cancelled)
            if played.error is not None:
                raise played.error
        except Stopped:
            attempt.move(Status.CANCELLED)
        except OperantError as error:
            logger.warning("attempt {} failed: {}", attempt.id, error.message)
            attempt.move(Status.FAILED, error=error)
        except Exception:  # noqa: BLE001 - clients of an attempt that never ends would hang
            logger.exception("attempt {} failed unexpectedly", attempt.id)
            attempt.move(
                Status.FAILED, error=ServiceNotReady("something unexpected went wrong; it is in the log")
            )
        else:
            if session is not None and played.result.outcome is Outcome.INFRA_ERROR:
                self._check(session)
            self._observe(attempt, played.result)
            directory = self._directory / _directory_name(attempt)
            attempt.move(Status.FINISHED, result=attempt.judge(played.result, self._episode_id(directory)))

    def _check(self, place: Session) -> None:
        """A desktop that fails is not to be used again."""
        try:
            place.desktop.check()
        except DesktopError as error:
            self._sessions.broken(place, error)
        except OperantError:
            pass  # it was ended meanwhile

    def _recorder(self, job: _AttemptJob, agent: Agent) -> Recorder:
        attempt = job.attempt
        writer = EpisodeWriter(self._directory / _directory_name(attempt), _about(attempt, agent))
        return MaskedRecorder(Recorders(writer, attempt), attempt.secrets)  # the disk first


@dataclass(eq=False)
class _AttemptJob(Job):
    attempt: Attempt = field(kw_only=True)


class _SessionDesktops(Desktops[_AttemptJob]):
    """The desktop of a client's session, or of a session that lasts as long as the attempt."""

    def __init__(self, sessions: Sessions, session: Session | None) -> None:
        self._sessions = sessions
        self._session = session

    @contextmanager
    def lend(self, job: _AttemptJob, agent: Agent) -> Iterator[Lent]:
        attempt = job.attempt
        with (
            self._place(attempt) as place,
            place.working(attempt.id, attempt.instruction, attempt.model),
        ):
            attempt.session = place.id
            attempt.move(Status.RUNNING)
            yield Lent(
                SharedEnvironment(
                    place,
                    attempt.cancelled,
                    with_tree=agent.sees_widgets and (not place.live or read_widgets(place) is not None),
                    secrets=attempt.secrets,
                    pace_s=attempt.pace_s,
                    still_ms=agent.still_ms,
                    commands=agent.runs_commands,
                )
            )

    @contextmanager
    def _place(self, attempt: Attempt) -> Iterator[Session]:
        if self._session is not None:
            yield self._session
            return
        own = self._sessions.create(f"{TASK}{attempt.id}", timeout_s=QUEUE_S, profile=attempt.task.profile)
        try:
            yield own
        finally:
            self._sessions.end(own)


def _is_lost(played: PlayedEpisode[_AttemptJob]) -> bool:
    """An attempt that got no desktop has waited long enough and fails."""
    if played.error is not None or not lost_to_the_machine(played):
        return False
    logger.warning("attempt {}: {}", played.job.attempt.id, played.result.why)
    return True


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
