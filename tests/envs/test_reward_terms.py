"""Reward terms by name: the two that come with Operant, one's own, and whatever goes wrong with them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from operant.apps.view import View
from operant.envs.desktop_env import DesktopEnv
from operant.envs.reward_terms import ActionEffect, make_term
from operant.envs.rewards import Moment, Potential, Reward, RewardTerm, StepCost
from operant.envs.vector import DesktopVectorEnv
from operant.errors import ConfigError, DesktopDied, RewardError
from operant.testing import FAKE_TEMPLATES, FakeDesktop
from operant.testing.fake_tasks import PressButton
from operant.types import Action, Point

Make = Callable[..., DesktopEnv]


class Mine(RewardTerm):
    name = "mine"

    def score(self, moment: Moment) -> float:
        return 2.0


class Half(Potential):
    name = "half"

    def potential(self, moment: Moment) -> float:
        return 0.5


class Nameless(RewardTerm):
    def score(self, moment: Moment) -> float:
        return 0.0


class Demanding(Mine):
    def __init__(self, needed: int) -> None:
        self.needed = needed


class Moody(RewardTerm):
    """Gives what it was told to give, or raises it."""

    name = "moody"
    gives: Any = 0.0
    at_begin: Exception | None = None

    def begin(self, moment: Moment) -> None:
        if self.at_begin is not None:
            raise self.at_begin

    def score(self, moment: Moment) -> float:
        if isinstance(self.gives, Exception):
            raise self.gives
        return self.gives  # type: ignore[no-any-return]


def moody(gives: Any = 0.0, at_begin: Exception | None = None) -> Moody:
    term = Moody()
    term.gives, term.at_begin = gives, at_begin
    return term


def begun(make_env: Make, *terms: RewardTerm) -> DesktopEnv:
    env = make_env(tasks=[PressButton()], action_mode="canonical", reward=Reward(terms))
    env.reset(seed=0)
    return env


def shown(env: DesktopEnv) -> Action:
    assert env._stage is not None
    assert env.task.oracle is not None
    return env.task.oracle.act(View(env._stage.desktop, env.observation.last_action))


def score(env: DesktopEnv, action: Any, term: str) -> float:
    return float(env.step(action)[4]["reward_terms"][term])


class TestTheTwo:
    def test_an_action_took_effect(self, make_env: Make) -> None:
        env = begun(make_env, make_term("action_effect", 0.5))
        press = shown(env)
        assert score(env, Action.wait(), "action_effect") == 0.0
        assert score(env, "garbage", "action_effect") == 0.0
        assert score(env, press, "action_effect") == 0.5
        assert score(env, Action.done(), "action_effect") == 0.0

    def test_the_pointer_came_nearer(self, make_env: Make) -> None:
        env = begun(make_env, make_term("pointer_nearer", 0.1))
        target = shown(env).point
        assert target is not None
        away = Point(0.99 if target.x < 0.5 else 0.01, 0.99 if target.y < 0.5 else 0.01)
        to = score(env, Action.move(target), "pointer_nearer")
        fro = score(env, Action.move(away), "pointer_nearer")
        back = score(env, Action.move(target), "pointer_nearer")
        assert to > 0
        assert fro < -0.02
        assert fro + back == pytest.approx(0.0)
        assert score(env, Action.wait(), "pointer_nearer") == 0.0
        assert abs(fro) <= 0.1

    def test_no_oracle_no_target(self, make_env: Make) -> None:
        task = replace(PressButton().instance(1), oracle=None)
        env = make_env(tasks=[task], action_mode="canonical", reward=Reward([make_term("pointer_nearer")]))
        env.reset(seed=0)
        assert score(env, Action.move(Point(0.1, 0.1)), "pointer_nearer") == 0.0


class TestByName:
    def test_ones_own(self, make_env: Make) -> None:
        env = begun(make_env, make_term(f"{__name__}:Mine", 0.1), make_term(f"{__name__}:Half", gamma=0.9))
        terms = env.step(Action.wait())[4]["reward_terms"]
        assert terms["mine"] == pytest.approx(0.2)
        assert terms["half"] == pytest.approx(0.9 * 0.5 - 0.5)

    @pytest.mark.parametrize(
        ("use", "message", "hint"),
        [
            ("action_efect", "no reward term 'action_efect'", "did you mean 'action_effect'?"),
            ("luck", "no reward term 'luck'", "terms: action_effect, pointer_nearer"),
            ("no_such_module:Term", "can't be imported", "current directory"),
            (f"{__name__}:Mien", "has no Mien", "did you mean 'Mine'?"),
            ("os:system('true')", "is not module:Term", "my_rewards:CalmHands"),
            ("os:getcwd", "is no reward term", "subclass"),
            (f"{__name__}:Demanding", "can't be made: TypeError", "without arguments"),
            (f"{__name__}:Nameless", "has no name", "name ="),
            ("operant.envs.rewards:RewardTerm", "can't be made: TypeError", None),
        ],
    )
    def test_a_wrong_name_is_told_at_once(self, use: str, message: str, hint: str | None) -> None:
        with pytest.raises(ConfigError) as caught:
            make_term(use)
        assert message in caught.value.message
        if hint:
            assert hint in str(caught.value.hint)

    @pytest.mark.parametrize(
        "twice", [[StepCost(), StepCost()], [ActionEffect(), make_term("action_effect")]]
    )
    def test_two_of_one_name(self, twice: list[RewardTerm]) -> None:
        with pytest.raises(ConfigError, match="two parts of the reward are called"):
            Reward(twice)

    def test_none_is_called_success(self) -> None:
        term = Mine()
        term.name = "success"
        with pytest.raises(ConfigError, match="'success'"):
            Reward([term])


class TestFailing:
    @pytest.mark.parametrize(
        ("gives", "message"),
        [
            (math.nan, "gave nan"),
            (-math.inf, "gave -inf"),
            (None, "gave None"),
            ("much", "gave 'much'"),
            (ZeroDivisionError("by zero"), "raised ZeroDivisionError: by zero"),
            (FileNotFoundError("there is none"), "raised FileNotFoundError"),
        ],
        ids=str,
    )
    def test_it_is_told_by_name(self, make_env: Make, gives: Any, message: str) -> None:
        env = begun(make_env, moody(gives))
        with pytest.raises(RewardError, match="reward term 'moody'") as caught:
            env.step(Action.wait())
        assert message in caught.value.message
        assert caught.value.hint

    def test_at_the_beginning_of_an_episode(self, make_env: Make) -> None:
        with pytest.raises(RewardError, match="raised KeyError"):
            begun(make_env, moody(at_begin=KeyError("first")))

    def test_a_desktop_that_dies_under_it_is_the_machines_failure(self, make_env: Make) -> None:
        env = begun(make_env, moody(DesktopDied("gone")))
        *_, info = env.step(Action.wait())
        assert info["outcome"] == "infra_error"
        assert info["discard"]

    @pytest.mark.parametrize("asynchronous", [True, False])
    @pytest.mark.parametrize("term", [moody(math.nan), moody(at_begin=KeyError("x"))], ids=["score", "begin"])
    def test_in_a_vector_environment(self, term: Moody, asynchronous: bool) -> None:
        env = DesktopVectorEnv(
            2,
            tasks=FAKE_TEMPLATES,
            factory=FakeDesktop.factory,
            action_mode="canonical",
            reward=Reward([term]),
        )

        def play() -> None:
            env.reset(seed=1)
            if asynchronous:
                env.send([Action.wait(), Action.wait()])
                env.recv()
            else:
                env.step([Action.wait(), Action.wait()])

        try:
            with pytest.raises(RewardError, match="'moody'"):
                play()
        finally:
            env.close()
