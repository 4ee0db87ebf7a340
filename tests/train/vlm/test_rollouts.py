"""Rollouts on fake desktops: trajectories, rewards, retries, and an orderly end."""

from __future__ import annotations

import queue
import threading
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from operant.agents.vlm.backends.base import Backend, Weights
from operant.agents.vlm.families import Units
from operant.agents.vlm.prompt import Prompt
from operant.agents.vlm.trajectory import Generation, Trajectory
from operant.config.vlm import PromptSettings
from operant.desktop.pool import DesktopPool
from operant.envs.task_source import TaskSource
from operant.errors import DesktopDied, ModelServerError, ResultsError
from operant.rollout.job_runner import JobRunner
from operant.rollout.loop import StopSignal
from operant.rollout.player import PlayedEpisode, PooledDesktops
from operant.testing import FAKE_TEMPLATES, FakeDesktop
from operant.train.vlm.admission import Admission
from operant.train.vlm.groups import Groups
from operant.train.vlm.rollout_queue import RolloutQueue
from operant.train.vlm.rollouts import Rewards, RolloutJob, RolloutPlayer
from operant.train.vlm.trajectory_store import TrajectoryStore, read_trajectory, write_trajectory
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
    """The same task for ever, within a bound on staleness."""

    def __init__(self, player: RolloutPlayer, admission: Admission) -> None:
        self.taken = 0
        self.player = player
        self.admission = admission
        self.found: queue.Queue[Trajectory] = queue.Queue()
        self.dropped: queue.Queue[RolloutJob] = queue.Queue()
        self.given_back: queue.SimpleQueue[RolloutJob] = queue.SimpleQueue()

    def take(self, stop: StopSignal) -> RolloutJob | None:
        if not self.admission.enter(stop):
            return None
        try:
            return self.given_back.get_nowait()
        except queue.Empty:
            self.taken += 1
            return RolloutJob(FAKE_TEMPLATES[0].instance(0), self.taken, "group", self.taken)

    def finish(self, played: PlayedEpisode[RolloutJob]) -> None:
        self.found.put(self.player.trajectory(played))
        self.admission.leave(accepted=True)

    def drop(self, played: PlayedEpisode[RolloutJob]) -> None:
        self.dropped.put(played.job)
        self.admission.leave(accepted=False)

    def give_back(self, job: RolloutJob) -> None:
        self.given_back.put(job)
        self.admission.leave(accepted=False)

    def wake(self) -> None:
        self.admission.wake()


def job() -> RolloutJob:
    return RolloutJob(FAKE_TEMPLATES[0].instance(0), group="one")


def player_on(pool: DesktopPool, backend: Scripted, **options: Any) -> RolloutPlayer:
    return RolloutPlayer(PooledDesktops(pool), backend, prompt=UI_TARS, **options)


@pytest.fixture
def pool():  # type: ignore[no-untyped-def]
    with DesktopPool(2, factory=FakeDesktop.factory) as pool:
        yield pool


def test_an_episode_becomes_a_trajectory_with_rewards(pool: DesktopPool) -> None:
    """The second answer is no action, the third points off the screen, the fourth ends it."""
    backend = Scripted(
        "Action: wait()", "nonsense", "Action: click(start_box='(5000,1)')", "Action: finished()"
    )
    trajectory = player_on(pool, backend, rewards=Rewards(1.0, -0.5)).run_episode(job())
    assert len(trajectory) == 4
    assert trajectory.outcome is Outcome.FAILURE
    assert [turn.valid for turn in trajectory.turns] == [True, False, False, True]
    assert [turn.reward for turn in trajectory.turns] == [0.0, -0.5, -0.5, 0.0]
    assert trajectory.total_reward() == -1.0
    assert trajectory.oldest_version == 7
    assert [len(turn.prompt.images) for turn in trajectory.turns] == [1, 2, 2, 2]


def test_a_success_is_rewarded_at_its_last_turn(pool: DesktopPool) -> None:
    from operant.agents.vlm.demonstrator import Demonstrator

    player = player_on(pool, Scripted(""))
    shown = Demonstrator(UI_TARS, Units.THOUSANDTHS, lambda size: Size(640, 400), lambda text: [1])
    trajectory = player.run_episode(job(), agent=shown)
    assert trajectory.success
    assert [turn.reward for turn in trajectory.turns] == [*[0.0] * (len(trajectory) - 1), 1.0]


def test_actors_stop_at_the_bound_and_lost_episodes_are_played_again(pool: DesktopPool) -> None:
    backend, admission = Scripted("Action: finished()"), Admission(4, 0)
    backend.fail_first = 2
    player = player_on(pool, backend)
    jobs = Endless(player, admission)
    with JobRunner(jobs, player, workers=2) as actors:
        first = [jobs.found.get(timeout=30) for _ in range(4)]
        with pytest.raises(queue.Empty):
            jobs.found.get(timeout=0.2)
        admission.advance(1)
        second = [jobs.found.get(timeout=30) for _ in range(4)]
    assert jobs.taken == 8
    assert len({one.id for one in (*first, *second)}) == 8
    assert actors.stats.infra_errors == 2
    assert actors.failure is None
    assert 0 < actors.stats.utilisation < 1


def test_a_job_that_never_works_is_given_up() -> None:
    class Broken(FakeDesktop):
        def frame(self):  # type: ignore[no-untyped-def]
            raise DesktopDied("gone")

    with DesktopPool(1, factory=lambda config: Broken(config)) as broken:  # type: ignore[arg-type,return-value]
        player = player_on(broken, Scripted("Action: finished()"))
        jobs = Endless(player, Admission(1, 0))
        with JobRunner(jobs, player, workers=1) as actors:
            dropped = jobs.dropped.get(timeout=60)
    assert dropped.group == "group"
    assert len(dropped.failed_tries) == 2
    assert actors.stats.dropped >= 1


def test_a_run_in_one_process_keeps_what_ends_and_replays_what_is_given_back(
    pool: DesktopPool, tmp_path: Path
) -> None:
    """The queue of a run: admission, groups and store behind one object."""
    player, admission = player_on(pool, Scripted("Action: finished()")), Admission(2, 0)
    groups = Groups(TaskSource(FAKE_TEMPLATES[:1]), 2, lambda rollouts: True, admission)
    store = TrajectoryStore(tmp_path)
    rollouts = RolloutQueue(groups, admission, store, player.trajectory)
    stop = threading.Event()
    lost = rollouts.take(stop)
    assert lost is not None
    assert rollouts.take(stop) is not None
    assert admission.room == 0
    rollouts.give_back(lost)
    assert admission.room == 1
    again = rollouts.take(stop)
    assert again is lost
    rollouts.finish(player.play(again))
    assert (admission.accepted, admission.running) == (1, 1)
    assert [one.group for one in store.load()] == [lost.group]
    stop.set()
    assert rollouts.take(stop) is None


def test_trajectories_survive_the_disk_and_torn_files_do_not_stop_anything(
    pool: DesktopPool, tmp_path: Path
) -> None:
    backend = Scripted("Action: wait()", "Action: finished()")
    trajectory = player_on(pool, backend).run_episode(job())
    path = tmp_path / "one.npz"
    write_trajectory(path, trajectory)
    back = read_trajectory(path)
    assert back.id == trajectory.id
    assert [turn.answer for turn in back.turns] == [turn.answer for turn in trajectory.turns]
    for old, new in zip(trajectory.turns, back.turns, strict=True):
        assert new.prompt.messages == old.prompt.messages
        assert all((a == b).all() for a, b in zip(new.prompt.images, old.prompt.images, strict=True))
    assert back.turns[0].prompt.images[0] is back.turns[1].prompt.images[0]  # each picture once
    store = TrajectoryStore(tmp_path / "store")
    store.add(trajectory)
    store.add(replace(trajectory, id="a/b#c"))
    (store.directory / "torn.npz").write_bytes(path.read_bytes()[:100])
    assert {one.id for one in store.load()} == {trajectory.id, "a/b#c"}
    assert [one.id for one in store.load(known=["a/b#c"])] == [trajectory.id]
    store.discard(["a/b#c", "unknown"])
    assert len(store.load()) == 1
    with pytest.raises(ResultsError, match="without an id"):
        store.add(replace(trajectory, id=""))
