"""The only agent-environment loop: one agent, one task, from the first look to a typed outcome.

A bad episode is data, not a crash. Whatever an agent does (raises, returns garbage, points off the screen,
hangs) ends in a recorded step or a recorded failure; whatever the machine does wrong ends in an infra error,
which is not the agent's failure and which the caller may try again. Knows nothing of pools, suites or files.

A turn is one answer of the agent. Its actions are performed in order until one fails or the episode is over; the
agent then sees what became of each (``Observation.results``) and one full observation. Each action that was performed
or failed is a recorded step. Looking (a screenshot action) is recorded too, but spends no step of the environment.

An agent may have desktops of its own (a team). A turn for one of them is carried out and recorded there, and spends
steps of the episode.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

from operant.agents.base import Agent, AttachedAgent, Decision, TaskView, Usage
from operant.agents.deadline import Deadline
from operant.errors import (
    AgentTimeout,
    DesktopError,
    InvalidAction,
    ModelServerError,
    VerifierError,
    is_infra_error,
)
from operant.pictures.cut import cut_out
from operant.rollout.checked import check_decision, what_is_wrong
from operant.rollout.elsewhere import Elsewhere, TurnEnvironment
from operant.rollout.episode import EpisodeResult, Step
from operant.rollout.recorders import Recorder
from operant.types import Action, ActionKind, ActionResult, Observation, Outcome, Size, Transition

if TYPE_CHECKING:
    from operant.desktop.protocol import Desktop
    from operant.tasks.task import Task

__all__ = ["Environment", "Limits", "StopSignal", "Stopped", "run_episode", "state_of"]

SKIPPED = "not performed, because an earlier action of the turn failed"


class Environment(TurnEnvironment, Protocol):
    """What the loop needs of ``operant.envs.task_environment.TaskEnvironment``."""

    desktop: Desktop

    def begin(self, task: Task, *, prepared: bool = False) -> Observation: ...

    def confirm(self, check: str) -> str: ...


class StopSignal(Protocol):
    """What the loop needs of a ``threading.Event``."""

    def is_set(self) -> bool: ...

    def wait(self, timeout: float | None = None) -> bool: ...


@dataclass(frozen=True, slots=True)
class Limits:
    """How long an agent may take, and how often it may look."""

    act_s: float = 60.0
    """Seconds for one answer, which may hold several actions."""
    begin_s: float = 60.0
    """Seconds to get ready for an episode."""
    looks: int = 20
    """Screenshot actions between two steps; a further one is an invalid step."""


class Stopped(Exception):
    """The episode was asked to stop before its end."""


class _AgentFailed(Exception):
    """The agent ended the episode by failing itself; carries the sentence that says how, and the short reason."""

    def __init__(self, why: str, end: str) -> None:
        super().__init__(why)
        self.end = end


@dataclass
class _Turn:
    """One answer of the agent, while it is carried out."""

    number: int
    decision: Decision
    agent_s: float
    environment: TurnEnvironment
    """Where it is carried out."""
    results: list[ActionResult] = field(default_factory=list)
    recorded: bool = False
    """Whether a step of it was recorded: the first one carries what was said."""


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
        self.calls = self.gui_actions = 0
        self.turns = self.looks = self.looks_in_a_row = self.recorded = 0
        self.usage: Usage | None = None
        self.agent_s = self.desktop_s = 0.0

    def play(self, prepared: bool, seed: int) -> EpisodeResult:
        try:
            observation = self._begin(prepared)
            self._introduce(observation, seed)
            while True:
                self._check_stop()
                transition, end = self._play_turn(observation)
                if transition.over:
                    outcome = transition.outcome or Outcome.FAILURE
                    why = str(transition.info.get("why", ""))
                    return self._result(outcome, why, transition.reward, end)
                observation = transition.observation
        except _AgentFailed as failure:
            outcome = Outcome.FAILURE if self.task.checked else Outcome.UNVERIFIED
            return self._result(outcome, str(failure), end=failure.end)
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
        desktop = self.environment.desktop
        view = TaskView(
            self.task.instruction,
            self.task.max_steps,
            Size(width, height),
            seed,
            self.task.actions_on(desktop),
            getattr(getattr(desktop, "config", None), "functions", "focused") == "all",
        )
        if isinstance(self.agent, AttachedAgent):
            self._ask(self.limits.begin_s, self.agent.attach, self.environment.desktop, self.task)
        self._ask(self.limits.begin_s, self.agent.begin, view)

    # A turn.

    def _play_turn(self, observation: Observation) -> tuple[Transition, str]:
        """Carry out the agent's next answer; what it led to, and what ended the episode if it is over."""
        turn = self._ask_for_turn(observation)
        decision = turn.decision
        if not decision.end and (why := self._unconfirmed(decision)):
            turn.decision = decision = replace(decision, end="safety_check", error=why)
        if decision.end:
            raise self._ended_by_agent(turn, observation)
        if not decision.actions:
            began = time.perf_counter()
            transition = turn.environment.reject(decision.error)
            self._note(turn, None, transition, began, last=True)
            return transition, _end_of(transition, None)
        for index, action in enumerate(decision.actions, 1):
            if index > 1:
                self._check_stop()
            began = time.perf_counter()
            left = len(decision.actions) - index
            transition, done = self._do(turn.environment, action, more=left > 0)
            failed = transition.info.get("invalid")
            if failed and left:
                transition = replace(transition, info={**transition.info, "skipped": left})
            last = transition.over or failed is not None or not left
            self._note(turn, done, transition, began, last=last)
            if isinstance(action, Action):
                turn.results.append(_result_of(action, transition))
            if last:
                break
        turn.results += [
            ActionResult(action, SKIPPED, skipped=True)
            for action in decision.actions[index:]
            if isinstance(action, Action)
        ]
        seen = replace(transition.observation, results=tuple(turn.results))
        return replace(transition, observation=seen), _end_of(transition, done)

    def _unconfirmed(self, decision: Decision) -> str:
        """Why a safety check of the turn is not confirmed; empty if all are, or there is none."""
        for check in decision.checks:
            if refused := self.environment.confirm(check):
                return f"a safety check was not confirmed ({refused}): {check}"
        return ""

    def _ask_for_turn(self, observation: Observation) -> _Turn:
        began = time.perf_counter()
        try:
            decision = check_decision(self._ask(self.limits.act_s, self.agent.act, observation))
        except InvalidAction as error:
            decision = Decision(error=error.message)
        seconds = time.perf_counter() - began
        self.turns += 1
        self.agent_s += seconds
        if decision.usage is not None:
            self.usage = decision.usage if self.usage is None else self.usage + decision.usage
        return _Turn(self.turns, decision, seconds, self._place_of(decision))

    def _place_of(self, decision: Decision) -> TurnEnvironment:
        """The episode's desktop, or one of the agent's own."""
        if not decision.desktop:
            return self.environment
        if not isinstance(self.agent, AttachedAgent):
            raise _AgentFailed(f"agent error: it has no desktop {decision.desktop!r}", "error")
        own = self._ask(self.limits.act_s, self.agent.environment, decision.desktop)
        return Elsewhere(own, self.environment)

    def _do(
        self, environment: TurnEnvironment, action: object, *, more: bool
    ) -> tuple[Transition, Action | None]:
        """Perform one action of a turn; None in place of it if it is malformed."""
        wrong = what_is_wrong(action)
        if wrong is not None or not isinstance(action, Action):
            return environment.reject(wrong or ""), None
        if action.kind is not ActionKind.SCREENSHOT:
            return environment.step(action, more=more), action
        if self.looks_in_a_row >= self.limits.looks:
            why = f"{self.limits.looks} screenshots were taken without a step: act, or end the episode"
            return environment.reject(why), action
        return Transition(environment.look(more=more), 0.0, False, False, info={"look": True}), action

    def _note(
        self, turn: _Turn, action: Action | None, transition: Transition, began: float, *, last: bool
    ) -> None:
        """Count what was done, and record it."""
        desktop_s = time.perf_counter() - began
        invalid = transition.info.get("invalid") or None
        looked = bool(transition.info.get("look"))
        self.steps += not looked
        self.looks += looked
        self.looks_in_a_row = self.looks_in_a_row + 1 if looked else 0
        self.invalid_steps += invalid is not None
        self.waits += action is not None and action.kind is ActionKind.WAIT
        self.calls += action is not None and action.kind is ActionKind.CALL
        self.gui_actions += action is not None and action.kind.uses_hands
        self.desktop_s += desktop_s
        self._record(turn, action, transition, desktop_s, last=last)

    def _record(
        self, turn: _Turn, action: Action | None, transition: Transition, desktop_s: float, *, last: bool
    ) -> None:
        self.recorded += 1
        first, turn.recorded = not turn.recorded, True
        if self.recorder is None:
            return
        place = {"desktop": turn.decision.desktop} if turn.decision.desktop else {}
        step = Step(
            self.recorded,
            action,
            response=turn.decision.response if first else "",
            reward=float(transition.reward),
            done=transition.over,
            invalid=transition.info.get("invalid") or None,
            info={**transition.info, **place},
            agent_ms=turn.agent_s * 1000 if first else 0.0,
            desktop_ms=desktop_s * 1000,
            state=state_of(transition.observation),
            record=turn.decision.record if first else {},
            turn=turn.number,
            actor=turn.decision.actor,
            usage=turn.decision.usage if last else None,
        )
        self.recorder.step(step, transition.observation)

    def _ended_by_agent(self, turn: _Turn, observation: Observation) -> _AgentFailed:
        """The turn is kept, with what was said and used, although nothing was done."""
        end = turn.decision.end
        why = turn.decision.error or f"the agent ended the episode: {end}"
        info = {"end": end, "why": why}
        self._record(turn, None, Transition(observation, 0.0, True, False, info=info), 0.0, last=True)
        return _AgentFailed(why, end)

    def _ask(self, timeout_s: float, function: Any, *args: Any) -> Any:
        try:
            return self.deadline.call(timeout_s, function, *args)
        except AgentTimeout as error:
            raise _AgentFailed(f"agent timeout: {error.message}", "timeout") from error
        except (InvalidAction, ModelServerError):
            raise  # a server that is down is the machine's failure, not the agent's
        except BaseException as error:  # whatever foreign code raises, even SystemExit
            if isinstance(error, DesktopError) and isinstance(self.agent, AttachedAgent):
                raise  # it worked with the desktop, and there was none any more
            if isinstance(error, KeyboardInterrupt) and threading.current_thread() is threading.main_thread():
                raise  # the user's, while we waited
            raise _AgentFailed(f"agent error: {type(error).__name__}: {error}", "error") from error

    def _check_stop(self) -> None:
        if self.stop is not None and self.stop.is_set():
            raise Stopped

    def _result(self, outcome: Outcome, why: str, reward: float = 0.0, end: str = "") -> EpisodeResult:
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
            self.turns,
            self.looks,
            self.usage,
            end,
            self.calls,
            self.gui_actions,
        )


def _result_of(action: Action, transition: Transition) -> ActionResult:
    seen = transition.observation
    screen = cut_out(seen.screen, action.region) if transition.info.get("look") else None
    said = str(transition.info.get("result", ""))
    error = transition.info.get("invalid") or ""
    return ActionResult(action, error, text=said, screen=screen, pointer=seen.pointer)


def _end_of(transition: Transition, action: Action | None) -> str:
    """What ended the episode: the agent's last action, the criteria, or the step cap; empty while it goes on."""
    if not transition.over:
        return ""
    if transition.truncated:
        return "steps"
    return action.kind.value if action is not None and action.kind.terminal else "success"


def state_of(observation: Observation) -> Mapping[str, Any]:
    """What a step keeps of an observation beside its screen."""
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
