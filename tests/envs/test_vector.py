"""The vector environment: nobody waits for another's reset, and the machine's faults stay hidden."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import gymnasium
import numpy as np
import pytest

from operant import errors
from operant.config.desktop import DesktopConfig
from operant.desktop.pool import DesktopPool
from operant.envs.instruction import decode_text
from operant.envs.task_source import TaskSource
from operant.envs.vector import DesktopVectorEnv
from operant.errors import (
    FATAL,
    ConfigError,
    DesktopDied,
    DesktopStartError,
    InvalidAction,
    InvalidPath,
    OperantError,
    PanicStop,
    RewardError,
    SetupFailed,
    TaskError,
)
from operant.tasks.criteria.base import Criterion, Verdict, World
from operant.tasks.setup import Run
from operant.testing import FAKE_TEMPLATES, FakeDesktop
from operant.testing.fake_tasks import Compute, PressButton
from operant.types import Action

Make = Callable[..., DesktopVectorEnv]
WAIT, DONE = Action.wait(), Action.done()
#: Every failure with a name but those that end more than an episode, and those with a meaning of their own.
NAMED = [
    kind
    for kind in vars(errors).values()
    if isinstance(kind, type)
    and issubclass(kind, OperantError)
    and not issubclass(kind, (*FATAL, errors.VerifierError, errors.DesktopClosed))
]


@pytest.fixture
def make() -> Iterator[Make]:
    made: list[DesktopVectorEnv] = []

    def build(num_envs: int = 3, **options: Any) -> DesktopVectorEnv:
        defaults = {"tasks": FAKE_TEMPLATES, "factory": FakeDesktop.factory, "action_mode": "canonical"}
        made.append(DesktopVectorEnv(num_envs, **{**defaults, **options}))
        return made[-1]

    yield build
    for env in made:
        env.close()


class TestContract:
    def test_gymnasium_makes_it(self) -> None:
        env = gymnasium.make_vec(
            "operant.envs:operant/Desktop-v0", num_envs=2, tasks=FAKE_TEMPLATES, factory=FakeDesktop.factory
        )
        try:
            observation, _ = env.reset(seed=0)
            assert env.observation_space.contains(observation)
            for _ in range(40):
                observation, rewards, terminated, truncated, _ = env.step(env.action_space.sample())
            assert env.observation_space.contains(observation)
            assert rewards.shape == terminated.shape == truncated.shape == (2,)
        finally:
            env.close()

    def test_an_episode_that_is_over_is_followed_by_another_in_the_same_step(self, make: Make) -> None:
        env = make(tasks=[PressButton()])
        before, _ = env.reset(seed=0)
        after, rewards, terminated, truncated, infos = env.step([DONE, WAIT, WAIT])
        assert terminated.tolist() == [True, False, False]
        assert not truncated.any()
        assert not rewards.any()
        assert infos["_final_obs"].tolist() == [True, False, False]
        last = infos["final_obs"][0]
        assert decode_text(last["instruction"]) == decode_text(before["instruction"][0])
        assert (
            decode_text(after["instruction"][0])
            == infos["instruction"][0]
            != decode_text(last["instruction"])
        )
        assert infos["final_info"]["outcome"][0] == "failure"
        assert not infos["final_info"]["discard"][0]
        assert env.observations[0].step == 0
        assert [observation.step for observation in env.observations[1:]] == [1, 1]
        assert env.stats.episodes == 1

    def test_observations_are_copies_unless_asked_otherwise(self, make: Make) -> None:
        for copies in (True, False):
            env = make(tasks=[Compute()], copy=copies)
            first, _ = env.reset(seed=0)
            kept = first["state"].copy()
            env.step([WAIT] * 3)
            assert np.array_equal(first["state"], kept) == copies

    def test_the_same_seed_gives_the_same_tasks_in_the_same_order(self, make: Make) -> None:
        def play() -> list[list[str]]:
            env = make(in_order=True)
            instructions = [list(env.reset(seed=7)[1]["instruction"])]
            for turn in range(12):
                infos = env.step([DONE if (turn + index) % 3 == 0 else WAIT for index in range(3)])[4]
                instructions.append([str(text) for text in infos.get("instruction", [])])
            return instructions

        assert play() == play()

    def test_a_reset_begins_anew_everywhere(self, make: Make) -> None:
        env = make()
        first, _ = env.reset(seed=1)
        env.step([WAIT] * 3)
        again, _ = env.reset(seed=1)
        assert all(np.array_equal(first[name], again[name]) for name in first)

    @pytest.mark.parametrize("options", [{"num_envs": 0}, {"spares": 0}, {"action_mode": "telepathy"}])
    def test_nonsense_is_refused(self, make: Make, options: dict[str, Any]) -> None:
        with pytest.raises(ConfigError):
            make(**options)

    @pytest.mark.parametrize("actions", [[WAIT], [WAIT] * 4, None, 3])
    def test_the_wrong_number_of_actions_is_refused(self, make: Make, actions: Any) -> None:
        env = make()
        env.reset(seed=0)
        with pytest.raises(InvalidAction):
            env.step(actions)

    def test_garbage_for_one_is_a_recorded_invalid_action(self, make: Make) -> None:
        env = make(tasks=[Compute()])
        env.reset(seed=0)
        infos = env.step([WAIT, "garbage", WAIT])[4]
        assert infos["_invalid"].tolist() == [False, True, False]

    def test_nothing_goes_before_a_reset(self, make: Make) -> None:
        with pytest.raises(TaskError, match="reset"):
            make().step([WAIT] * 3)

    def test_the_source_of_tasks_can_be_replaced(self, make: Make) -> None:
        env = make(tasks=[PressButton()])
        env.reset(seed=0)
        env.source = TaskSource([Compute()])
        for _ in range(4):
            env.step([DONE] * 3)
        assert {task.id for task in env.current_tasks} == {"fake/compute-v1"}


class Gated(FakeDesktop):
    """A desktop whose resets take as long as the gate is closed, as if a browser had to go."""

    gate = threading.Event()

    def reset(self) -> None:
        assert self.gate.wait(60)
        super().reset()


class TestNobodyWaits:
    """Nothing is timed here: what would wait for a closed gate would not come back at all."""

    @pytest.fixture
    def gate(self) -> Iterator[threading.Event]:
        Gated.gate = threading.Event()
        yield Gated.gate
        Gated.gate.set()

    def test_a_step_does_not_wait_for_resets_while_a_spare_is_ready(
        self, make: Make, gate: threading.Event
    ) -> None:
        env = make(factory=Gated.factory, tasks=[Compute()], spares=2)
        env.reset(seed=0)
        env.step([DONE, WAIT, WAIT])  # one reset begins, and does not end
        for _ in range(5):
            env.step([WAIT] * 3)
        env.step([WAIT, DONE, WAIT])  # another one, on the last spare
        for _ in range(5):
            env.step([WAIT] * 3)
        assert env.stats.episodes == 2
        gate.set()
        env.step([DONE] * 3)
        assert env.stats.episodes == 5

    def test_with_send_and_recv_only_the_one_waits_that_has_no_desktop(
        self, make: Make, gate: threading.Event
    ) -> None:
        env = make(factory=Gated.factory, tasks=[Compute()], spares=1)
        env.reset(seed=0)
        env.step([DONE, WAIT, WAIT])  # uses the spare up
        env.send([DONE, WAIT, WAIT])
        for _ in range(8):
            *_, indices = env.recv(1)
            assert 0 not in indices
            env.send([WAIT], indices)
        gate.set()
        *_, infos, indices = env.recv()
        assert sorted(indices) == [0, 1, 2]
        assert infos["_final_obs"].tolist() == [True, False, False]
        assert env.stats.reset_wait_s > 0.0

    def test_a_slow_set_up_does_not_hold_up_those_that_are_ready(
        self, make: Make, gate: threading.Event
    ) -> None:
        slow: list[FakeDesktop] = []

        class SlowToLaunch(FakeDesktop):
            def launch(self, command: Any, **more: Any) -> Any:
                if env and (self in slow or not slow):
                    slow.append(self)  # the first that is used after the beginning, for good
                    assert gate.wait(60)
                return super().launch(command, **more)

        env: list[DesktopVectorEnv] = []
        env.append(make(factory=SlowToLaunch.factory, tasks=[Compute()], spares=3))
        gate.set()
        env[0].reset(seed=0)
        slow.clear()
        gate.clear()
        for _ in range(6):
            env[0].step([DONE, WAIT, WAIT])
        assert slow
        assert env[0].stats.episodes == 6

    def test_steps_run_at_the_same_time(self, make: Make) -> None:
        meeting = threading.Barrier(6)

        class Punctual(FakeDesktop):
            def perform(self, action: Action) -> Any:
                meeting.wait(60)
                return super().perform(action)

        env = make(6, factory=Punctual.factory, tasks=[Compute()])
        env.reset(seed=0)
        env.step([WAIT] * 6)
        assert [observation.step for observation in env.observations] == [1] * 6

    def test_what_was_sent_must_come_back_before_it_is_sent_again(self, make: Make) -> None:
        env = make(tasks=[Compute()])
        env.reset(seed=0)
        env.send([WAIT], [1])
        with pytest.raises(TaskError, match="not come back"):
            env.send([WAIT], [1])
        with pytest.raises(TaskError, match="recv"):
            env.reset()
        observation, rewards, *_, indices = env.recv()
        assert indices == [1]
        assert observation["screen"].shape == (1, 100, 160, 3)
        assert rewards.shape == (1,)


class TestInfrastructure:
    def test_an_episode_that_is_lost_is_marked_and_its_task_played_again(self, make: Make) -> None:
        env = make(tasks=[PressButton()], in_order=True, spares=1)
        env.reset(seed=0)
        lost = env.current_tasks[1].instruction
        env._slots[1].ready.stage.desktop.break_with(DesktopDied("unplugged"))  # type: ignore[attr-defined]
        _, rewards, terminated, truncated, infos = env.step([WAIT] * 3)
        assert (terminated.tolist(), truncated.tolist()) == ([False] * 3, [False, True, False])
        assert rewards.tolist() == [0.0] * 3
        assert infos["final_info"]["outcome"][1] == "infra_error"
        assert infos["final_info"]["discard"][1]
        assert env.stats.discarded == 1
        assert env.stats.infra_errors == 1
        env.step([DONE, WAIT, WAIT])
        assert lost in [task.instruction for task in env.current_tasks]

    @pytest.mark.parametrize("error", [*NAMED, KeyError, TypeError, RecursionError])
    def test_whatever_fails_costs_an_episode_and_not_the_run(
        self, make: Make, error: type[Exception]
    ) -> None:
        """Failures that nobody listed, such as a remote desktop that suddenly wants a token, ended the run."""
        env = make(1, tasks=[PressButton()], spares=1)
        env.reset(seed=0)

        desktop = env._slots[0].ready.stage.desktop

        def fail() -> Any:
            del desktop.windows  # once: the desktop may be prepared for another episode
            raise error("nobody has thought of this")

        desktop.windows = fail  # type: ignore[method-assign]
        _, _, _, truncated, infos = env.step([WAIT])
        assert truncated.tolist() == [True]
        assert infos["final_info"]["outcome"].tolist() == ["infra_error"]
        assert "thought of this" in infos["final_info"]["why"][0]
        assert env.step([DONE])[4]["final_info"]["outcome"].tolist() == ["failure"]

    @pytest.mark.parametrize("error", NAMED)
    def test_whatever_fails_under_a_set_up_is_tried_again(self, make: Make, error: type[Exception]) -> None:
        fails = iter([True, False, True] + [False] * 1000)

        class Moody(FakeDesktop):
            def launch(self, command: Any, **more: Any) -> Any:
                if next(fails):
                    raise error("nobody has thought of this")
                return super().launch(command, **more)

        env = make(1, factory=Moody.factory, tasks=[PressButton()], spares=1)
        env.reset(seed=0)
        assert env.step([DONE])[4]["final_info"]["outcome"].tolist() == ["failure"]

    @pytest.mark.parametrize("error", [PanicStop, ConfigError, RewardError])
    def test_what_the_next_episode_would_meet_too_ends_the_run(
        self, make: Make, error: type[Exception]
    ) -> None:
        env = make(1, tasks=[PressButton()], spares=1)
        env.reset(seed=0)
        env._slots[0].ready.stage.desktop.break_with(error("stop"))  # type: ignore[attr-defined]
        with pytest.raises(error, match="stop"):
            env.step([WAIT])

    @pytest.mark.parametrize("error", [TypeError, MemoryError, UnicodeDecodeError, InvalidPath])
    def test_whatever_a_verdict_raises_is_a_verifier_error(self, make: Make, error: type[Exception]) -> None:
        @dataclass(frozen=True)
        class Odd(Criterion):
            def check(self, world: World) -> Verdict:
                raise error("utf-8", b"", 0, 1, "odd") if error is UnicodeDecodeError else error("odd")

        env = make(1, tasks=[replace(PressButton().instance(1), success=Odd())], spares=1)
        env.reset(seed=0)
        infos = env.step([DONE])[4]
        assert infos["final_info"]["outcome"].tolist() == ["verifier_error"]
        assert infos["final_info"]["discard"].tolist() == [True]
        assert "odd" in infos["final_info"]["why"][0]

    def test_desktops_that_fail_under_a_set_up_are_never_seen(self, make: Make) -> None:
        random = np.random.default_rng(0)

        class Flaky(FakeDesktop):
            def launch(self, command: Any, **more: Any) -> Any:
                if random.random() < 0.3:
                    self.break_with(DesktopDied("on launch"))
                return super().launch(command, **more)

        env = make(factory=Flaky.factory, tasks=[PressButton()])
        env.reset(seed=0)
        outcomes = set()
        for _ in range(15):
            infos = env.step([DONE] * 3)[4]
            outcomes |= set(infos["final_info"]["outcome"])
        assert outcomes == {"failure"}
        assert env._pool.status().replaced > 0

    def test_a_set_up_that_fails_now_and_then_is_retried_and_counted(self, make: Make) -> None:
        fails = iter([True, True, False, True] + [False] * 1000)

        class Moody(FakeDesktop):
            def run(self, command: Any, **more: Any) -> Any:
                return super().run("false" if next(fails) else "true", **more)

        task = replace(
            PressButton().instance(3), setup=(Run(command=["true"]), *PressButton().instance(3).setup)
        )
        env = make(1, factory=Moody.factory, tasks=[task], spares=1)
        env.reset(seed=0)
        env.step([DONE])
        env.step([DONE])
        assert env._prefetcher.infra_errors == 3

    def test_a_task_whose_set_up_never_works_is_said_so(self, make: Make) -> None:
        task = replace(PressButton().instance(1), setup=(Run(command=["false"]),))
        with pytest.raises(SetupFailed):
            make(tasks=[task]).reset(seed=0)

    def test_a_machine_without_desktops_says_so_at_once(self, make: Make) -> None:
        def refuse(config: DesktopConfig) -> Any:
            raise DesktopStartError("no room")

        with pytest.raises(DesktopStartError, match="no room"):
            make(factory=refuse)


class TestTheEnd:
    def test_closing_leaves_no_thread_and_no_desktop(self) -> None:
        before = threading.active_count()
        desktops: list[FakeDesktop] = []

        def factory(config: DesktopConfig) -> Any:
            desktops.append(FakeDesktop(config))
            return desktops[-1]

        env = DesktopVectorEnv(3, tasks=FAKE_TEMPLATES, factory=factory, action_mode="canonical")
        env.reset(seed=0)
        env.step([DONE] * 3)
        env.close()
        assert all(desktop.closed for desktop in desktops)
        deadline = time.monotonic() + 5
        while threading.active_count() > before and time.monotonic() < deadline:
            time.sleep(0.01)
        assert threading.active_count() <= before

    def test_a_pool_of_ones_own_stays_open_and_gets_everything_back(self) -> None:
        with DesktopPool(4, factory=FakeDesktop.factory) as pool:
            env = DesktopVectorEnv(2, tasks=FAKE_TEMPLATES, pool=pool, spares=2, action_mode="canonical")
            env.reset(seed=0)
            env.step([DONE, WAIT])
            env.close()
            pool.wait_ready(4, timeout_s=10)
            assert pool.status().leased == 0

    def test_closing_twice_or_unused_does_no_harm(self) -> None:
        env = DesktopVectorEnv(1, tasks=FAKE_TEMPLATES, factory=FakeDesktop.factory)
        env.close()
        env.close()
