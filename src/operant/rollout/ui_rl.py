"""UI-RL's actors: play episodes on its environment servers with a vision-language model.

``TaskRunner`` plays one episode after the other on one server, ``MultiActorRunner`` several at once on many. Both are
``operant.rollout.actors`` with sessions of such servers in place of a pool of desktops; a session lasts for one
episode. Servers are asked before anything is played.

The model may be trained meanwhile: whoever computes with it takes its ``turn``.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import queue
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from operant.agents.vlm.agent import VLMAgent
from operant.agents.vlm.backends.base import Backend
from operant.agents.vlm.trajectory import Trajectory
from operant.config.vlm import PromptSettings
from operant.errors import (
    AgentError,
    ConfigError,
    MissingDependency,
    OperantError,
    RemoteDesktopError,
    VerifierError,
)
from operant.rollout import actors
from operant.rollout.actors import Job, Rewards
from operant.rollout.loop import Limits, Stopped
from operant.tasks.task import Task
from operant.tasks.ui_rl import MAX_STEPS, SessionTemplate, is_done
from operant.types import Outcome

if TYPE_CHECKING:
    from operant.agents.vlm.wrapper import VLMWrapper
    from operant.desktop.protocol import Desktop
    from operant.desktop.ui_rl import UiRlFleet

__all__ = ["MultiActorRunner", "TaskRunner"]

PROMPT = "Complete the data entry form"
SESSION_TYPE = "simple_data_entry"
LOOK_S = 0.2


class _Sessions:
    """In place of a pool: a desktop for each episode, closed after it."""

    def __init__(self, fleet: UiRlFleet) -> None:
        self.fleet = fleet

    def lease(self) -> AbstractContextManager[Desktop]:
        return contextlib.closing(self.fleet.lease())


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
    """Who answers; a model itself answers while the context lasts, and is nobody's afterwards."""
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


class TaskRunner(actors.TaskRunner):
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
        prompt = _prompt(model, action_format)
        urls = [ui_env_url] if isinstance(ui_env_url, str) else ui_env_url
        super().__init__(
            _Sessions(_fleet(urls, session_type, action_delay)),
            model,  # type: ignore[arg-type]  # answers come from _answering(model)
            trajectory_queue,
            prompt=prompt,
            rewards=rewards,
            limits=limits,
            end_on_success=end_on_success,
            temperature=temperature,
        )
        self.failure: OperantError | None = None
        """Why the last episode was lost that was lost."""
        self._seeds = itertools.count(seed)

    def take(self) -> Job:
        """The next episode, on another instance of the task where the server knows seeds."""
        seed = next(self._seeds)
        return Job(self._template.instance(seed), f"{self._template.id}@{seed}", seed=seed)

    def run_episode(
        self, job: Job | Task | None = None, *, stop: threading.Event | None = None, agent: Any = None
    ) -> Trajectory:
        """Play one. An episode that is lost, or in which the model never answered, raises what went wrong."""
        try:
            with _answering(self.model) as backend:
                agent = agent or VLMAgent(backend, self.prompt, temperature=self.temperature)
                trajectory, result = self._play(job or self.take(), stop, agent)
            if result.outcome is Outcome.INFRA_ERROR:
                raise RemoteDesktopError(
                    f"the episode was lost after {result.steps} steps: {result.why}",
                    hint="play it again; the server's log may say more",
                )
            if result.outcome is Outcome.VERIFIER_ERROR:
                raise VerifierError(
                    f"the episode could not be judged: {result.why}", hint="give a judge= that reads it"
                )
            if not trajectory.turns:
                raise AgentError(f"the model gave no answer: {result.why}")
        except OperantError as error:
            self.failure = error
            raise
        return trajectory


class _Quota:
    """Lets rollouts begin until so many ended well."""

    def __init__(self, most: int | None) -> None:
        self.most = math.inf if most is None else most
        self.accepted = 0
        self.running = 0
        self._changed = threading.Condition()

    def enter(self, stop: threading.Event) -> bool:
        with self._changed:
            self._changed.wait_for(
                lambda: (
                    stop.is_set() or self.accepted >= self.most or self.accepted + self.running < self.most
                )
            )
            if stop.is_set() or self.accepted >= self.most:
                return False
            self.running += 1
            return True

    def leave(self, *, accepted: bool) -> None:
        with self._changed:
            self.running -= 1
            self.accepted += accepted
            self._changed.notify_all()

    def wake(self) -> None:
        with self._changed:
            self._changed.notify_all()


class MultiActorRunner(actors.MultiActorRunner):
    """Several actors on several servers, each in a thread; ``trajectory_queue`` gets what they bring.

    They play until ``stop``, or until ``episodes`` are collected; a queue with a ``maxsize`` makes them wait for whoever
    learns. An episode that is lost is played again, on another server if one is down. Only when nothing succeeds any
    more do all of them stop, and ``join`` raises why. More keywords are ``TaskRunner``'s.

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
        self.trajectory_queue = trajectory_queue
        runner = TaskRunner(env_urls, model, None, task_prompt, session_type, action_format, **options)
        super().__init__(num_actors, runner, runner, _Quota(episodes), self._put, self._lost)
        self._most_lost = max(3, 2 * num_actors)
        self._lost_in_a_row = 0
        self._stack = contextlib.ExitStack()

    def start(self) -> None:
        """Returns at once."""
        self.runner.model = self._stack.enter_context(_answering(self.runner.model))
        super().start()

    def stop(self) -> None:
        """Episodes under way are abandoned and their sessions ended."""
        super().stop()
        self._stack.close()

    def join(self) -> None:
        """Wait until all episodes are collected or nothing works any more, which is raised here."""
        try:
            super().join()
        finally:
            self._stack.close()

    def _put(self, trajectory: Trajectory) -> None:
        self._lost_in_a_row = 0
        while True:
            try:
                return self.trajectory_queue.put(trajectory, timeout=LOOK_S)
            except queue.Full:
                if self._stop.is_set():
                    raise Stopped from None

    def _lost(self, job: Job) -> None:
        self._lost_in_a_row += 1
        if self._lost_in_a_row >= self._most_lost:
            cause = self.runner.failure or RemoteDesktopError("see the log")  # type: ignore[attr-defined]
            lost = f"{self._lost_in_a_row} episodes in a row were lost: {cause.message}"
            raise type(cause)(lost, hint=cause.hint) from cause
