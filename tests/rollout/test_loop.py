"""The loop: what agents and machines can do wrong, and that it ends in data."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from operant.agents.base import Agent, Decision, PrivilegedAgent, TaskView
from operant.agents.fixed import DoneAgent, FailAgent, NoopAgent
from operant.agents.oracle import OracleAgent
from operant.agents.registry import make_agent
from operant.envs.task_environment import TaskEnvironment
from operant.errors import (
    ActionParseError,
    DesktopDied,
    DesktopTimeout,
    InvalidAction,
    SetupFailed,
    VerifierError,
)
from operant.rollout.episode import EpisodeResult, Step
from operant.rollout.loop import Limits, Stopped, run_episode
from operant.tasks.criteria.base import Criterion, Verdict, World
from operant.tasks.setup import SetupStep
from operant.tasks.task import Task
from operant.testing import FAKE_TEMPLATES, FakeDesktop
from operant.types import Action, Observation, Outcome, Point, Size

QUICK = Limits(act_s=5.0, begin_s=5.0)


class Says(Agent):
    """Does what a function says."""

    def __init__(self, act: Callable[[Observation], Any]) -> None:
        self._act = act
        self.told: TaskView | None = None

    def begin(self, task: TaskView) -> None:
        self.told = task

    def act(self, observation: Observation) -> Action | Decision:
        return self._act(observation)  # type: ignore[no-any-return]


class Kept:
    """A recorder in memory."""

    def __init__(self) -> None:
        self.events: list[str] = []
        self.steps: list[Step] = []
        self.result: EpisodeResult | None = None

    def begin(self, task: Task) -> None:
        self.events.append("begin")

    def look(self, observation: Observation) -> None:
        self.events.append("look")

    def step(self, step: Step, observation: Observation) -> None:
        self.steps.append(step)

    def end(self, result: EpisodeResult) -> None:
        self.events.append("end")
        self.result = result

    def abandon(self) -> None:
        self.events.append("abandon")


def play(agent: Agent, task: Task | None = None, **more: Any) -> tuple[EpisodeResult, Kept]:
    desktop = more.pop("desktop", None) or FakeDesktop()
    kept, environment = Kept(), TaskEnvironment(desktop, **more.pop("environment", {}))
    result = run_episode(agent, environment, task or press(), kept, more.pop("limits", QUICK), **more)
    assert kept.result is result
    assert kept.events == ["begin", "look", "end"] or not kept.steps
    assert len(kept.steps) == result.steps
    return result, kept


def press(seed: int = 0) -> Task:
    return FAKE_TEMPLATES[0].instance(seed)


@pytest.mark.parametrize("template", FAKE_TEMPLATES, ids=lambda template: template.id)
def test_the_oracle_succeeds(template: Any) -> None:
    result, kept = play(OracleAgent(), template.instance(1))
    assert result.outcome is Outcome.SUCCESS, result.why
    assert result.reward == 1.0
    assert kept.steps[-1].done
    assert kept.steps[-1].reward == 1.0
    assert result.invalid_steps == 0


@pytest.mark.parametrize(
    ("agent", "outcome", "steps"),
    [
        (NoopAgent(), Outcome.TRUNCATED, 4),
        (DoneAgent(), Outcome.FAILURE, 1),
        (FailAgent(), Outcome.FAILURE, 1),
        (make_agent("random"), Outcome.TRUNCATED, 4),
    ],
)
def test_agents_that_know_nothing_do_not(agent: Agent, outcome: Outcome, steps: int) -> None:
    result, _ = play(agent)
    assert (result.outcome, result.steps, result.reward) == (outcome, steps, 0.0)


def test_an_agent_knows_the_instruction_and_little_else() -> None:
    agent = Says(lambda _: Action.done())
    play(agent, seed=11)
    assert agent.told == TaskView(press().instruction, 4, Size(1280, 800), 11)


class Nasty:
    def __repr__(self) -> str:
        raise RuntimeError("even this")


def off_screen(_: Observation) -> Action:
    return Action.click(Point.from_pixel(5000, 10, Size(1280, 800)))


def misparsed(_: Observation) -> Action:
    raise ActionParseError("not an action", offending="clik(3)")


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (lambda _: None, "no action"),
        (lambda _: "click(3, 4)", "'click(3, 4)', a str and not an action"),
        (lambda _: Action, "type and not an action"),
        (lambda _: [Action.done()], "a list and not an action"),
        (lambda _: np.zeros((1000, 1000)), "a ndarray and not an action"),
        (lambda _: Nasty(), "something, a Nasty and not an action"),
        (off_screen, "off the 1280x800 screen"),
        (lambda _: Action.click((0.5, 0.5)), "malformed"),  # type: ignore[arg-type]
        (lambda _: Action.type(5), "not a text: '5'"),  # type: ignore[arg-type]
        (lambda _: Action.click(Point(0.5, 0.5), button="left-ish"), "malformed"),
        (lambda _: Action("click"), "malformed"),  # type: ignore[arg-type]
        (lambda _: Action.key("no-such-key"), "no-such-key"),
        (misparsed, "clik"),
        (lambda _: Decision((), "hmm", "not parsed"), "not parsed"),
        (lambda _: Decision("DONE"), "a str and not a tuple of actions"),  # type: ignore[arg-type]
    ],
)
def test_garbage_is_a_recorded_invalid_step_and_the_episode_goes_on(said: Any, why: str) -> None:
    result, kept = play(Says(said))
    assert result.outcome is Outcome.TRUNCATED
    assert result.invalid_steps == result.steps == 4
    for step in kept.steps:
        assert step.invalid is not None
        assert why in step.invalid


def test_an_agent_sees_why_its_action_was_not_done() -> None:
    seen: list[str | None] = []

    def act(observation: Observation) -> Any:
        seen.append(observation.error)
        return "nonsense"

    play(Says(act))
    assert seen[0] is None
    assert seen[1] is not None
    assert "nonsense" in seen[1]


@pytest.mark.parametrize(
    "error", [RuntimeError("boom"), SystemExit(1), MemoryError(), DesktopDied("I claim")]
)
def test_an_agent_that_raises_has_failed_and_nobody_else(error: BaseException) -> None:
    def act(_: Observation) -> Action:
        raise error

    result, kept = play(Says(act))
    assert result.outcome is Outcome.FAILURE
    assert result.why.startswith(f"agent error: {type(error).__name__}")
    assert kept.steps == []


def test_an_agent_that_raises_when_it_begins_has_failed() -> None:
    class Unready(Says):
        def begin(self, task: TaskView) -> None:
            raise KeyError("weights")

    result, _ = play(Unready(lambda _: Action.done()))
    assert (result.outcome, result.why) == (Outcome.FAILURE, "agent error: KeyError: 'weights'")


def test_an_agent_that_hangs_ends_its_episode_and_is_not_used_again() -> None:
    release = threading.Event()

    def act(observation: Observation) -> Action:
        if observation.step == 1:
            release.wait(30)
        return Action.wait()

    began = time.perf_counter()
    result, kept = play(Says(act), limits=Limits(act_s=0.05))
    release.set()
    assert time.perf_counter() - began < 5
    assert result.outcome is Outcome.FAILURE
    assert result.why == "agent timeout: no answer within 0.05 s"
    assert result.agent_lost
    assert len(kept.steps) == 1


def test_a_dead_desktop_is_an_infra_error() -> None:
    desktop = FakeDesktop()

    def act(observation: Observation) -> Action:
        if observation.step == 1:
            desktop.break_with(DesktopDied("killed"))
        return Action.wait()

    result, _ = play(Says(act), desktop=desktop)
    assert (result.outcome, result.why, result.steps) == (Outcome.INFRA_ERROR, "DesktopDied: killed", 1)
    assert not result.outcome.is_experience


def test_a_desktop_that_dies_under_an_oracles_eyes_is_an_infra_error() -> None:
    class Looker(PrivilegedAgent):
        def attach(self, desktop: Any, task: Task) -> None:
            self.desktop = desktop

        def act(self, observation: Observation) -> Action:
            self.desktop.break_with(DesktopDied("killed"))
            self.desktop.windows()
            return Action.done()

    assert play(Looker())[0].outcome is Outcome.INFRA_ERROR


class BreaksSetUp(SetupStep):
    def apply(self, desktop: Any) -> None:
        raise SetupFailed("no such program")


def test_a_set_up_that_fails_is_an_infra_error() -> None:
    result, kept = play(NoopAgent(), replace(press(), setup=(BreaksSetUp(),)))
    assert (result.outcome, result.steps) == (Outcome.INFRA_ERROR, 0)
    assert kept.events == ["begin", "end"]


class BreaksCheck(Criterion):
    def check(self, world: World) -> Verdict:
        raise VerifierError("unreadable")


@pytest.mark.parametrize("end_on_success", [False, True])
def test_a_verifier_that_breaks_is_neither_success_nor_failure(end_on_success: bool) -> None:
    result, _ = play(
        NoopAgent(), replace(press(), success=BreaksCheck()), environment={"end_on_success": end_on_success}
    )
    assert result.outcome is Outcome.VERIFIER_ERROR
    assert "unreadable" in result.why


def test_a_stopped_episode_is_abandoned_and_has_no_result() -> None:
    stop, kept = threading.Event(), Kept()

    def act(_: Observation) -> Action:
        stop.set()
        return Action.wait()

    with pytest.raises(Stopped):
        run_episode(Says(act), TaskEnvironment(FakeDesktop()), press(), kept, QUICK, stop=stop)  # type: ignore[arg-type]
    assert kept.events == ["begin", "look", "abandon"]


def test_what_an_agent_says_and_wants_kept_is_recorded() -> None:
    decision = Decision((Action.wait(),), "I wait", record={"value": 0.5})
    _, kept = play(Says(lambda _: decision))
    assert kept.steps[0].response == "I wait"
    assert kept.steps[0].record == {"value": 0.5}
    assert kept.steps[0].agent_ms > 0
    assert len(kept.steps[0].state["pointer"]) == 2


def test_invalid_action_in_the_desktop_is_recorded_too() -> None:
    class Refuses(FakeDesktop):
        def perform(self, action: Action) -> Any:
            raise InvalidAction("no such key here")

    result, kept = play(NoopAgent(), desktop=Refuses())
    assert result.invalid_steps >= 3
    assert kept.steps[0].invalid == "no such key here"


class Crippled(FakeDesktop):
    """Looks as if it were there, but a part of it is not."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self._error = error

    def check(self) -> None:
        raise self._error


@pytest.mark.parametrize(
    ("agent", "error", "outcome"),
    [
        (DoneAgent(), DesktopDied("the window manager is gone"), Outcome.INFRA_ERROR),
        (NoopAgent(), DesktopDied("the window manager is gone"), Outcome.INFRA_ERROR),
        (FailAgent(), DesktopDied("the window manager is gone"), Outcome.INFRA_ERROR),
        (OracleAgent(), DesktopDied("too late to matter"), Outcome.SUCCESS),
        (DoneAgent(), DesktopTimeout("a slow machine"), Outcome.FAILURE),
    ],
)
def test_nobody_is_blamed_for_a_desktop_that_broke(agent: Agent, error: Exception, outcome: Outcome) -> None:
    result, _ = play(agent, desktop=Crippled(error))
    assert result.outcome is outcome
