"""The player: one job on one desktop with one agent, again if the machine spoiled it.

Puts together what ``run_episode`` needs, and says of each episode whether it counts. Knows nothing of threads or of
the order in which jobs are played: see ``operant.rollout.job_runner``.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from operant.agents.base import Agent
from operant.envs.retry import RetryPolicy
from operant.envs.task_environment import TaskEnvironment, typed_failures
from operant.errors import DesktopClosed, is_infra_error
from operant.rollout.episode import EpisodeResult
from operant.rollout.loop import Environment, Limits, Stopped, StopSignal, run_episode
from operant.rollout.recorders import Recorder
from operant.types import Outcome

if TYPE_CHECKING:
    from operant.desktop.pool import DesktopPool, Lease
    from operant.desktop.protocol import Desktop
    from operant.tasks.task import Task

__all__ = [
    "LEASE_S",
    "Desktops",
    "EpisodePlayer",
    "Job",
    "Lent",
    "PlayedEpisode",
    "PooledDesktops",
    "lost_to_the_machine",
]

LEASE_S = 120.0  # how long an episode waits for a desktop
PREPARED_S = 86_400.0  # a prepared desktop waits for its turn as long as the episodes before it take


@dataclass(eq=False)
class Job:
    """An episode to be played, and how its earlier tries ended."""

    task: Task
    seed: int = 0
    """For the agent's draws."""
    failed_tries: list[EpisodeResult] = field(default_factory=list, kw_only=True)


J = TypeVar("J", bound=Job)


@dataclass(frozen=True)
class Lent:
    """An environment for one episode. ``prepared`` says that the task was set up on it."""

    environment: Environment
    prepared: bool = False


class Desktops(ABC, Generic[J]):
    """Lends a desktop for each episode. Safe for threads."""

    @abstractmethod
    def lend(self, job: J, agent: Agent) -> AbstractContextManager[Lent]:
        """A desktop of the player's own for as long as the context lasts, with what the agent wants to see."""

    def prepare(self, job: J) -> None:
        """The job is next: set its task up meanwhile."""

    def forget(self, job: J) -> None:
        """A job that was prepared is not played now."""


def environment_for(desktop: Desktop, agent: Agent) -> TaskEnvironment:
    """Widgets take time to fetch, and only some agents want them."""
    return TaskEnvironment(
        desktop, with_tree=agent.sees_widgets, still_ms=agent.still_ms, commands=agent.runs_commands
    )


class PooledDesktops(Desktops[J]):
    """Desktops of a pool. ``make_environment`` says what an agent is shown of one."""

    def __init__(
        self,
        pool: DesktopPool,
        make_environment: Callable[[Desktop, Agent], Environment] = environment_for,
        *,
        lease_s: float = LEASE_S,
    ) -> None:
        self.pool = pool
        self._make_environment = make_environment
        self._lease_s = lease_s
        self._prepared: dict[int, Future[Lease]] = {}

    @contextmanager
    def lend(self, job: J, agent: Agent) -> Iterator[Lent]:
        prepared = self._prepared.pop(id(job), None)
        lease = self.pool.lease(timeout_s=self._lease_s) if prepared is None else prepared.result()
        with lease as desktop:
            yield Lent(self._make_environment(desktop, agent), prepared=prepared is not None)

    def prepare(self, job: J) -> None:
        @typed_failures()
        def setup(desktop: Desktop) -> None:
            job.task.begin(desktop)

        self._prepared[id(job)] = self.pool.prepare(setup, timeout_s=PREPARED_S, ttl_s=PREPARED_S)

    def forget(self, job: J) -> None:
        prepared = self._prepared.pop(id(job), None)
        if prepared is not None:
            prepared.add_done_callback(_release)


def _release(prepared: Future[Lease]) -> None:
    if prepared.exception() is None:
        prepared.result().release()


@dataclass(frozen=True)
class PlayedEpisode(Generic[J]):
    """One try of a job."""

    job: J
    result: EpisodeResult
    agent: Agent
    recorder: Recorder | None = None
    error: Exception | None = None
    """Why there was no desktop to play on. Nothing was recorded then."""


def lost_to_the_machine(played: PlayedEpisode[Any]) -> bool:
    """Whether an episode says nothing about the agent."""
    return played.result.outcome is Outcome.INFRA_ERROR


class EpisodePlayer(Generic[J]):
    """Plays jobs, each on a desktop that is lent for it. Safe for threads.

    ``make_agent`` is asked for an agent for each job, or once in each thread with ``keep_agents``; one that hangs is
    replaced. ``is_lost`` says which episodes do not count and are tried again.
    """

    def __init__(
        self,
        desktops: Desktops[J],
        make_agent: Callable[[J], Agent],
        *,
        keep_agents: bool = False,
        make_recorder: Callable[[J, Agent], Recorder | None] = lambda job, agent: None,
        limits: Limits | None = None,
        retry: RetryPolicy | None = None,
        is_lost: Callable[[PlayedEpisode[J]], bool] = lost_to_the_machine,
    ) -> None:
        self.desktops = desktops
        self.retry = retry or RetryPolicy()
        self.is_lost = is_lost
        self._make_agent = make_agent
        self._keep_agents = keep_agents
        self._make_recorder = make_recorder
        self._limits = limits or Limits()
        self._making = threading.Lock()  # models load one at a time
        self._own = threading.local()

    def play(self, job: J, stop: StopSignal | None = None, *, agent: Agent | None = None) -> PlayedEpisode[J]:
        """One try. ``agent`` plays in place of the usual one. Raises ``Stopped`` when ``stop`` is set meanwhile."""
        playing = agent or self._agent_for(job)
        recorder = self._make_recorder(job, playing)
        lost = False
        failure: Exception | None = None
        try:
            with ExitStack() as stack:
                try:
                    lent = stack.enter_context(self.desktops.lend(job, playing))
                except Exception as error:
                    if stop is not None and stop.is_set():
                        raise Stopped from error
                    if isinstance(error, DesktopClosed) or not is_infra_error(error):
                        raise
                    failure = error
                    result = self._without_a_desktop(job, error, stop)
                else:
                    result = run_episode(
                        playing,
                        lent.environment,
                        job.task,
                        recorder,
                        self._limits,
                        prepared=lent.prepared,
                        seed=job.seed,
                        stop=stop,
                    )
            lost = result.agent_lost
        finally:
            if agent is None:
                self._put_away(playing, lost=lost)
        return PlayedEpisode(job, result, playing, recorder, failure)

    def play_through(
        self, job: J, stop: StopSignal | None = None, *, agent: Agent | None = None
    ) -> PlayedEpisode[J]:
        """Play a job until it counts, or as often as the retry policy allows."""
        while True:
            played = self.play(job, stop, agent=agent)
            if not self.is_lost(played) or not self.may_try_again(played):
                return played

    def may_try_again(self, played: PlayedEpisode[J]) -> bool:
        """Whether the job of a lost episode may be played again; notes the failure if so."""
        job = played.job
        if not self.retry.again(len(job.failed_tries) + 1):
            return False
        job.failed_tries.append(played.result)
        return True

    def close_agent(self) -> None:
        """This thread plays no more."""
        agent = getattr(self._own, "agent", None)
        if agent is not None:
            self._own.agent = None
            agent.close()

    def _agent_for(self, job: J) -> Agent:
        kept: Agent | None = getattr(self._own, "agent", None)
        if kept is not None:
            return kept
        with self._making:
            made = self._make_agent(job)
        if self._keep_agents:
            self._own.agent = made
        return made

    def _put_away(self, agent: Agent, *, lost: bool) -> None:
        """An agent that hangs in a call can't be closed either."""
        if self._keep_agents:
            self._own.agent = None if lost else agent
        elif not lost:
            agent.close()

    def _without_a_desktop(self, job: J, error: Exception, stop: StopSignal | None) -> EpisodeResult:
        (threading.Event() if stop is None else stop).wait(self.retry.pause_s)
        why = f"set-up: {type(error).__name__}: {getattr(error, 'message', error)}"
        return EpisodeResult(job.task.id, Outcome.INFRA_ERROR, why)
