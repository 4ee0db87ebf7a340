"""Turns: several actions in one answer, looking without a step, reasons to end, and what a turn used."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from operant.agents.base import Agent, Decision, Usage
from operant.config.desktop import DesktopConfig
from operant.envs.task_environment import TaskEnvironment
from operant.errors import InvalidAction, ModelServerError
from operant.rollout.episode import EpisodeResult, Step
from operant.rollout.loop import Limits, Stopped, run_episode
from operant.rollout.store import EpisodeWriter, read_episode
from operant.tasks.task import Task
from operant.testing import FAKE_TEMPLATES, FakeDesktop
from operant.types import Action, ActionKind, Observation, Outcome, Point, StepResult

LOOK = Action(ActionKind.SCREENSHOT)
AT = Point(0.5, 0.5)


class Says(Agent):
    """Answers with one turn after another, and keeps what it saw."""

    def __init__(self, *turns: Decision | Callable[[Observation], Any]) -> None:
        self._turns = list(turns)
        self.seen: list[Observation] = []

    def act(self, observation: Observation) -> Decision:
        self.seen.append(observation)
        turn = self._turns.pop(0) if self._turns else Decision((Action.done(),))
        return turn(observation) if callable(turn) else turn


class Kept:
    """A recorder in memory."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.seen: list[Observation] = []

    def begin(self, task: Task) -> None: ...

    def look(self, observation: Observation) -> None: ...

    def step(self, step: Step, observation: Observation) -> None:
        self.steps.append(step)
        self.seen.append(observation)

    def end(self, result: EpisodeResult) -> None: ...

    def abandon(self) -> None: ...


def play(
    agent: Agent, *, desktop: FakeDesktop | None = None, max_steps: int = 10, **more: Any
) -> tuple[EpisodeResult, Kept]:
    kept = Kept()
    task = replace(FAKE_TEMPLATES[0].instance(0), max_steps=max_steps)
    environment = TaskEnvironment(desktop or FakeDesktop(), **more.pop("environment", {}))
    return run_episode(agent, environment, task, kept, **more), kept


def test_the_actions_of_a_turn_are_performed_in_order_and_recorded_one_by_one() -> None:
    used = Usage(100, 40, 10, 1, 0.5)
    batch = Decision(
        (Action.move(AT), Action.wait(), Action.key("a")),
        "said",
        record={"x": 1},
        usage=used,
        actor="operator",
    )
    agent = Says(batch)
    result, kept = play(agent, environment={"with_tree": True})
    assert (result.steps, result.turns, result.looks, result.end) == (4, 2, 0, "done")
    assert result.usage == used
    assert [step.number for step in kept.steps] == [1, 2, 3, 4]
    assert [step.turn for step in kept.steps] == [1, 1, 1, 2]
    assert [step.response for step in kept.steps[:3]] == ["said", "", ""]
    assert [step.record for step in kept.steps[:3]] == [{"x": 1}, {}, {}]
    assert [step.usage for step in kept.steps] == [None, None, used, None]
    assert {step.actor for step in kept.steps[:3]} == {"operator"}
    second = agent.seen[1]
    assert [one.action for one in second.results] == list(batch.actions)
    assert not any(one.error or one.skipped for one in second.results)
    assert second.results[0].pointer == second.pointer
    assert [one.action for one in second.history] == list(batch.actions)
    # Widgets are fetched once, at the end of the turn.
    assert [seen.tree is not None for seen in kept.seen] == [False, False, True, True]


def test_a_turn_stops_at_its_first_failure() -> None:
    batch = Decision((Action.move(AT), Action.key("no-such-key"), Action.key("a"), Action.key("b")))
    agent = Says(batch)
    result, kept = play(agent)
    assert (result.steps, result.invalid_steps) == (3, 1)
    assert kept.steps[1].info["skipped"] == 2
    moved, failed, *skipped = agent.seen[1].results
    assert not moved.error
    assert "no-such-key" in failed.error
    assert not failed.skipped
    assert [one.skipped for one in skipped] == [True, True]
    assert all("earlier action" in one.error for one in skipped)
    assert agent.seen[1].error == failed.error


def test_what_a_desktop_refuses_stops_the_turn_too() -> None:
    class Refuses(FakeDesktop):
        def perform(self, action: Action) -> Any:
            if action.kind is ActionKind.KEY:
                raise InvalidAction("not here")
            return super().perform(action)

    agent = Says(Decision((Action.key("a"), Action.wait())))
    result, kept = play(agent, desktop=Refuses(), environment={"with_tree": True})
    assert [step.invalid for step in kept.steps] == ["not here", None]
    assert kept.seen[0].tree is not None  # the turn ended here: the agent sees everything
    assert [one.skipped for one in agent.seen[1].results] == [False, True]
    assert result.steps == 2


def test_garbage_within_a_turn_is_an_invalid_step() -> None:
    agent = Says(Decision((Action.wait(), "click", Action.wait())))  # type: ignore[arg-type]
    result, kept = play(agent)
    assert (result.steps, result.invalid_steps) == (3, 1)
    assert "a str and not an action" in str(kept.steps[1].invalid)


def test_a_turn_ends_with_the_episode() -> None:
    result, kept = play(Says(Decision((Action.wait(),) * 500)), max_steps=3)
    assert (result.outcome, result.steps, result.end) == (Outcome.TRUNCATED, 3, "steps")
    result, kept = play(Says(Decision((Action.fail("no way"), Action.wait()))))
    assert (result.steps, result.end, len(kept.steps)) == (1, "fail", 1)


def test_looking_spends_no_step_and_shows_the_region_at_full_resolution() -> None:
    part = Action(ActionKind.SCREENSHOT, region=(Point(0.25, 0.5), Point(0.5, 1.0)))
    agent = Says(Decision((LOOK, part)))
    result, kept = play(agent)
    assert (result.steps, result.looks, result.turns) == (1, 2, 2)
    assert [step.looked for step in kept.steps] == [True, True, False]
    whole, cut = agent.seen[1].results
    screen = agent.seen[1].screen
    height, width = screen.shape[:2]
    assert whole.screen is not None
    assert cut.screen is not None
    assert np.array_equal(whole.screen, screen)
    assert np.array_equal(cut.screen, screen[height // 2 :, width // 4 : width // 2])
    assert agent.seen[1].step == 0
    assert agent.seen[1].history == ()


def test_looking_is_bounded() -> None:
    result, kept = play(Says(Decision((LOOK,) * 4), Decision((LOOK,) * 2)), limits=Limits(looks=3))
    assert (result.looks, result.steps, result.invalid_steps) == (5, 2, 1)
    assert "3 screenshots" in str(kept.steps[3].invalid)


@pytest.mark.parametrize("actions", [(), (Action.done(),)])
def test_an_agent_may_end_the_episode_with_a_reason(actions: tuple[Action, ...]) -> None:
    used = Usage(7, 0, 3, 1)
    result, kept = play(Says(Decision(actions, "I can't help", end="refusal", usage=used)))
    assert (result.outcome, result.end, result.steps, result.usage) == (Outcome.FAILURE, "refusal", 0, used)
    assert "refusal" in result.why
    (step,) = kept.steps
    assert (step.action, step.response, step.usage, step.done) == (None, "I can't help", used, True)


def test_usage_is_kept_when_the_machine_fails_later() -> None:
    def fail(_: Observation) -> Any:
        raise ModelServerError("overloaded")

    result, _ = play(Says(Decision((Action.wait(),), usage=Usage(5, 0, 1, 1, 0.25)), fail))
    assert (result.outcome, result.usage) == (Outcome.INFRA_ERROR, Usage(5, 0, 1, 1, 0.25))


def test_a_stop_is_seen_between_the_actions_of_a_turn() -> None:
    stop = threading.Event()

    class Stops(FakeDesktop):
        def perform(self, action: Action) -> Any:
            stop.set()
            return super().perform(action)

    with pytest.raises(Stopped):
        play(Says(Decision((Action.wait(),) * 3)), desktop=Stops(), stop=stop)


def test_what_is_shown_has_been_still_for_as_long_as_the_agent_wants() -> None:
    asked: list[float] = []

    class Watched(FakeDesktop):
        def settle(self, still_ms: float = 0.0) -> StepResult:
            asked.append(still_ms)
            return super().settle(still_ms)

    agent = Says(Decision((Action.wait(), Action.wait())), Decision((LOOK,)))
    play(agent, desktop=Watched(), environment={"still_ms": 300})
    # At the beginning, once after the first turn, and for the look; not between the actions of a turn.
    assert [one for one in asked if one] == [300, 300, 300]


def test_turns_read_back_from_disk(tmp_path: Path) -> None:
    used = Usage(100, 40, 10, 1, 0.5)
    writer = EpisodeWriter(tmp_path, {"agent": "says"})
    agent = Says(Decision((LOOK, Action.key("a")), "said", usage=used, actor="operator"))
    task = replace(FAKE_TEMPLATES[0].instance(0), max_steps=5)
    result = run_episode(agent, TaskEnvironment(FakeDesktop()), task, writer)
    episode = read_episode(tmp_path)
    assert [(step.turn, step.actor, step.looked) for step in episode.steps] == [
        (1, "operator", True), (1, "operator", False), (2, "", False),
    ]  # fmt: skip
    assert [step.usage for step in episode.steps] == [None, used, None]
    assert episode.usage == result.usage == used
    assert episode.header["turns"] == 2
    assert episode.header["looks"] == 1
    assert episode.header["end"] == "done"
    assert len(list(episode.observations())) == 4
    assert episode.frame(3).shape == (800, 1280, 3)


CHECKED = Decision((Action.wait(), Action.wait()), usage=Usage(7, 0, 3, 1), checks=("It sends mail.",))


def test_safety_checks_are_passed_over_in_a_sandbox() -> None:
    result, _ = play(Says(CHECKED, Decision((Action.done(),))))
    assert (result.end, result.steps) == ("done", 3)


class Live(FakeDesktop):
    live = True


@pytest.mark.parametrize("desktop", [Live(), FakeDesktop(DesktopConfig(isolated=False))])
def test_elsewhere_nothing_of_a_turn_with_a_safety_check_is_performed(desktop: FakeDesktop) -> None:
    result, _ = play(Says(CHECKED, Decision((Action.done(),))), desktop=desktop)
    assert (result.outcome, result.end, result.steps) == (Outcome.FAILURE, "safety_check", 0)
    assert "It sends mail." in result.why
    assert result.usage == Usage(7, 0, 3, 1), "the turn was paid for"
