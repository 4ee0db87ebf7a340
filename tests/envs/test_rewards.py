"""Rewards: sparse by default, shaping by name, and the alarm for when shaping is gamed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from operant.apps.view import View
from operant.config.desktop import DesktopConfig
from operant.envs.desktop_env import DesktopEnv
from operant.envs.reward_terms import make_term
from operant.envs.rewards import (
    CriteriaProgress,
    InvalidPenalty,
    Potential,
    Reward,
    RewardHackAlarm,
    ScreenChange,
    StepCost,
    progress_of,
)
from operant.errors import VerifierError
from operant.tasks.criteria.base import Criterion, Verdict, World
from operant.tasks.criteria.combine import AllOf, AnyOf, Not
from operant.tasks.setup import Launch
from operant.tasks.task import Task
from operant.testing.fake_desktop import FakeDesktop
from operant.testing.fake_tasks import PanelLog, PressButton, PressInOrder
from operant.types import Action, Difficulty

Make = Callable[..., DesktopEnv]


class Fixed(Criterion):
    holds: bool

    def check(self, world: World) -> Verdict:
        return Verdict(self.holds, "")


class Broken(Criterion):
    def check(self, world: World) -> Verdict:
        raise VerifierError("no idea")


SMALL: dict[str, Any] = {
    "action_mode": "canonical",
    "desktop": DesktopConfig(width=320, height=200),
    "size": (32, 20),
}
YES, NO = Fixed(holds=True), Fixed(holds=False)


@pytest.mark.parametrize(
    ("criterion", "share"),
    [
        (YES, 1.0),
        (NO, 0.0),
        (Broken(), 0.0),
        (Not(of=NO), 1.0),
        (AllOf(of=(YES, NO, NO, NO)), 0.25),
        (AllOf(of=(YES, AllOf(of=(YES, NO)))), 0.75),
        (AnyOf(of=(NO, AllOf(of=(YES, NO)))), 0.5),
    ],
)
def test_how_much_of_a_criterion_holds(criterion: Criterion, share: float) -> None:
    assert progress_of(criterion, World(FakeDesktop())) == share  # type: ignore[arg-type]


class TestTerms:
    def test_every_term_is_logged_apart(self, make_env: Make) -> None:
        reward = Reward([StepCost(0.01), InvalidPenalty(0.05), ScreenChange(0.1)])
        env = make_env(tasks=[PressButton()], action_mode="canonical", reward=reward)
        env.reset(seed=0)
        _, total, _, _, info = env.step("garbage")
        assert info["reward_terms"] == {
            "success": 0.0,
            "step_cost": -0.01,
            "invalid": -0.05,
            "screen_change": 0.0,
        }
        assert total == pytest.approx(-0.06)
        _, _, _, _, info = env.step(Action.done())
        assert info["episode_terms"]["step_cost"] == pytest.approx(-0.02)

    def test_two_environments_do_not_share_what_a_term_remembers(self, make_env: Make) -> None:
        reward = Reward([CriteriaProgress()])
        one, other = (make_env(tasks=[PressInOrder()], reward=reward) for _ in range(2))
        one.reset(seed=0)
        other.reset(seed=0)
        assert one._stage is not None
        assert other._stage is not None
        assert one._stage.reward.terms[0] is not other._stage.reward.terms[0]


class HalfWay(Potential):
    """How many of the two buttons were pressed."""

    name = "half_way"

    def potential(self, moment: Any) -> float:
        files = moment.environment.desktop.files
        return len(files.read_text("panel.log").splitlines()) / 2 if files.exists("panel.log") else 0.0


@pytest.mark.parametrize("gamma", [1.0, 0.9])
def test_a_potential_adds_nothing_over_a_whole_episode(make_env: Make, gamma: float) -> None:
    env = make_env(tasks=[PressInOrder()], action_mode="canonical", reward=Reward([HalfWay(gamma=gamma)]))
    env.reset(seed=1)
    rewards = []
    while True:
        assert env._stage is not None
        assert env.task.oracle is not None
        _, _, terminated, truncated, info = env.step(env.task.oracle.act(View(env._stage.desktop)))
        rewards.append(info["reward_terms"]["half_way"])
        if terminated or truncated:
            break
    assert rewards[0] == pytest.approx(gamma * 0.5)
    assert rewards[1] == pytest.approx(gamma * 1.0 - 0.5)
    # phi(start) = phi(end) = 0, so the discounted sum telescopes to nothing.
    assert sum(reward * gamma**step for step, reward in enumerate(rewards)) == pytest.approx(0.0)


def menu_task() -> Task:
    """A button to press, and beside it a menu that does nothing but open and close."""
    return Task(
        id="fake/hackable-v1",
        instruction="Press OK.",
        difficulty=Difficulty.EASY,
        success=PanelLog(lines=("pressed OK",)),
        setup=(Launch(command=["panel", "menu:View", "button:OK"], place=(20, 40, 240, 120)),),
        max_steps=12,
    )


class Learner:
    """A bandit over two habits: toggle the menu all the time, or press the button and be done.

    It follows the return that it is given, by a softmax over running means: what any policy gradient does.
    """

    def __init__(self, seed: int = 0) -> None:
        self.random = np.random.default_rng(seed)
        self.value = np.zeros(3)

    def habit(self) -> int:
        weights = np.exp(6.0 * (self.value - self.value.max()))
        return int(self.random.choice(3, p=weights / weights.sum()))

    def learn(self, habit: int, total: float) -> None:
        self.value[habit] += 0.1 * (total - self.value[habit])


def train(env: DesktopEnv, alarm: RewardHackAlarm, episodes: int) -> tuple[list[float], list[bool]]:
    learner, returns, successes = Learner(), [], []
    for _ in range(episodes):
        env.reset()
        habit = learner.habit()
        assert env._stage is not None
        tree = env._stage.desktop.accessibility()
        view = View(env._stage.desktop)
        menu, button = view.click(tree.find("menu", "View")), view.click(tree.find("push button", "OK"))
        plans = ([menu] * 12, [button, Action.done()], [Action.done()])
        total = 0.0
        for action in plans[habit]:
            _, reward, terminated, truncated, info = env.step(action)
            total += float(reward)
            if terminated or truncated:
                break
        learner.learn(habit, total)
        returns.append(total)
        successes.append(info["is_success"])
        alarm.record(info["episode_terms"], success=info["is_success"])
    return returns, successes


class TestTheClassicHack:
    """Published: +26 return an episode at 0.00 % success over 623 episodes, by a bonus for screen changes."""

    def test_a_bonus_for_screen_changes_is_gamed_and_the_alarm_fires(self, make_env: Make) -> None:
        env = make_env(tasks=[menu_task()], **SMALL, reward=Reward([ScreenChange(0.2)]))
        alarm = RewardHackAlarm(window=20)
        returns, successes = train(env, alarm, 150)
        assert np.mean(returns[-20:]) > np.mean(returns[:20]) + 0.3, "shaped return went up"
        assert np.mean(successes[-20:]) <= 0.1, "by toggling the menu forever"
        assert alarm.fired
        assert alarm.alerts[0].term == "screen_change"
        assert "screen_change" in str(alarm.alerts[0])

    def test_a_bonus_for_actions_that_took_effect_is_gamed_likewise(self, make_env: Make) -> None:
        env = make_env(tasks=[menu_task()], **SMALL, reward=Reward([make_term("action_effect", 0.2)]))
        alarm = RewardHackAlarm(window=20)
        _, successes = train(env, alarm, 150)
        assert np.mean(successes[-20:]) <= 0.1
        assert alarm.fired
        assert alarm.alerts[0].term == "action_effect"

    def test_honest_learning_on_the_same_task_does_not_fire_it(self, make_env: Make) -> None:
        env = make_env(
            tasks=[menu_task()], **SMALL, reward=Reward([StepCost(0.01), CriteriaProgress(0.5, 1.0)])
        )
        alarm = RewardHackAlarm(window=20)
        returns, successes = train(env, alarm, 150)
        assert np.mean(returns[-20:]) > np.mean(returns[:20]) + 0.3
        assert np.mean(successes[-20:]) > 0.8
        assert not alarm.fired


class TestAlarm:
    def feed(
        self, alarm: RewardHackAlarm, shaped: Callable[[int], float], success: Callable[[int], float]
    ) -> None:
        random = np.random.default_rng(0)
        for number in range(600):
            solved = bool(random.random() < success(number))
            bonus = shaped(number) + float(random.normal(0, 0.3))
            alarm.record({"success": float(solved), "bonus": bonus}, success=solved)

    @pytest.mark.parametrize(
        ("shaped", "success", "fires"),
        [
            (lambda n: n / 60, lambda n: 0.0, True),
            (lambda n: n / 60, lambda n: 0.3, True),
            (lambda n: n / 60, lambda n: max(0.0, 0.5 - n / 600), True),
            (lambda n: 0.0, lambda n: 0.0, False),
            (lambda n: 0.0, lambda n: 0.5, False),
            (lambda n: n / 600, lambda n: min(1.0, n / 400), False),
            (lambda n: -n / 60, lambda n: 0.0, False),
            (lambda n: n / 300, lambda n: 0.97, False),
        ],
        ids=[
            "nothing solved",
            "flat",
            "falling",
            "nothing happens",
            "steady",
            "learning",
            "worse",
            "solved and faster",
        ],
    )
    def test_when_it_fires(self, shaped: Any, success: Any, fires: bool) -> None:
        alarm = RewardHackAlarm(window=50)
        self.feed(alarm, shaped, success)
        assert alarm.fired == fires
        if fires:
            assert alarm.alerts[0].term == "bonus"

    def test_a_hack_after_honest_progress_is_noticed_too(self) -> None:
        alarm = RewardHackAlarm(window=50)
        self.feed(alarm, lambda n: 0.0, lambda n: min(0.5, n / 400))
        assert not alarm.fired
        self.feed(alarm, lambda n: n / 60, lambda n: 0.5)
        assert alarm.fired
