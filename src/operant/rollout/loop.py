"""The only agent-environment loop: one agent, one task, from the first look to a typed outcome.

A bad episode is data, not a crash. Whatever an agent does (raises, returns garbage, points off the screen,
hangs) ends in a recorded step or a recorded failure; whatever the machine does wrong ends in an infra error,
which is not the agent's failure and which the caller may try again. Knows nothing of pools, suites or files.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from operant.actions.json_actions import from_json, to_json
from operant.agents.base import Agent, Decision, PrivilegedAgent, TaskView
from operant.errors import (
    AgentTimeout,
    DesktopError,
    InvalidAction,
    ModelServerError,
    VerifierError,
    is_infra_error,
)
from operant.rollout.deadline import Deadline
from operant.rollout.episode import EpisodeResult, Step
from operant.rollout.recorders import Recorder
from operant.types import Action, ActionKind, Observation, Outcome, Size, Transition

if TYPE_CHECKING:
    from operant.desktop.protocol import Desktop
    from operant.tasks.task import Task

__all__ = ["Environment", "Limits", "StopSignal", "Stopped", "run_episode"]


class Environment(Protocol):
    """What the loop needs of ``operant.envs.task_environment.TaskEnvironment``."""

    desktop: Desktop

    def begin(self, task: Task, *, prepared: bool = False) -> Observation: ...

    def step(self, action: Action) -> Transition: ...

    def reject(self, why: str) -> Transition: ...


class StopSignal(Protocol):
    """What the loop needs of a ``threading.Event``."""

    def is_set(self) -> bool: ...

    def wait(self, timeout: float | None = None) -> bool: ...


@dataclass(frozen=True, slots=True)
class Limits:
    """How long an agent may take."""

    act_s: float = 60.0
    """Seconds for one action."""
    begin_s: float = 60.0
    """Seconds to get ready for an episode."""


class Stopped(Exception):
    """The episode was asked to stop before its end."""


class _AgentFailed(Exception):
    """The agent ended the episode by failing itself; carries the sentence that says how."""


def run_episode(
    agent: Agent,
    environment: Environment,
    task: Task,
    recorder: Recorder | None = None,
    limits: Limits | None = None,
    *,
    prepared: bool = False,
    seed: int = 0,
    stop: StopSignal | None = None,
) -> EpisodeResult:
    """Play one episode. ``prepared`` says that the task's set-up was done; ``seed`` is for agents that draw.

    Raises ``Stopped`` when ``stop`` is set meanwhile, and the recorder's own errors; nothing else that an
    agent or a desktop could cause.
    """
    with Deadline() as deadline:
        episode = _Run(agent, environment, task, recorder, limits or Limits(), deadline, stop)
        try:
            if recorder is not None:
                recorder.begin(task)
            result = episode.play(prepared, seed)
        except BaseException:
            if recorder is not None:
                recorder.abandon()
            raise
        if recorder is not None:
            recorder.end(result)
        return result


class _Run:
    """One episode under way."""

    def __init__(
        self,
        agent: Agent,
        environment: Environment,
        task: Task,
        recorder: Recorder | None,
        limits: Limits,
        deadline: Deadline,
        stop: StopSignal | None,
    ) -> None:
        self.agent = agent
        self.environment = environment
        self.task = task
        self.recorder = recorder
        self.limits = limits
        self.deadline = deadline
        self.stop = stop
        self.began = time.perf_counter()
        self.steps = self.invalid_steps = self.waits = 0
        self.agent_s = self.desktop_s = 0.0

    def play(self, prepared: bool, seed: int) -> EpisodeResult:
        try:
            observation = self._begin(prepared)
            self._introduce(observation, seed)
            while True:
                self._check_stop()
                transition = self._step(observation)
                if transition.over:
                    outcome = transition.outcome or Outcome.FAILURE
                    return self._result(outcome, str(transition.info.get("why", "")), transition.reward)
                observation = transition.observation
        except _AgentFailed as failure:
            return self._result(Outcome.FAILURE, str(failure))
        except VerifierError as error:
            return self._result(Outcome.VERIFIER_ERROR, error.message)
        except Exception as error:
            if not is_infra_error(error):
                raise
            self._check_stop()  # a desktop that is closed under us because everything ends
            why = f"{type(error).__name__}: {getattr(error, 'message', error)}"
            return self._result(Outcome.INFRA_ERROR, why)

    def _begin(self, prepared: bool) -> Observation:
        began = time.perf_counter()
        observation = self.environment.begin(self.task, prepared=prepared)
        self.desktop_s += time.perf_counter() - began
        if self.recorder is not None:
            self.recorder.look(observation)
        return observation

    def _introduce(self, observation: Observation, seed: int) -> None:
        height, width = observation.screen.shape[:2]
        view = TaskView(self.task.instruction, self.task.max_steps, Size(width, height), seed)
        if isinstance(self.agent, PrivilegedAgent):
            self._ask(self.limits.begin_s, self.agent.attach, self.environment.desktop, self.task)
        self._ask(self.limits.begin_s, self.agent.begin, view)

    def _step(self, observation: Observation) -> Transition:
        began = time.perf_counter()
        decision = self._decide(observation)
        decided = time.perf_counter()
        action = decision.actions[0] if decision.actions else None
        environment = self.environment
        transition = environment.reject(decision.error) if action is None else environment.step(action)
        done = time.perf_counter()
        invalid = decision.error or transition.info.get("invalid") or None
        self.steps += 1
        self.invalid_steps += invalid is not None
        self.waits += action is not None and action.kind is ActionKind.WAIT
        self.agent_s += decided - began
        self.desktop_s += done - decided
        if self.recorder is not None:
            step = Step(
                self.steps,
                action,
                response=decision.response,
                reward=float(transition.reward),
                done=transition.over,
                invalid=invalid,
                info=transition.info,
                agent_ms=(decided - began) * 1000,
                desktop_ms=(done - decided) * 1000,
                state=_state(transition.observation),
                record=decision.record,
            )
            self.recorder.step(step, transition.observation)
        return transition

    def _decide(self, observation: Observation) -> Decision:
        """What the agent says, checked: an action that the environment can be given, or why there is none."""
        try:
            said = self._ask(self.limits.act_s, self.agent.act, observation)
        except InvalidAction as error:
            return Decision(error=error.message)
        decision = said if isinstance(said, Decision) else Decision(() if said is None else (said,))
        wrong = _what_is_wrong_with_all(decision.actions)
        if wrong is None and not decision.actions:
            wrong = str(decision.error) or "the agent gave no action"
        if wrong is not None:
            return replace(decision, actions=(), response=str(decision.response), error=wrong)
        return replace(decision, response=str(decision.response), error="")

    def _ask(self, timeout_s: float, function: Any, *args: Any) -> Any:
        try:
            return self.deadline.call(timeout_s, function, *args)
        except AgentTimeout as error:
            raise _AgentFailed(f"agent timeout: {error.message}") from error
        except (InvalidAction, ModelServerError):
            raise  # a server that is down is the machine's failure, not the agent's
        except BaseException as error:  # whatever foreign code raises, even SystemExit
            if isinstance(error, DesktopError) and isinstance(self.agent, PrivilegedAgent):
                raise  # it looked behind the screen, and there was no desktop any more
            if isinstance(error, KeyboardInterrupt) and threading.current_thread() is threading.main_thread():
                raise  # the user's, while we waited
            raise _AgentFailed(f"agent error: {type(error).__name__}: {error}") from error

    def _check_stop(self) -> None:
        if self.stop is not None and self.stop.is_set():
            raise Stopped

    def _result(self, outcome: Outcome, why: str, reward: float = 0.0) -> EpisodeResult:
        return EpisodeResult(
            self.task.id,
            outcome,
            why,
            float(reward),
            self.steps,
            self.invalid_steps,
            self.waits,
            self.agent_s,
            self.desktop_s,
            time.perf_counter() - self.began,
            self.deadline.lost,
        )


def _what_is_wrong_with_all(actions: object) -> str | None:
    if not isinstance(actions, tuple):
        return f"the agent returned {_quote(actions)}, a {type(actions).__name__} and not a tuple of actions"
    if len(actions) > 1:
        return "the agent returned more than one action"
    return next((wrong for action in actions if (wrong := _what_is_wrong(action)) is not None), None)


def _what_is_wrong(action: object) -> str | None:
    """Why something is no action; None if it is one. Also finds fields of the wrong type in a real one."""
    if not isinstance(action, Action):
        return f"the agent returned {_quote(action)}, a {type(action).__name__} and not an action"
    try:
        from_json(to_json(action))
    except InvalidAction as error:
        return error.message
    except (AttributeError, TypeError, ValueError, RecursionError) as error:
        return f"the agent returned a malformed action: {error}"
    return None


def _quote(value: object) -> str:
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001 - foreign code
        return "something"
    return text if len(text) <= 80 else text[:77] + "..."


def _state(observation: Observation) -> Mapping[str, Any]:
    return {
        "pointer": [observation.pointer.x, observation.pointer.y],
        "held_keys": list(observation.held_keys),
        "held_buttons": list(observation.held_buttons),
        "windows": [
            {
                "title": window.title,
                "class": window.wm_class,
                "box": [window.x, window.y, window.width, window.height],
                "focused": window.focused,
                "minimized": window.minimized,
            }
            for window in observation.windows
        ],
    }
