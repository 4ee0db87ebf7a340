"""Plays every episode that was asked for, several at a time, and leaves each of them on disk.

Desktops come from a pool; while an episode runs, the next ones are being set up on spare desktops. An infra
error is tried again on another desktop, twice, and then stays one: it is neither a success nor a failure.
Whatever happens to the process, the same call goes on from the episodes that are there. Knows nothing of
tables.
"""

from __future__ import annotations

import collections
import concurrent.futures
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from operant.agents.base import Agent, PrivilegedAgent
from operant.config.desktop import DesktopConfig
from operant.desktop.pool import DesktopPool, Lease
from operant.desktop.sandbox import SandboxDesktop
from operant.envs.task_environment import TaskEnvironment
from operant.evaluation.plan import Asked
from operant.evaluation.run import Run, Settings
from operant.rollout.episode import EpisodeResult
from operant.rollout.loop import Limits, Stopped, run_episode
from operant.rollout.store import EpisodeWriter
from operant.types import Outcome

if TYPE_CHECKING:
    from operant.tasks.task import Task

__all__ = ["evaluate", "settings_of"]

TRIES = 3  # the first and two more after infra errors
FOR_EVER_S = 86_400.0  # a set-up desktop waits for its turn as long as the episodes before it take
#: The size has a place of its own; variables and proxies may hold passwords.
NOT_RECORDED = {"width", "height", "environment", "proxy", "no_proxy"}
GOODBYE_S = 3.0  # how long the workers have to stop when everything ends


def settings_of(
    name: str, agent: Agent, *, max_steps: int | None, act_s: float, config: DesktopConfig | None = None
) -> Settings:
    """The settings that an evaluation of this agent runs under."""
    desktop = config or DesktopConfig()
    return Settings(
        name,
        agent.fingerprint,
        agent.observation_type,
        isinstance(agent, PrivilegedAgent),
        max_steps,
        act_s,
        (desktop.width, desktop.height),
        _unusual(desktop),
    )


def _unusual(desktop: DesktopConfig) -> dict[str, Any]:
    """The settings that are not as usual; a profile counts as soon as it is chosen, since tasks have their own."""
    found = desktop.model_dump(mode="json", exclude_defaults=True, exclude=NOT_RECORDED)
    return found | ({"profile": desktop.profile} if desktop.chosen_profile else {})


def evaluate(
    run: Run,
    tasks: Sequence[Task],
    make_agent: Callable[[], Agent],
    *,
    workers: int = 2,
    config: DesktopConfig | None = None,
    video: bool = False,
    tell: Callable[[Asked, EpisodeResult], None] = lambda asked, result: None,
    desktops: Callable[[DesktopConfig], SandboxDesktop] = SandboxDesktop,
) -> None:
    """Play those of the tasks whose episodes are not there yet.

    ``tell`` hears of each that has ended, in a worker's thread. Ctrl-C stops at once; what was being played
    stays readable and is played again next time.
    """
    left = run.unfinished(tasks)
    if not left:
        return
    workers = min(workers, len(left))
    spare = min((workers + 1) // 2, len(left) - workers)
    with DesktopPool(workers + spare, config, ttl_s=FOR_EVER_S, factory=desktops) as pool:
        evaluation = _Evaluation(run, make_agent, _Waiting(pool, left, spare), video, tell)
        threads = [
            threading.Thread(target=evaluation.work, name=f"operant-eval-{index}", daemon=True)
            for index in range(workers)
        ]
        for thread in threads:
            thread.start()
        try:
            for thread in threads:
                while thread.is_alive():
                    thread.join(0.2)
        except BaseException:
            evaluation.stop.set()
            until = time.monotonic() + GOODBYE_S
            for thread in threads:
                thread.join(max(0.0, until - time.monotonic()))
            raise
    if evaluation.failure is not None:
        raise evaluation.failure


@dataclass
class _Job:
    """An episode that has to be played, and how its earlier tries ended."""

    task: Task
    failed_tries: list[dict[str, Any]] = field(default_factory=list)


class _Waiting:
    """Who is next: the episodes that wait, and the few of them whose desktops are being set up already."""

    def __init__(self, pool: DesktopPool, tasks: Sequence[Task], spare: int) -> None:
        self._pool = pool
        self._spare = spare
        self._lock = threading.Lock()
        self._jobs = collections.deque(_Job(task) for task in tasks)
        self._ahead: collections.deque[tuple[_Job, concurrent.futures.Future[Lease]]] = collections.deque()

    def take(self) -> tuple[_Job, concurrent.futures.Future[Lease]] | None:
        """The next episode and the desktop that is set up for it; None if nobody waits."""
        with self._lock:
            self._fill(1)
            if not self._ahead:
                return None
            following = self._ahead.popleft()
            self._fill(self._spare)
            return following

    def again(self, job: _Job) -> None:
        with self._lock:
            self._jobs.append(job)

    def _fill(self, count: int) -> None:
        while self._jobs and len(self._ahead) < count:
            job = self._jobs.popleft()
            self._ahead.append((job, self._pool.prepare(job.task.begin, timeout_s=FOR_EVER_S)))


class _Evaluation:
    """What the workers share."""

    def __init__(
        self,
        run: Run,
        make_agent: Callable[[], Agent],
        waiting: _Waiting,
        video: bool,
        tell: Callable[[Asked, EpisodeResult], None],
    ) -> None:
        self.run = run
        self.make_agent = make_agent
        self.waiting = waiting
        self.video = video
        self.tell = tell
        self.limits = Limits(act_s=run.settings.act_s)
        self.stop = threading.Event()
        self.failure: BaseException | None = None
        self._making = threading.Lock()  # models load one at a time

    def work(self) -> None:
        """One worker: an agent of its own, one episode after another."""
        agent: Agent | None = None
        try:
            while not self.stop.is_set() and (following := self.waiting.take()) is not None:
                if agent is None:
                    with self._making:
                        agent = self.make_agent()
                result = self._play(agent, *following)
                if result.agent_lost:
                    agent = None
        except Stopped:
            pass
        except BaseException as error:  # noqa: BLE001 - raised again in the thread that waits
            self.failure = self.failure or error
            self.stop.set()
        finally:
            if agent is not None:
                agent.close()

    def _play(self, agent: Agent, job: _Job, prepared: concurrent.futures.Future[Lease]) -> EpisodeResult:
        asked = Asked.of(job.task)
        about = {**asdict(self.run.settings), "failed_tries": list(job.failed_tries)}
        writer = EpisodeWriter(self.run.episode_directory(asked), about, video=self.video)
        result = self._play_on(agent, job.task, asked, prepared, writer)
        if result.outcome is Outcome.INFRA_ERROR:
            job.failed_tries.append({"why": result.why, "steps": result.steps, "seconds": result.total_s})
            if len(job.failed_tries) < TRIES:
                self.waiting.again(job)
                return result
        self.tell(asked, result)
        return result

    def _play_on(
        self,
        agent: Agent,
        task: Task,
        asked: Asked,
        prepared: concurrent.futures.Future[Lease],
        writer: EpisodeWriter,
    ) -> EpisodeResult:
        try:
            lease = prepared.result()
        except Exception as error:  # whatever a desktop could not be set up for, the other episodes go on
            if self.stop.is_set():
                raise Stopped from error
            why = f"set-up: {type(error).__name__}: {getattr(error, 'message', error)}"
            result = EpisodeResult(task.id, Outcome.INFRA_ERROR, why)
            writer.begin(task)
            writer.end(result)
            return result
        try:
            with_tree = self.run.settings.observation_type == "screenshot_a11y_tree"
            environment = TaskEnvironment(lease.desktop, with_tree=with_tree)
            return run_episode(
                agent,
                environment,
                task,
                writer,
                self.limits,
                prepared=True,
                seed=asked.draw_seed,
                stop=self.stop,
            )
        finally:
            lease.release()
