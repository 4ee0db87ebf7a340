"""Actors: play episodes with a vision-language model and hand over what learning needs of them.

``TaskRunner`` plays one episode; ``MultiActorRunner`` keeps several going, each in a thread, as long as experience
is wanted. Inference is the backend's business, which batches over all of them. An episode that is lost to the
machine is played again; nobody waits for the learner but at the bound on staleness.
"""

from __future__ import annotations

import queue
import threading
import time
import uuid
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from loguru import logger

from operant.agents.vlm.agent import VLMAgent
from operant.agents.vlm.backends.base import Backend
from operant.agents.vlm.trajectory import Trajectory, Turn
from operant.config.vlm import PromptSettings
from operant.desktop.protocol import Desktop
from operant.envs.task_environment import TaskEnvironment
from operant.errors import DesktopClosed, OperantError
from operant.rollout.episode import EpisodeResult, Step
from operant.rollout.loop import Limits, Stopped, run_episode
from operant.rollout.store import EpisodeWriter
from operant.tasks.task import Task
from operant.types import Observation, Outcome

__all__ = ["ActorStats", "Desktops", "Gate", "Job", "Jobs", "MultiActorRunner", "Rewards", "TaskRunner"]

TRIES = 3
PAUSE_S = 1.0
GOODBYE_S = 10.0


@dataclass(frozen=True)
class Rewards:
    """What an episode's turns are worth."""

    success: float = 1.0
    """For the last turn of a success."""
    invalid: float = 0.0
    """For each turn whose answer could not be performed; a penalty is negative."""


@dataclass(frozen=True)
class Job:
    """An episode to be played: rollout ``number`` of a group on one instance of a task."""

    task: Task
    group: str
    number: int = 0
    seed: int = 0
    """For the agent's draws; another one for each rollout of a group."""


class Jobs(Protocol):
    """Where actors get their work from. Safe for threads."""

    def take(self) -> Job: ...


class Gate(Protocol):
    """Who lets rollouts begin: ``operant.rollout.admission.Admission``, or one far away. Safe for threads."""

    def enter(self, stop: threading.Event) -> bool: ...

    def leave(self, *, accepted: bool) -> None: ...

    def wake(self) -> None: ...


class Desktops(Protocol):
    """Where desktops come from: a ``DesktopPool``, or anything else that lends one for an episode."""

    def lease(self) -> AbstractContextManager[Desktop]: ...


class TaskRunner:
    """Plays episodes on a pool's desktops. ``trajectory_queue`` gets each that is experience."""

    def __init__(
        self,
        desktops: Desktops,
        model: Backend,
        trajectory_queue: queue.Queue[Trajectory] | None = None,
        *,
        prompt: PromptSettings | None = None,
        rewards: Rewards | None = None,
        limits: Limits | None = None,
        max_steps: int | None = None,
        end_on_success: bool = False,
        episodes: Path | None = None,
        temperature: float | None = None,
    ) -> None:
        self.desktops = desktops
        self.model = model
        self.trajectory_queue = trajectory_queue
        self.prompt = prompt or PromptSettings()
        self.rewards = rewards or Rewards()
        self.limits = limits or Limits()
        self.max_steps = max_steps
        self.end_on_success = end_on_success
        self.episodes = episodes
        """Where whole episodes are kept with their screenshots; None keeps what learning needs only."""
        self.temperature = temperature

    def run_episode(
        self, job: Job | Task, *, stop: threading.Event | None = None, agent: Any = None
    ) -> Trajectory:
        """Play one. ``agent`` may be another with ``turns``, such as a demonstrator."""
        return self._play(job, stop, agent)[0]

    def _play(
        self, job: Job | Task, stop: threading.Event | None, agent: Any
    ) -> tuple[Trajectory, EpisodeResult]:
        if isinstance(job, Task):
            job = Job(job, job.id)
        task = job.task if self.max_steps is None else replace(job.task, max_steps=self.max_steps)
        agent = agent or VLMAgent(self.model, self.prompt, temperature=self.temperature)
        id = f"{job.group}-{job.number}-{uuid.uuid4().hex[:8]}"
        watch = _Watch(self._writer(id))
        with self.desktops.lease() as desktop:
            environment = TaskEnvironment(desktop, end_on_success=self.end_on_success, with_windows=False)
            result = run_episode(agent, environment, task, watch, self.limits, seed=job.seed, stop=stop)
        trajectory = Trajectory(
            task=task.id,
            turns=_rewarded(agent.turns, watch.steps, result, self.rewards),
            outcome=result.outcome,
            group=job.group,
            seed=task.seed or 0,
            id=id,
            info={"agent_s": result.agent_s, "desktop_s": result.desktop_s, "total_s": result.total_s},
        )
        if self.trajectory_queue is not None and result.outcome.is_experience and trajectory.turns:
            self.trajectory_queue.put(trajectory)
        if result.outcome is Outcome.INFRA_ERROR:
            logger.debug("{}: {}", task.id, result.why)
        return trajectory, result

    def _writer(self, id: str) -> EpisodeWriter | None:
        if self.episodes is None:
            return None
        return EpisodeWriter(self.episodes / id.replace("/", "_"), {"agent": "vlm"})


class _Watch:
    """A recorder that keeps the steps, and passes everything on to another if there is one."""

    def __init__(self, other: EpisodeWriter | None) -> None:
        self.steps: list[Step] = []
        self._other = other

    def begin(self, task: Task) -> None:
        if self._other is not None:
            self._other.begin(task)

    def look(self, observation: Observation) -> None:
        if self._other is not None:
            self._other.look(observation)

    def step(self, step: Step, observation: Observation) -> None:
        self.steps.append(step)
        if self._other is not None:
            self._other.step(step, observation)

    def end(self, result: EpisodeResult) -> None:
        if self._other is not None:
            self._other.end(result)

    def abandon(self) -> None:
        if self._other is not None:
            self._other.abandon()


def _rewarded(
    turns: list[Turn], steps: list[Step], result: EpisodeResult, rewards: Rewards
) -> tuple[Turn, ...]:
    """The turns with their rewards; one whose action the desktop refused is invalid too."""
    refused: set[int] = set()
    number = -1
    for step in steps:
        number += not step.record.get("continued")
        if step.invalid:
            refused.add(number)
    made = []
    for number, turn in enumerate(turns):
        valid = turn.valid and number not in refused
        reward = (0.0 if valid else rewards.invalid) + (
            rewards.success if result.success and number == len(turns) - 1 else 0.0
        )
        made.append(replace(turn, valid=valid, reward=reward))
    return tuple(made)


@dataclass
class ActorStats:
    """What actors did with their time."""

    episodes: int = 0
    successes: int = 0
    infra_errors: int = 0
    dropped: int = 0
    """Jobs that were given up after several infra errors."""
    playing_s: float = 0.0
    waiting_s: float = 0.0
    """At the bound on staleness."""

    @property
    def utilisation(self) -> float:
        """The share of their time in which actors played."""
        total = self.playing_s + self.waiting_s
        return self.playing_s / total if total else 0.0


class MultiActorRunner:
    """Several actors in threads of this process. ``sink`` gets each trajectory, in an actor's thread."""

    def __init__(
        self,
        num_actors: int,
        runner: TaskRunner,
        jobs: Jobs,
        admission: Gate,
        sink: Callable[[Trajectory], None],
        on_dropped: Callable[[Job], None] = lambda job: None,
    ) -> None:
        self.runner = runner
        self.jobs = jobs
        self.admission = admission
        self.sink = sink
        self.on_dropped = on_dropped
        self.stats = ActorStats()
        self.failure: BaseException | None = None
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._threads = [
            threading.Thread(target=self._act, name=f"operant-actor-{index}", daemon=True)
            for index in range(num_actors)
        ]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Episodes under way are abandoned; what has ended was handed over."""
        self._stop.set()
        self.admission.wake()
        until = time.monotonic() + GOODBYE_S
        for thread in self._threads:
            if thread.ident is not None:
                thread.join(max(0.0, until - time.monotonic()))

    def join(self) -> None:
        """Wait until no more work is given out, or somebody fails, which is raised here."""
        for thread in self._threads:
            thread.join()
        if self.failure is not None:
            raise self.failure

    def __enter__(self) -> MultiActorRunner:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _act(self) -> None:
        try:
            played = False
            while self._wait(played):
                self._play(self.jobs.take())
                played = True
        except Stopped:
            pass
        except BaseException as error:  # noqa: BLE001 - whoever collects raises it
            if not self._stop.is_set():
                self.failure = error
                self._stop.set()
                self.admission.wake()

    def _wait(self, played: bool) -> bool:
        """Before its first rollout an actor waits for the start and not for the bound: that is not counted."""
        began = time.perf_counter()
        admitted = self.admission.enter(self._stop)
        if played:
            with self._lock:
                self.stats.waiting_s += time.perf_counter() - began
        return admitted

    def _play(self, job: Job) -> None:
        """Play a job until it is experience; the machine gets a few tries."""
        accepted = False
        try:
            for _ in range(TRIES):
                trajectory = self._try(job)
                if trajectory is not None and trajectory.outcome.is_experience and trajectory.turns:
                    accepted = True
                    self.sink(trajectory)
                    return
            with self._lock:
                self.stats.dropped += 1
            self.on_dropped(job)
        finally:
            self.admission.leave(accepted=accepted)

    def _try(self, job: Job) -> Trajectory | None:
        began = time.perf_counter()
        try:
            trajectory = self.runner.run_episode(job, stop=self._stop)
        except DesktopClosed:
            if self._stop.is_set():
                raise Stopped from None
            raise
        except OperantError as error:
            logger.warning("{}: {}", job.task.id, error.message)
            trajectory = None
            self._stop.wait(PAUSE_S)  # no desktop to be had: asking all the time brings none
        with self._lock:
            self.stats.playing_s += time.perf_counter() - began
            self.stats.episodes += 1
            if trajectory is None or not trajectory.outcome.is_experience:
                self.stats.infra_errors += 1
            else:
                self.stats.successes += trajectory.success
        return trajectory
