"""UI-RL's actors: play episodes on its environment servers with a vision-language model.

``TaskRunner`` plays one episode after the other on one server, ``MultiActorRunner`` several at once on many. Both are
the usual player and runner with sessions of such servers in place of a pool of desktops. Servers are asked before
anything is played.

The model may be trained meanwhile: what computes with it holds its lock ``turn``.
"""

from __future__ import annotations

import collections
import contextlib
import itertools
import math
import queue
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from operant.agents.base import Agent
from operant.agents.vlm.agent import VLMAgent
from operant.agents.vlm.backends.base import Backend
from operant.agents.vlm.trajectory import Trajectory
from operant.config.vlm import PromptSettings
from operant.envs.task_environment import TaskEnvironment
from operant.errors import (
    AgentError,
    ConfigError,
    MissingDependency,
    OperantError,
    RemoteDesktopError,
    VerifierError,
)
from operant.rollout.job_runner import GOODBYE_S, JobRunner
from operant.rollout.loop import Limits, Stopped, StopSignal
from operant.rollout.player import Desktops, Lent, PlayedEpisode
from operant.tasks.ui_rl import MAX_STEPS, SessionTemplate, is_done
from operant.train.vlm.rollouts import Rewards, RolloutJob, RolloutPlayer
from operant.types import Outcome

if TYPE_CHECKING:
    from operant.agents.vlm.wrapper import VLMWrapper
    from operant.desktop.ui_rl import UiRlFleet

__all__ = ["MultiActorRunner", "TaskRunner"]

PROMPT = "Complete the data entry form"
SESSION_TYPE = "simple_data_entry"
FULL_S = 0.2  # between two looks whether a full queue's reader or a stop came


class _SessionDesktops(Desktops[RolloutJob]):
    """A session of a server for each episode, ended after it."""

    def __init__(self, fleet: UiRlFleet, end_on_success: bool) -> None:
        self._fleet = fleet
        self._end_on_success = end_on_success

    @contextlib.contextmanager
    def lend(self, job: RolloutJob, agent: Agent) -> Iterator[Lent]:
        with contextlib.closing(self._fleet.lease()) as desktop:
            environment = TaskEnvironment(desktop, end_on_success=self._end_on_success, with_windows=False)
            yield Lent(environment)


def _fleet(urls: Sequence[str], session_type: str, delay_s: float | None) -> UiRlFleet:
    try:
        from operant.desktop.ui_rl import UiRlFleet
    except ImportError as error:
        raise MissingDependency(
            f"UI-RL servers need {error.name}", hint='pip install "operant[remote]"'
        ) from error
    fleet = UiRlFleet(urls, session_type, delay_s=delay_s)
    fleet.check()
    return fleet


@contextlib.contextmanager
def _answering(model: Backend | VLMWrapper) -> Iterator[Backend]:
    """A backend; a model itself gets one for as long as the context lasts."""
    if isinstance(model, Backend):
        yield model
        return
    from operant.agents.vlm.backends.local import LocalBackend

    with LocalBackend(model) as backend:
        yield backend


def _prompt(model: Backend | VLMWrapper, action_format: str | None) -> PromptSettings:
    """The model's own prompt settings, with another format if one is asked for."""
    own = getattr(model, "prompt", None)
    values = own.model_dump() if isinstance(own, PromptSettings) else {}
    if action_format is not None:
        values["action_format"] = action_format
    settings: PromptSettings = PromptSettings.build(**values)
    return settings


class TaskRunner(RolloutPlayer):
    """Plays episodes of one session type; ``trajectory_queue`` gets each that is experience.

    Each episode has a session of its own. ``ui_env_url`` may be several addresses, which are taken in turn. With
    ``action_delay`` servers wait so many seconds after each action; ours wait until the screen has settled anyway.

    >>> runner = TaskRunner("http://127.0.0.1:8765", vlm, queue.Queue(), "Complete the form")  # doctest: +SKIP
    >>> trajectory = runner.run_episode()  # doctest: +SKIP
    >>> len(trajectory), trajectory.total_reward()  # doctest: +SKIP
    """

    def __init__(
        self,
        ui_env_url: str | Sequence[str],
        model: Backend | VLMWrapper,
        trajectory_queue: queue.Queue[Trajectory] | None = None,
        task_prompt: str = PROMPT,
        session_type: str = SESSION_TYPE,
        action_format: str | None = None,
        *,
        max_steps_per_episode: int = MAX_STEPS,
        end_on_success: bool = True,
        action_delay: float | None = None,
        judge: Callable[[Mapping[str, Any]], bool] = is_done,
        rewards: Rewards | None = None,
        limits: Limits | None = None,
        temperature: float | None = None,
        seed: int = 0,
    ) -> None:
        self._template = SessionTemplate(
            session_type, task_prompt, max_steps=max_steps_per_episode, judge=judge
        )
        urls = [ui_env_url] if isinstance(ui_env_url, str) else ui_env_url
        super().__init__(
            _SessionDesktops(_fleet(urls, session_type, action_delay), end_on_success),
            model,  # type: ignore[arg-type]  # answers come from _answering(model)
            prompt=_prompt(model, action_format),
            rewards=rewards,
            limits=limits,
            temperature=temperature,
        )
        self.trajectory_queue = trajectory_queue
        self._seeds = itertools.count(seed)

    def next_job(self) -> RolloutJob:
        """The next episode, on another instance of the task where the server knows seeds."""
        seed = next(self._seeds)
        return RolloutJob(self._template.instance(seed), seed, f"{self._template.id}@{seed}")

    def run_episode(
        self,
        job: RolloutJob | None = None,
        *,
        stop: StopSignal | None = None,
        agent: Agent | None = None,
    ) -> Trajectory:
        """Play one, once. An episode that is lost, or in which the model never answered, raises what went wrong."""
        with _answering(self.model) as backend:
            agent = agent or VLMAgent(backend, self.prompt, temperature=self.temperature)
            played = self.play(job or self.next_job(), stop, agent=agent)
        if self.is_lost(played):
            raise _why_lost(played)
        trajectory = self.trajectory(played)
        if self.trajectory_queue is not None:
            self.trajectory_queue.put(trajectory)
        return trajectory


def _why_lost(played: PlayedEpisode[RolloutJob]) -> OperantError:
    result = played.result
    if isinstance(played.error, OperantError):
        return played.error
    if result.outcome is Outcome.INFRA_ERROR:
        return RemoteDesktopError(
            f"the episode was lost after {result.steps} steps: {result.why}",
            hint="play it again; the server's log may say more",
        )
    if result.outcome is Outcome.VERIFIER_ERROR:
        return VerifierError(
            f"the episode could not be judged: {result.why}", hint="give a judge= that reads it"
        )
    return AgentError(f"the model gave no answer: {result.why}")


class _Quota:
    """A job queue that ends when so many episodes count, or when too many in a row were lost."""

    def __init__(
        self,
        runner: TaskRunner,
        trajectory_queue: queue.Queue[Trajectory],
        most: int | None,
        most_lost: int,
    ) -> None:
        self._runner = runner
        self._trajectories = trajectory_queue
        self._most = math.inf if most is None else most
        self._most_lost = most_lost
        self._finished = self._running = self._lost_in_a_row = 0
        self._again: collections.deque[RolloutJob] = collections.deque()
        self._changed = threading.Condition()
        self._stop: StopSignal = threading.Event()

    def take(self, stop: StopSignal) -> RolloutJob | None:
        with self._changed:
            self._stop = stop
            self._changed.wait_for(
                lambda: (
                    stop.is_set()
                    or self._finished >= self._most
                    or self._finished + self._running < self._most
                )
            )
            if stop.is_set() or self._finished >= self._most:
                return None
            self._running += 1
            return self._again.popleft() if self._again else self._runner.next_job()

    def finish(self, played: PlayedEpisode[RolloutJob]) -> None:
        self._hand_over(self._runner.trajectory(played))
        with self._changed:
            self._lost_in_a_row = 0
            self._finished += 1
        self._leave()

    def _hand_over(self, trajectory: Trajectory) -> None:
        """Wait for the reader of a queue that is full, unless everything stops."""
        while True:
            try:
                return self._trajectories.put(trajectory, timeout=FULL_S)
            except queue.Full:
                if self._stop.is_set():
                    raise Stopped from None

    def drop(self, played: PlayedEpisode[RolloutJob]) -> None:
        self._leave()
        self._lost_in_a_row += 1
        if self._lost_in_a_row >= self._most_lost:
            cause = _why_lost(played)
            lost = f"{self._lost_in_a_row} episodes in a row were lost: {cause.message}"
            raise type(cause)(lost, hint=cause.hint) from cause

    def give_back(self, job: RolloutJob) -> None:
        with self._changed:
            self._again.append(job)
        self._leave()

    def _leave(self) -> None:
        with self._changed:
            self._running -= 1
            self._changed.notify_all()

    def wake(self) -> None:
        with self._changed:
            self._changed.notify_all()


class MultiActorRunner(JobRunner[RolloutJob]):
    """Several actors on several servers, each in a thread; ``trajectory_queue`` gets what they bring.

    They play until ``stop``, or until ``episodes`` are collected; a queue with a ``maxsize`` makes them wait for its
    reader. An episode that is lost is played again, on another server if one is down. When nothing succeeds any more
    all of them stop, and ``join`` raises why. More keywords are ``TaskRunner``'s.

    >>> runner = MultiActorRunner(4, ["http://vm1:8000", "http://vm2:8000"], vlm, queue.Queue())  # doctest: +SKIP
    >>> runner.start()  # doctest: +SKIP
    """

    def __init__(
        self,
        num_actors: int,
        env_urls: Sequence[str],
        model: Backend | VLMWrapper,
        trajectory_queue: queue.Queue[Trajectory],
        task_prompt: str = PROMPT,
        session_type: str = SESSION_TYPE,
        action_format: str | None = None,
        *,
        episodes: int | None = None,
        **options: Any,
    ) -> None:
        if num_actors < 1:
            raise ConfigError(f"{num_actors} actors play nothing", hint="num_actors is at least 1")
        if isinstance(env_urls, str):
            raise ConfigError(f"env_urls is one address, {env_urls!r}", hint="give a list of addresses")
        self.runner = TaskRunner(env_urls, model, None, task_prompt, session_type, action_format, **options)
        self.trajectory_queue = trajectory_queue
        quota = _Quota(self.runner, trajectory_queue, episodes, max(3, 2 * num_actors))
        super().__init__(quota, self.runner, workers=num_actors, name="actor")
        self._stack = contextlib.ExitStack()

    def start(self) -> None:
        """Returns at once."""
        self.runner.model = self._stack.enter_context(_answering(self.runner.model))
        super().start()

    def stop(self, patience_s: float = GOODBYE_S) -> None:
        """Episodes under way are abandoned and their sessions ended."""
        super().stop(patience_s)
        self._stack.close()

    def join(self) -> None:
        """Wait until all episodes are collected or nothing works any more, which is raised here."""
        try:
            super().join()
        finally:
            self._stack.close()
