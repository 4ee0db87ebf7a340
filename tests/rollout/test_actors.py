"""Actors on fake desktops: trajectories, rewards, retries, and an orderly end."""

from __future__ import annotations

import queue
import threading
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path

import pytest

from operant.agents.vlm.backends.base import Backend, Weights
from operant.agents.vlm.families import Units
from operant.agents.vlm.prompt import Prompt
from operant.agents.vlm.trajectory import Generation, Trajectory
from operant.config.vlm import PromptSettings
from operant.desktop.pool import DesktopPool
from operant.errors import DesktopDied, ModelServerError, ResultsError
from operant.rollout.actors import Job, MultiActorRunner, Rewards, TaskRunner
from operant.rollout.admission import Admission
from operant.rollout.experience import ExperienceStore, read_trajectory, write_trajectory
from operant.testing import FAKE_TEMPLATES, FakeDesktop
from operant.types import Outcome, Size

UI_TARS = PromptSettings(action_format="ui_tars", history=1)


class Scripted(Backend):
    units = Units.THOUSANDTHS

    def __init__(self, *answers: str) -> None:
        super().__init__()
        self.answers = answers
        self.asked = 0
        self.fail_first = 0
        self._lock = threading.Lock()

    def submit(
        self, prompt: Prompt, *, seed: int = 0, temperature: float | None = None
    ) -> Future[Generation]:
        with self._lock:
            number, self.asked = self.asked, self.asked + 1
        future: Future[Generation] = Future()
        if number < self.fail_first:
            future.set_exception(ModelServerError("down for a moment"))
        else:
            text = self.answers[number % len(self.answers)]
            future.set_result(Generation(text, (1, 2), (-1.0, -2.0), (7, 7)))
        return future

    def shown(self, screen: Size) -> Size:
        return Size(64, 40)

    def load(self, weights: Weights) -> None:
        raise NotImplementedError


class Endless:
    """The same task for ever."""

    def __init__(self) -> None:
        self.taken = 0

    def take(self) -> Job:
        self.taken += 1
        return Job(FAKE_TEMPLATES[0].instance(0), "group", self.taken, self.taken)


@pytest.fixture
def pool():  # type: ignore[no-untyped-def]
    with DesktopPool(2, factory=FakeDesktop.factory) as pool:
        yield pool


def test_an_episode_becomes_a_trajectory_with_rewards(pool: DesktopPool) -> None:
    """The second answer is no action, the third points off the screen, the fourth ends it."""
    backend = Scripted(
        "Action: wait()", "nonsense", "Action: click(start_box='(5000,1)')", "Action: finished()"
    )
    found: queue.Queue[Trajectory] = queue.Queue()
    runner = TaskRunner(pool, backend, found, prompt=UI_TARS, rewards=Rewards(1.0, -0.5))
    trajectory = runner.run_episode(FAKE_TEMPLATES[0].instance(0))
    assert found.get_nowait() is trajectory
    assert len(trajectory) == 4
    assert trajectory.outcome is Outcome.FAILURE
    assert [turn.valid for turn in trajectory.turns] == [True, False, False, True]
    assert [turn.reward for turn in trajectory.turns] == [0.0, -0.5, -0.5, 0.0]
    assert trajectory.total_reward() == -1.0
    assert trajectory.oldest_version == 7
    assert [len(turn.prompt.images) for turn in trajectory.turns] == [1, 2, 2, 2]


def test_a_success_is_rewarded_at_its_last_turn(pool: DesktopPool) -> None:
    from operant.agents.vlm.demonstrator import Demonstrator

    runner = TaskRunner(pool, Scripted(""), prompt=UI_TARS)
    shown = Demonstrator(UI_TARS, Units.THOUSANDTHS, lambda size: Size(640, 400), lambda text: [1])
    trajectory = runner.run_episode(FAKE_TEMPLATES[0].instance(0), agent=shown)
    assert trajectory.success
    assert [turn.reward for turn in trajectory.turns] == [*[0.0] * (len(trajectory) - 1), 1.0]


def test_actors_stop_at_the_bound_and_lost_episodes_are_played_again(pool: DesktopPool) -> None:
    backend, jobs, found = Scripted("Action: finished()"), Endless(), queue.Queue()
    backend.fail_first = 2
    admission = Admission(4, 0)
    with MultiActorRunner(2, TaskRunner(pool, backend, prompt=UI_TARS), jobs, admission, found.put) as actors:
        first = [found.get(timeout=30) for _ in range(4)]
        with pytest.raises(queue.Empty):
            found.get(timeout=0.2)
        admission.advance(1)
        second = [found.get(timeout=30) for _ in range(4)]
    assert jobs.taken == 8
    assert len({one.id for one in (*first, *second)}) == 8
    assert actors.stats.infra_errors == 2
    assert actors.failure is None
    assert 0 < actors.stats.utilisation < 1


def test_a_job_that_never_works_is_given_up(pool: DesktopPool) -> None:
    class Broken(FakeDesktop):
        def frame(self):  # type: ignore[no-untyped-def]
            raise DesktopDied("gone")

    dropped: queue.Queue[Job] = queue.Queue()
    with DesktopPool(1, factory=lambda config: Broken(config)) as broken:  # type: ignore[arg-type,return-value]
        runner = TaskRunner(broken, Scripted("Action: finished()"), prompt=UI_TARS)
        with MultiActorRunner(1, runner, Endless(), Admission(1, 0), lambda one: None, dropped.put) as actors:
            assert dropped.get(timeout=60).group == "group"
    assert actors.stats.dropped >= 1


def test_trajectories_survive_the_disk_and_torn_files_do_not_stop_anything(
    pool: DesktopPool, tmp_path: Path
) -> None:
    backend = Scripted("Action: wait()", "Action: finished()")
    trajectory = TaskRunner(pool, backend, prompt=UI_TARS).run_episode(FAKE_TEMPLATES[0].instance(0))
    path = tmp_path / "one.npz"
    write_trajectory(path, trajectory)
    back = read_trajectory(path)
    assert back.id == trajectory.id
    assert [turn.answer for turn in back.turns] == [turn.answer for turn in trajectory.turns]
    for old, new in zip(trajectory.turns, back.turns, strict=True):
        assert new.prompt.messages == old.prompt.messages
        assert all((a == b).all() for a, b in zip(new.prompt.images, old.prompt.images, strict=True))
    assert back.turns[0].prompt.images[0] is back.turns[1].prompt.images[0]  # each picture once
    store = ExperienceStore(tmp_path / "store")
    store.add(trajectory)
    store.add(replace(trajectory, id="a/b#c"))
    (store.directory / "torn.npz").write_bytes(path.read_bytes()[:100])
    assert {one.id for one in store.load()} == {trajectory.id, "a/b#c"}
    assert [one.id for one in store.load(known=["a/b#c"])] == [trajectory.id]
    store.discard(["a/b#c", "unknown"])
    assert len(store.load()) == 1
    with pytest.raises(ResultsError, match="without an id"):
        store.add(replace(trajectory, id=""))
