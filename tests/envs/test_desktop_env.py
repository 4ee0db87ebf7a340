"""``operant/Desktop-v0`` on fake desktops: contract, seeds, rewards, outcomes, infrastructure errors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from stable_baselines3.common.env_checker import check_env as sb3_check_env

import operant.envs
from operant.apps.view import View
from operant.config.desktop import DesktopConfig
from operant.envs.canonical_actions import CanonicalSpace
from operant.envs.desktop_env import DesktopEnv
from operant.envs.flat import FlatActions, FlatDesktop
from operant.envs.hybrid_actions import HybridActions
from operant.envs.instruction import decode_text
from operant.envs.observations import FIELDS
from operant.errors import (
    ApplicationHung,
    ConfigError,
    DesktopDied,
    DesktopStartError,
    OperantError,
    SetupFailed,
    TaskError,
    VerifierError,
)
from operant.tasks.criteria.base import Criterion, Verdict, World
from operant.tasks.setup import Run
from operant.testing import FAKE_TEMPLATES, FakeDesktop
from operant.testing.fake_tasks import FillField, PressButton
from operant.types import Action, ActionKind, Button, Point

Make = Callable[..., DesktopEnv]


def state(observation: dict[str, Any]) -> dict[str, float]:
    return dict(zip(FIELDS, observation["state"].tolist(), strict=True))


def show_how(env: DesktopEnv) -> tuple[float, dict[str, Any], int]:
    """Let the oracle play through hybrid actions; the return, the last info and the number of steps."""
    coder, total, steps = HybridActions(), 0.0, 0
    while True:
        assert env.task.oracle is not None
        assert env._stage is not None
        action = env.task.oracle.act(View(env._stage.desktop, env.observation.last_action))
        _, reward, terminated, truncated, info = env.step(coder.encode(action, env.task.instruction))
        total, steps = total + float(reward), steps + 1
        if terminated or truncated:
            return total, info, steps


class TestContract:
    def test_gymnasium_makes_it(self) -> None:
        options = {"tasks": FAKE_TEMPLATES, "factory": FakeDesktop.factory}
        for name in (operant.envs.ENV_ID, f"operant.envs:{operant.envs.ENV_ID}"):
            with gymnasium.make(name, **options) as env:
                observation, info = env.reset(seed=1)
                assert env.observation_space.contains(observation)
                assert info["instruction"] == decode_text(observation["instruction"])

    def test_tasks_come_from_a_file(self) -> None:
        path = Path(__file__).parents[2] / "config" / "notes.yaml"
        for given in (path, str(path)):
            with gymnasium.make(operant.envs.ENV_ID, tasks=given, factory=FakeDesktop.factory) as env:
                assert [task.id for task in env.unwrapped.source.tasks] == ["notes/write-note-v1"]  # type: ignore[attr-defined]
        with pytest.raises(OperantError, match="no_such"):
            gymnasium.make(operant.envs.ENV_ID, tasks="no_such.yaml", factory=FakeDesktop.factory)

    @pytest.mark.parametrize(
        "options", [{}, {"size": (84, 84)}, {"tree_bytes": 4096}, {"render_mode": "rgb_array"}]
    )
    @pytest.mark.filterwarnings("ignore:.*normalized space")
    def test_gymnasiums_check(self, make_env: Make, options: dict[str, Any]) -> None:
        check_env(make_env(**options), skip_render_check=True)

    @pytest.mark.parametrize("observe", ["image", "dict", "vector"])
    @pytest.mark.parametrize("continuous", [False, True])
    def test_stable_baselines3s_check_of_the_flat_wrapper(
        self, make_env: Make, observe: str, continuous: bool
    ) -> None:
        sb3_check_env(FlatDesktop(make_env(), FlatActions(continuous=continuous), observe))

    def test_a_flat_wrapper_of_something_else_is_refused(self, make_env: Make) -> None:
        with pytest.raises(ConfigError):
            FlatDesktop(make_env(), observe="smell")
        with pytest.raises(ConfigError):
            FlatDesktop(make_env(action_mode="canonical"))

    def test_a_flat_action_that_is_none_is_recorded(self, make_env: Make) -> None:
        env = FlatDesktop(make_env())
        env.reset(seed=1)
        assert "invalid" in env.step(np.full(9, np.nan))[4]

    def test_nothing_goes_before_a_reset(self, make_env: Make) -> None:
        env = make_env()
        for use in (lambda: env.step({}), lambda: env.observation, lambda: env.task):
            with pytest.raises(TaskError, match="reset"):
                use()

    def test_unknown_modes_and_sizes_are_refused(self, make_env: Make) -> None:
        with pytest.raises(ConfigError, match="hybrid, canonical"):
            make_env(action_mode="telepathy")
        with pytest.raises(ConfigError, match="no area"):
            make_env(size=(0, 100))


class TestCalls:
    """``actions``: what agents may do, as an option of the environment."""

    def test_gymnasium_makes_one_whose_actions_are_canonical(self) -> None:
        options = {"tasks": FAKE_TEMPLATES, "factory": FakeDesktop.factory}
        for actions in ("api", "both"):
            with gymnasium.make(operant.envs.ENV_ID, actions=actions, **options) as env:
                assert env.action_space == CanonicalSpace(actions=actions)
                env.reset(seed=1)
                info = env.step(Action.call("files.list_folder", {}))[4]
                assert "pointer and keyboard only" not in info["invalid"]  # fakes have no such function
                clicked = env.step(Action.click(Point(0.5, 0.5)))[4]
                assert ("calls of functions only" in clicked.get("invalid", "")) is (actions == "api")

    def test_a_call_is_performed_and_its_result_told(self, make_env: Make) -> None:
        def desktop(config: DesktopConfig) -> FakeDesktop:
            made = FakeDesktop(config)
            made.answers["clipboard.get_text"] = "copied"
            return made

        env = make_env(actions="both", factory=desktop)
        env.reset(seed=1)
        info = env.step(Action.call("clipboard.get_text", {}))[4]
        assert info["result"] == "copied"
        assert "invalid" not in info

    def test_without_the_option_calls_are_refused(self, make_env: Make) -> None:
        assert isinstance(make_env().coding.actions, HybridActions)
        env = make_env(action_mode="canonical")
        call = Action.call("clipboard.get_text", {})
        assert not env.action_space.contains(call)
        env.reset(seed=1)
        assert "pointer and keyboard only" in env.step(call)[4]["invalid"]

    def test_the_settings_of_the_desktop_say_the_same(self, make_env: Make) -> None:
        env = make_env(desktop=DesktopConfig(actions="both"))
        assert env.action_space == CanonicalSpace(actions="both")
        assert make_env(actions="gui", desktop=DesktopConfig(actions="both")).config.actions == "gui"

    def test_samples_are_calls_with_arguments_of_the_right_types(self) -> None:
        for actions, least, most in (("api", 1.0, 1.0), ("both", 0.3, 0.7), ("gui", 0.0, 0.0)):
            one, other = CanonicalSpace(5, actions), CanonicalSpace(5, actions)  # type: ignore[arg-type]
            samples = [one.sample() for _ in range(300)]
            assert samples == [other.sample() for _ in range(300)]
            assert all(one.contains(sample) for sample in samples)
            calls = [sample for sample in samples if sample.kind is ActionKind.CALL]
            assert least <= len(calls) / len(samples) <= most
            assert len({call.function for call in calls}) > 50 or not calls

    def test_the_space_is_typed(self) -> None:
        space = CanonicalSpace(actions="both")
        assert space.contains(Action.call("windows.focus", {"window": "a"}))
        for wrong in (
            Action.call("windows.focus", {"window": 3}),
            Action.call("windows.focus", {}),
            Action.call("windows.no_such_function", {}),
            {"kind": "call"},
        ):
            assert not space.contains(wrong)

    def test_mistakes_are_told_before_a_desktop_starts(self, make_env: Make) -> None:
        with pytest.raises(ConfigError, match="none of gui, api, both"):
            make_env(actions="all")
        with pytest.raises(ConfigError, match="hybrid actions have no words"):
            make_env(actions="both", action_mode="hybrid")


class TestSeeds:
    def test_the_same_seed_gives_the_same_task_and_the_same_first_frame(self, make_env: Make) -> None:
        one, other = make_env(), make_env()
        for seed in range(8):
            (a, info), (b, other_info) = one.reset(seed=seed), other.reset(seed=seed)
            assert info == other_info
            assert all(np.array_equal(a[name], b[name]) for name in a)
            assert np.array_equal(one.observation.screen, other.observation.screen)
            one.step(one.action_space.sample())

    def test_without_a_seed_the_sequence_goes_on(self, make_env: Make) -> None:
        one, other = make_env(), make_env()
        one.reset(seed=3)
        other.reset(seed=3)
        infos = [one.reset()[1] for _ in range(5)]
        assert infos == [other.reset()[1] for _ in range(5)]
        assert len({info["instruction"] for info in infos}) > 1

    def test_one_task_can_be_asked_for(self, make_env: Make) -> None:
        env = make_env()
        _, info = env.reset(options={"task": "fake/fill-field-v1", "task_seed": 5})
        assert info["instruction"] == FillField().instance(5).instruction
        task = PressButton().instance(9, "heldout")
        assert env.reset(options={"task": task})[1]["instruction"] == task.instruction
        with pytest.raises(TaskError):
            env.reset(options={"task": "fake/no-such-task-v1"})


class TestEpisodes:
    @pytest.mark.parametrize("template", FAKE_TEMPLATES[:3], ids=lambda template: template.id)
    def test_an_oracle_earns_one(self, make_env: Make, template: Any) -> None:
        env = make_env(tasks=[template])
        for seed in range(3):
            env.reset(seed=seed)
            total, info, steps = show_how(env)
            assert total == 1.0
            assert info["outcome"] == "success"
            assert info["is_success"] is True
            assert info["discard"] is False
            assert info["episode_steps"] == steps
            assert info["episode_terms"] == {"success": 1.0}

    def test_done_at_once_is_a_failure_and_running_out_of_steps_is_truncated(self, make_env: Make) -> None:
        env = make_env(tasks=[PressButton()], action_mode="canonical")
        env.reset(seed=0)
        _, reward, terminated, truncated, info = env.step(Action.done())
        assert (reward, terminated, truncated, info["outcome"]) == (0.0, True, False, "failure")
        env.reset(seed=0)
        for _ in range(4):
            _, reward, terminated, truncated, info = env.step(Action.wait())
        assert (reward, terminated, truncated, info["outcome"]) == (0.0, False, True, "truncated")

    def test_success_may_end_the_episode_by_itself(self, make_env: Make) -> None:
        env = make_env(tasks=[PressButton()], end_on_success=True)
        env.reset(seed=0)
        total, _, steps = show_how(env)
        assert (total, steps) == (1.0, 1)

    @pytest.mark.parametrize(
        "wrong", [{}, None, 7, "click", {"type": 0}, {"type": 0, "point": [np.nan, 0.1]}, {"type": 99}]
    )
    def test_garbage_is_a_recorded_invalid_action(self, make_env: Make, wrong: Any) -> None:
        env = make_env()
        env.reset(seed=0)
        observation, reward, terminated, truncated, info = env.step(wrong)
        assert (reward, terminated, truncated) == (0.0, False, False)
        assert info["invalid"]
        assert state(observation)["last_invalid"] == 1.0
        assert env.observation.step == 1

    def test_render_shows_the_whole_screen(self, make_env: Make) -> None:
        env = make_env(render_mode="rgb_array")
        env.reset(seed=0)
        assert env.render().shape == (800, 1280, 3)


class TestState:
    def test_what_the_numbers_mean(self, make_env: Make) -> None:
        env = make_env(tasks=[PressButton()], action_mode="canonical")
        observation, _ = env.reset(seed=0)
        before = state(observation)
        assert before["last_none"] == 1.0
        assert before["step_fraction"] == 0.0
        assert before["windows"] == pytest.approx(0.1)
        assert before["focused"] == 1.0
        assert before["focused_width"] > 0.4
        observation, *_ = env.step(Action(ActionKind.MOUSE_DOWN, point=Point(0.25, 0.5)))
        now = state(observation)
        assert (now["pointer_x"], now["pointer_y"]) == pytest.approx((0.25, 0.5), abs=1e-3)
        assert (now["last_mouse_down"], now["held_left"], now["last_none"]) == (1.0, 1.0, 0.0)
        assert now["step_fraction"] == pytest.approx(0.25)
        assert now["steps_left"] == pytest.approx(0.03)
        observation, *_ = env.step(Action(ActionKind.KEY_DOWN, keys=("shift",)))
        assert state(observation)["held_shift"] == 1.0
        observation, *_ = env.step(Action(ActionKind.MOUSE_UP, button=Button.LEFT))
        assert state(observation)["held_left"] == 0.0

    def test_the_tree_lists_the_widgets(self, make_env: Make) -> None:
        env = make_env(tasks=[PressButton()], tree_bytes=2000)
        observation, _ = env.reset(seed=0)
        lines = decode_text(observation["tree"]).splitlines()
        assert sum(line.startswith("push button\t") for line in lines) == 4


class Unverifiable(Criterion):
    def check(self, world: World) -> Verdict:
        raise VerifierError("the scales are broken")


class TestInfrastructure:
    def test_a_desktop_that_dies_ends_the_episode_as_nobodys_failure(self, make_env: Make) -> None:
        env = make_env()
        env.reset(seed=0)
        assert env._stage is not None
        first = env._stage.desktop
        first.break_with(DesktopDied("unplugged"))  # type: ignore[attr-defined]
        _, reward, terminated, truncated, info = env.step(env.action_space.sample())
        assert (reward, terminated, truncated) == (0.0, False, True)
        assert (info["outcome"], info["discard"], info["is_success"]) == ("infra_error", True, False)
        env.reset(seed=0)
        assert env._stage.desktop is not first
        assert env.infra_errors == 1

    def test_an_application_that_hangs_does_not_end_the_run(self, make_env: Make) -> None:
        env = make_env(action_mode="canonical")
        env.reset(seed=0)
        assert env._stage is not None
        env._stage.desktop.break_with(ApplicationHung("it takes no keys"))  # type: ignore[attr-defined]
        assert env.step(Action.type("x"))[4]["discard"]

    def test_a_verifier_that_fails_is_nobodys_failure_either(self, make_env: Make) -> None:
        for ends in (False, True):
            task = replace(PressButton().instance(1), success=Unverifiable())
            env = make_env(tasks=[task], action_mode="canonical", end_on_success=ends)
            env.reset()
            _, reward, _, _, info = env.step(Action.wait() if ends else Action.done())
            assert (reward, info["outcome"], info["discard"]) == (0.0, "verifier_error", True)

    def test_a_desktop_that_does_not_start_is_tried_again(self, make_env: Make) -> None:
        tries: list[int] = []

        def factory(config: DesktopConfig) -> Any:
            tries.append(1)
            if len(tries) < 3:
                raise DesktopStartError("not today")
            return FakeDesktop(config)

        make_env(factory=factory).reset(seed=0)
        assert len(tries) == 3

    def test_a_machine_on_which_nothing_works_is_told(self, make_env: Make) -> None:
        def factory(config: DesktopConfig) -> Any:
            raise DesktopStartError("not today")

        with pytest.raises(DesktopStartError):
            make_env(factory=factory).reset(seed=0)

    def test_a_set_up_that_never_works_is_told(self, make_env: Make) -> None:
        task = replace(PressButton().instance(1), setup=(Run(command=["false"]),))
        with pytest.raises(SetupFailed):
            make_env(tasks=[task]).reset()
