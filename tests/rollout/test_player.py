"""One job on one desktop, and many of them at once, on fake desktops."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from operant.agents.base import Agent
from operant.agents.oracle import OracleAgent
from operant.desktop.pool import DesktopPool
from operant.envs.retry import RetryPolicy
from operant.errors import DesktopDied, PoolExhausted, ResultsError
from operant.rollout.job_runner import JobList, JobRunner
from operant.rollout.loop import Stopped
from operant.rollout.player import EpisodePlayer, Job, PlayedEpisode, PooledDesktops
from operant.testing import FAKE_TEMPLATES, FakeDesktop
from operant.types import Action, Observation, Outcome


class Mortal(FakeDesktop):
    """Dies under the first ``lives`` actions of all desktops together."""

    deaths = 0

    def perform(self, action: Action) -> Any:
        if Mortal.deaths:
            Mortal.deaths -= 1
            self.break_with(DesktopDied("killed"))
        return super().perform(action)


@pytest.fixture
def pool() -> Iterator[DesktopPool]:
    Mortal.deaths = 0
    with DesktopPool(3, factory=lambda config: Mortal(config)) as pool:  # type: ignore[arg-type,return-value]
        yield pool


def jobs(count: int) -> list[Job]:
    return [Job(FAKE_TEMPLATES[index % len(FAKE_TEMPLATES)].instance(index)) for index in range(count)]


@pytest.mark.parametrize(("workers", "prefetch"), [(1, 0), (2, 0), (1, 2), (2, 1)])
def test_every_job_is_played_once_and_reported_once(pool: DesktopPool, workers: int, prefetch: int) -> None:
    ended: list[PlayedEpisode[Job]] = []
    wanted = jobs(8)
    player = EpisodePlayer(PooledDesktops[Job](pool), lambda job: OracleAgent())
    runner = JobRunner(JobList(wanted, ended.append), player, workers=workers, prefetch=prefetch)
    runner.run()
    assert {id(one.job) for one in ended} == {id(job) for job in wanted}
    assert len(ended) == 8
    assert all(one.result.success for one in ended)
    assert (runner.stats.episodes, runner.stats.successes, runner.stats.infra_errors) == (8, 8, 0)
    assert pool.status().leased == 0


def test_what_the_machine_spoils_is_played_again_after_the_others(pool: DesktopPool) -> None:
    Mortal.deaths = 1
    ended: list[PlayedEpisode[Job]] = []
    wanted = jobs(3)
    player = EpisodePlayer(PooledDesktops[Job](pool), lambda job: OracleAgent())
    runner = JobRunner(JobList(wanted, ended.append), player, workers=1, prefetch=1)
    runner.run()
    assert [one.job for one in ended] == [wanted[1], wanted[2], wanted[0]]
    assert all(one.result.success for one in ended)
    assert [failed.outcome for failed in wanted[0].failed_tries] == [Outcome.INFRA_ERROR]
    assert runner.stats.infra_errors == 1
    assert runner.stats.dropped == 0


def test_a_job_that_never_works_is_dropped_after_its_tries(pool: DesktopPool) -> None:
    Mortal.deaths = 1000
    ended: list[PlayedEpisode[Job]] = []
    (job,) = jobs(1)
    player = EpisodePlayer(PooledDesktops[Job](pool), lambda job: OracleAgent(), retry=RetryPolicy(tries=2))
    runner = JobRunner(JobList([job], ended.append), player, workers=1)
    runner.run()
    assert [one.result.outcome for one in ended] == [Outcome.INFRA_ERROR]
    assert len(job.failed_tries) == 1
    assert (runner.stats.episodes, runner.stats.dropped) == (2, 1)


def test_no_desktop_is_a_lost_try_with_its_error() -> None:
    with DesktopPool(1, factory=FakeDesktop.factory) as pool, pool.lease():
        (job,) = jobs(1)
        player = EpisodePlayer(
            PooledDesktops[Job](pool, lease_s=0.05),
            lambda job: OracleAgent(),
            retry=RetryPolicy(tries=2, pause_s=0.01),
        )
        played = player.play_through(job)
    assert isinstance(played.error, PoolExhausted)
    assert played.result.outcome is Outcome.INFRA_ERROR
    assert "PoolExhausted" in played.result.why
    assert len(job.failed_tries) == 1


def test_a_runner_leaves_the_callers_stop_alone(pool: DesktopPool) -> None:
    stop = threading.Event()
    ended: list[PlayedEpisode[Job]] = []
    player = EpisodePlayer(PooledDesktops[Job](pool), lambda job: OracleAgent())
    JobRunner(JobList(jobs(2), ended.append), player, workers=1, stop=stop).run()
    assert len(ended) == 2
    assert not stop.is_set()
    stop.set()
    JobRunner(JobList(jobs(1), ended.append), player, workers=1, stop=stop).run()
    assert len(ended) == 2


def test_a_stop_abandons_the_episode_and_gives_its_job_and_its_desktop_back(pool: DesktopPool) -> None:
    stop, ended, closed = threading.Event(), [], []

    class Stops(OracleAgent):
        def act(self, observation: Observation) -> Any:
            stop.set()
            return super().act(observation)

        def close(self) -> None:
            closed.append(self)
            super().close()

    waiting = JobList(jobs(3), ended.append)
    player = EpisodePlayer(PooledDesktops[Job](pool), lambda job: Stops())
    JobRunner(waiting, player, workers=1, prefetch=1, stop=stop).run()
    assert not ended
    assert len(closed) == 1
    left = []
    while (job := waiting.take(threading.Event())) is not None:
        left.append(job)
    assert len(left) == 3
    pool.wait_ready(3, timeout_s=10)
    (job,) = jobs(1)
    with pytest.raises(Stopped):
        player.play(job, stop)


def test_agents_are_kept_in_their_thread_and_closed_at_its_end(pool: DesktopPool) -> None:
    made, closed = [], []

    class Counted(OracleAgent):
        def __init__(self) -> None:
            super().__init__()
            made.append(threading.current_thread().name)

        def close(self) -> None:
            closed.append(threading.current_thread().name)

    def make(job: Job) -> Agent:
        return Counted()

    player = EpisodePlayer(PooledDesktops[Job](pool), make, keep_agents=True)
    JobRunner(JobList(jobs(6), lambda played: None), player, workers=2, name="kept").run()
    assert set(made) <= {"operant-kept-0", "operant-kept-1"}
    assert sorted(made) == sorted(closed)


def test_an_error_of_the_report_stops_everything_and_is_raised(pool: DesktopPool) -> None:
    def full(played: PlayedEpisode[Job]) -> None:
        raise ResultsError("the disk is full")

    player = EpisodePlayer(PooledDesktops[Job](pool), lambda job: OracleAgent())
    runner = JobRunner(JobList(jobs(6), full), player, workers=2)
    with pytest.raises(ResultsError, match="disk is full"):
        runner.run()
    assert not any(thread.is_alive() for thread in runner._threads)
