"""UI-RL's actors on our server with fake desktops: sessions that end, faults that are told, episodes that are not lost."""

from __future__ import annotations

import queue
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future

import pytest

pytest.importorskip("fastapi", reason="the service is an extra")

from tests.desktop.ui_rl_servers import TYPE, PlainServer, UiRlTestServer

from operant.agents.vlm.backends.base import Backend, Weights
from operant.agents.vlm.families import Units
from operant.agents.vlm.prompt import Prompt
from operant.agents.vlm.trajectory import Generation, Trajectory
from operant.envs.retry import RetryPolicy
from operant.errors import AgentError, ConfigError, RemoteDesktopError, UnknownTask, VerifierError
from operant.train.vlm.ui_rl_actors import MultiActorRunner, TaskRunner
from operant.types import Outcome, Size

WAIT, DONE = '{"kind": "wait"}', '{"kind": "done"}'


class Scripted(Backend):
    """Gives these answers in turn; ``pause_s`` before each."""

    units = Units.FRACTIONS

    def __init__(self, *answers: str, pause_s: float = 0.0) -> None:
        super().__init__()
        self.answers = answers
        self.asked = 0
        self.pause_s = pause_s
        self._lock = threading.Lock()

    def submit(
        self, prompt: Prompt, *, seed: int = 0, temperature: float | None = None
    ) -> Future[Generation]:
        with self._lock:
            number, self.asked = self.asked, self.asked + 1
        time.sleep(self.pause_s)
        future: Future[Generation] = Future()
        future.set_result(Generation(self.answers[number % len(self.answers)], (1,), (-1.0,), (0,)))
        return future

    def shown(self, screen: Size) -> Size:
        return Size(64, 40)

    def load(self, weights: Weights) -> None:
        raise NotImplementedError


@pytest.fixture
def server() -> Iterator[UiRlTestServer]:
    with UiRlTestServer(2) as server:
        yield server


def collect(waiting: queue.Queue[Trajectory], count: int) -> list[Trajectory]:
    return [waiting.get(timeout=30) for _ in range(count)]


def test_an_episode(server: UiRlTestServer) -> None:
    waiting: queue.Queue[Trajectory] = queue.Queue()
    runner = TaskRunner(
        ui_env_url=server.url,
        model=Scripted(WAIT, "nonsense", DONE),
        trajectory_queue=waiting,
        task_prompt="Press it",
        session_type=TYPE,
        action_format="json",
    )
    trajectory = runner.run_episode()
    assert len(trajectory) == 3
    assert trajectory.total_reward() == 0.0
    assert trajectory.outcome is Outcome.FAILURE
    assert [turn.valid for turn in trajectory.turns] == [True, False, True]
    assert "Press it" in str(trajectory.turns[0].prompt.messages)
    assert waiting.get_nowait() is trajectory
    other = runner.run_episode()
    assert other.group != trajectory.group  # another instance
    assert server.leased == 0


def test_a_success_is_rewarded_when_the_server_says_so(server: UiRlTestServer) -> None:
    sessions = server.sessions

    class Cheat(Scripted):
        """Presses the right button behind the screen, and then says nothing but wait."""

        def submit(self, prompt: Prompt, **more: object) -> Future[Generation]:  # type: ignore[override]
            (session,) = sessions._sessions.values()
            lines = session.task.parameters["log"]
            session.lease.desktop.files.write("panel.log", "\n".join(lines))
            return super().submit(prompt)

    trajectory = TaskRunner(server.url, Cheat(WAIT), session_type=TYPE).run_episode()
    assert trajectory.success
    assert len(trajectory) == 1  # it ends with success
    assert trajectory.total_reward() == 1.0


def test_mistakes_are_told_before_anything_is_played(server: UiRlTestServer) -> None:
    with pytest.raises(UnknownTask, match="press_buton"):
        TaskRunner(server.url, Scripted(DONE), session_type="press_buton")
    with pytest.raises(ConfigError, match="action_format"):
        TaskRunner(server.url, Scripted(DONE), session_type=TYPE, action_format="jason")
    with pytest.raises(ConfigError, match="prompt"):
        TaskRunner(server.url, Scripted(DONE), task_prompt="", session_type=TYPE)
    with pytest.raises(ConfigError, match="at least 1"):
        MultiActorRunner(0, [server.url], Scripted(DONE), queue.Queue(), session_type=TYPE)
    with pytest.raises(ConfigError, match="list"):
        MultiActorRunner(1, server.url, Scripted(DONE), queue.Queue(), session_type=TYPE)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(RemoteDesktopError, match="can't be reached"):
        TaskRunner(f"http://127.0.0.1:{port}", Scripted(DONE))
    page = (200, "text/html", b"<html>hello</html>")
    with PlainServer(lambda method, path: page) as other, pytest.raises(RemoteDesktopError, match="HTML"):
        MultiActorRunner(2, [other.url], Scripted(DONE), queue.Queue())


def test_an_episode_that_is_lost_raises_why_and_is_no_experience() -> None:
    server = UiRlTestServer()
    waiting: queue.Queue[Trajectory] = queue.Queue()

    class Deadly(Scripted):
        def submit(self, prompt: Prompt, **more: object) -> Future[Generation]:  # type: ignore[override]
            server.stop()
            return super().submit(prompt)

    runner = TaskRunner(server.url, Deadly('{"kind": "key", "keys": ["a"]}'), waiting, session_type=TYPE)
    with pytest.raises(RemoteDesktopError, match=r"lost after 0 steps.*can't be reached"):
        runner.run_episode()
    assert waiting.empty()


def test_a_model_that_never_answers_is_no_experience(
    server: UiRlTestServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken(Scripted):
        def submit(self, prompt: Prompt, **more: object) -> Future[Generation]:  # type: ignore[override]
            raise MemoryError("no room for the model")

    waiting: queue.Queue[Trajectory] = queue.Queue()
    with pytest.raises(AgentError, match="no room for the model"):
        TaskRunner(server.url, Broken(), waiting, session_type=TYPE).run_episode()
    assert waiting.empty()
    monkeypatch.setattr("operant.train.vlm.rollouts.RETRY", RetryPolicy(pause_s=0.01))
    runner = MultiActorRunner(2, [server.url], Broken(), waiting, session_type=TYPE)
    runner.start()
    with pytest.raises(AgentError, match=r"in a row were lost: .* no room for the model"):
        runner.join()
    assert server.leased == 0


def test_an_episode_that_can_not_be_judged_raises_why(server: UiRlTestServer) -> None:
    runner = TaskRunner(
        server.url, Scripted(DONE), session_type=TYPE, judge=lambda progress: progress["stars"] > 3
    )
    with pytest.raises(VerifierError, match="stars"):
        runner.run_episode()
    assert server.leased == 0


def test_several_actors_collect_as_many_as_asked_for(server: UiRlTestServer) -> None:
    waiting: queue.Queue[Trajectory] = queue.Queue()
    runner = MultiActorRunner(
        num_actors=2,
        env_urls=[server.url],
        model=Scripted(WAIT, DONE),
        trajectory_queue=waiting,
        session_type=TYPE,
        episodes=7,
    )
    runner.start()
    runner.join()
    found = collect(waiting, 7)
    assert waiting.empty()
    assert len({trajectory.id for trajectory in found}) == 7
    assert len({trajectory.group for trajectory in found}) == 7
    assert runner.stats.episodes == 7
    assert server.leased == 0


def test_stopping_ends_sessions_even_when_nobody_reads(server: UiRlTestServer) -> None:
    waiting: queue.Queue[Trajectory] = queue.Queue(maxsize=1)
    runner = MultiActorRunner(2, [server.url], Scripted(WAIT, DONE), waiting, session_type=TYPE)
    with runner:
        waiting.get(timeout=30)
        time.sleep(0.2)  # both wait for somebody to read
    assert server.leased == 0
    assert not any(thread.is_alive() for thread in runner._threads)


def test_a_server_that_goes_down_does_not_end_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("operant.train.vlm.rollouts.RETRY", RetryPolicy(pause_s=0.05))
    monkeypatch.setattr("operant.desktop.ui_rl.PATIENCE_S", 0.1)
    first, second = UiRlTestServer(2), UiRlTestServer(2)
    try:
        waiting: queue.Queue[Trajectory] = queue.Queue()
        model = Scripted(WAIT, WAIT, DONE, pause_s=0.01)
        runner = MultiActorRunner(2, [first.url, second.url], model, waiting, session_type=TYPE, episodes=14)
        runner.start()
        collect(waiting, 2)
        first.stop()
        runner.join()
        assert len(collect(waiting, 12)) == 12
        assert second.leased == 0
    finally:
        first.stop()
        second.stop()


def test_when_nothing_works_any_more_join_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("operant.train.vlm.rollouts.RETRY", RetryPolicy(pause_s=0.01))
    monkeypatch.setattr("operant.desktop.ui_rl.PATIENCE_S", 0.1)
    server = UiRlTestServer(2)
    waiting: queue.Queue[Trajectory] = queue.Queue()
    runner = MultiActorRunner(2, [server.url], Scripted(WAIT, DONE, pause_s=0.01), waiting, session_type=TYPE)
    runner.start()
    collect(waiting, 1)
    server.stop()
    with pytest.raises(RemoteDesktopError, match=r"in a row were lost.*can't be reached"):
        runner.join()
